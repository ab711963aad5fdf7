"""Settings from the environment; the only reader of ``GROUTE_PY_*`` variables."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

from groute_py.errors import InputError

T = TypeVar("T")

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12} | {
    f"{name}i": 1 << 10 * power for power, name in enumerate("KMGT", 1)
}
"""Units that may stand behind the number of a size."""

SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(|[KMGT]i?)B?", re.ASCII)


def nbytes_of(text: str) -> int | None:
    """Return the bytes of a size, or None.

    >>> nbytes_of("1.5G"), nbytes_of("512Mi"), nbytes_of("much")
    (1500000000, 536870912, None)
    """
    match = SIZE.fullmatch(text)
    if not match:
        return None
    size = float(match[1]) * UNITS[match[2]]
    return int(size) if size != float("inf") else None


LEAST_SILENCE_S = 2.0


@dataclass(frozen=True)
class Settings:
    """Settings from the environment.

    Attributes:
        cache_folder: where converted and downloaded graphs are kept
            (``GROUTE_PY_CACHE``, else ``$XDG_CACHE_HOME/groute-py``).
        cache_is_own: that folder is the user's own, as ``GROUTE_PY_CACHE`` names none.
        datasets_url: where graphs by name are downloaded from (``GROUTE_PY_DATASETS``), instead of
            their own sites.
        gpu_aware_mpi: True or False where ``GROUTE_PY_GPU_AWARE_MPI`` says so, None to detect.
        device: where the drop-ins solve, whose functions have no argument for it
            (``GROUTE_PY_DEVICE``, else ``auto``).
        silence_s: how long a rank may give no sign of life before the job is ended
            (``GROUTE_PY_SILENCE_S``, 2 or more, else 20; 0 for no watch).
        cache_limit: bytes that the copies in a cache folder may take together
            (``GROUTE_PY_CACHE_LIMIT``, such as 20G); None for any number.
        hosts: of how many hosts this one plays the part (``GROUTE_PY_HOSTS``): rank r of n is
            taken to be on the (r · hosts // n)-th; None to take it for what it is.
    """

    cache_folder: Path
    cache_is_own: bool
    datasets_url: str | None
    gpu_aware_mpi: bool | None
    device: str
    silence_s: float
    cache_limit: int | None
    hosts: int | None


def kernel_macros() -> dict[str, int]:
    """Read macros of the kernels (``GROUTE_PY_KERNEL_MACROS=NAME=N,…``) each time, for tests."""
    words = os.environ.get("GROUTE_PY_KERNEL_MACROS", "")
    try:
        pairs = [word.split("=") for word in words.split(",") if word]
        return {name: int(value) for name, value in pairs}
    except ValueError:
        raise InputError(
            f"GROUTE_PY_KERNEL_MACROS={words}: expected names and numbers, such as LOCAL_ENTRIES=0"
        ) from None


def cupy_cache() -> str:
    """Return CuPy's folder of compiled kernels; a folder that is named it takes as it is."""
    if (named := os.environ.get("CUPY_CACHE_DIR")) is not None:
        return named
    return str(_home() / ".cupy/kernel_cache")


def set_cupy_cache(folder: str) -> None:
    """Let it be this one, if CuPy is not imported yet."""
    os.environ["CUPY_CACHE_DIR"] = folder


@cache
def settings() -> Settings:
    """Read the environment once."""
    silence_s = _read("GROUTE_PY_SILENCE_S", _seconds, f"0, or seconds from {LEAST_SILENCE_S:g}")
    return Settings(
        cache_folder=_cache_folder(),
        cache_is_own=not os.environ.get("GROUTE_PY_CACHE"),
        datasets_url=_read("GROUTE_PY_DATASETS", _url, "a URL, such as https://example.org/graphs"),
        gpu_aware_mpi=_read("GROUTE_PY_GPU_AWARE_MPI", {"0": False, "1": True}.get, "0 or 1"),
        device=os.environ.get("GROUTE_PY_DEVICE") or "auto",
        silence_s=20.0 if silence_s is None else silence_s,
        cache_limit=_read("GROUTE_PY_CACHE_LIMIT", nbytes_of, "a size, such as 20G or 512Mi"),
        hosts=_read("GROUTE_PY_HOSTS", _count, "a number from 1"),
    )


def _cache_folder() -> Path:
    if own := os.environ.get("GROUTE_PY_CACHE"):
        with suppress(RuntimeError):  # no such user
            return Path(own).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else _home() / ".cache") / "groute-py"


def _home() -> Path:
    """The user's home; where there is none, as in some containers, nothing can be kept."""
    with suppress(RuntimeError):
        if (home := Path("~").expanduser()) != Path("/"):
            return home
    return Path(os.devnull)


def _read(name: str, parse: Callable[[str], T | None], expected: str) -> T | None:
    if not (text := os.environ.get(name)):
        return None
    if (value := parse(text)) is None:
        raise InputError(f"{name}={text}: expected {expected}")
    return value


def _url(text: str) -> str | None:
    kinds = ("http://", "https://", "ftp://", "file:///")
    return text if text.lower().startswith(kinds) else None


def _count(text: str) -> int | None:
    is_count = text.isascii() and text.isdecimal() and len(text) < 10
    return int(text) or None if is_count else None


def _seconds(text: str) -> float | None:
    """Return 0, or seconds from `LEAST_SILENCE_S`."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if seconds == 0 or LEAST_SILENCE_S <= seconds < float("inf") else None
