"""Another program beside ours: its seconds, if its answer is ours."""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.attempts import Record
from benchmarks.cases import SkippedError
from benchmarks.program import timed
from groute_py import UNREACHED, VerificationError
from groute_py.comm.base import SoloChannel

ENOUGH_S = 2.0
"""Seconds of a first run beyond which a program is not run again."""


class Peer(NamedTuple):
    """A program, ready to be timed.

    Attributes:
        run: the job itself.
        answer: of what that returned: float64, infinite where unreached; None for values that
            cannot be compared.
        part: the rows of our answer that it has, None for all.
        rounding: the greatest relative error of its distances.
    """

    run: Callable[[], Any]
    answer: Callable[[Any], NDArray[Any] | None]
    part: int | None = None
    rounding: float = 1e-9


def peer_record(
    case: str,
    name: str,
    make: Callable[[], Peer],
    ours: NDArray[Any],
    repeat: int,
    cores: int = 1,
) -> Record:
    """Return the seconds of another program whose answer is ours, or why it was skipped.

    Raises:
        VerificationError: its answer differs.
    """
    try:
        peer = make()
    except ImportError:
        return {"skipped": "not installed"}
    except SkippedError as reason:
        return {"skipped": str(reason)}
    with warnings.catch_warnings(action="ignore"):  # pandana's, of unreached targets
        first_s, result = seconds_of(peer.run)
        theirs = peer.answer(result)
        del result
        if theirs is not None:
            check_same(case, name, ours[: peer.part], theirs, peer.rounding)
        walls = [first_s] if first_s > ENOUGH_S else timed(SoloChannel(), peer.run, repeat)[0]
    record: Record = {"median_s": statistics.median(walls), "seconds": walls}
    record |= {"cores": cores, "compared": theirs is not None}
    if peer.part is not None and peer.part < len(ours):
        record["part"] = peer.part
    return record


def check_same(case: str, program: str, ours: Any, theirs: Any, rounding: float = 1e-9) -> None:
    """Raise `VerificationError` if answers differ by more than rounding."""
    if np.shape(ours) != np.shape(theirs) or not np.allclose(ours, theirs, rounding, atol=0):
        raise VerificationError(f"{case}: the answer differs from that of {program}")


def comparable(distances: Any) -> NDArray[np.float64]:
    """Return distances as other programs have them."""
    values = np.asarray(distances)
    return np.where(values == UNREACHED, np.inf, values).astype(np.float64)


def seconds_of(run: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds of a call, and what it returned."""
    begun = time.perf_counter()
    result = run()
    return time.perf_counter() - begun, result


def shown_peers(record: Record, count: int) -> list[str]:
    """Return the times of other programs, of which some had a part of so many rows."""
    parts = []
    for name, peer in record["peers"].items():
        if "skipped" in peer:
            parts.append(f"{name}: {peer['skipped']}")
        else:
            some = f" for {peer['part']} of {count:,}" if "part" in peer else ""
            parts.append(f"{name} {1e3 * peer['median_s']:.1f} ms{some}")
    return parts
