"""Kernels that the build has compiled: found for their sources and types, else left to Numba."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import typeof
from numba.core.errors import NumbaError

from groute_py.kernels.cpu import ahead, kernel
from groute_py.kernels.cpu.kernel import Kernel


def doubled(values: Any) -> Any:
    return 2 * values[0]


def spread(pair: Any, count: Any, is_wide: Any) -> Any:
    rows = np.empty((count, 2), np.int64)
    for row in range(count):
        rows[row, 0], rows[row, 1] = pair.first[row], pair.second if is_wide else 0.0
    return rows, count // len(pair.first)


class Pair(NamedTuple):
    first: Any
    second: Any


class Other(NamedTuple):
    first: Any
    second: Any


PAIR = Pair(np.arange(3, dtype=np.int32), 2.5)


class Own:
    """Numba's cache, which has nothing: what comes from a file cannot be saved again."""

    def load_overload(self, types: Any, target_context: Any) -> None:
        """Nothing."""

    def save_overload(self, types: Any, result: Any) -> None:
        """Nowhere."""


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file of a build that has compiled `doubled` for int64, and `spread`."""
    monkeypatch.setattr(kernel, "KERNELS", [])
    made = [Kernel(doubled), Kernel(spread)]
    for each in made:
        each.dispatcher._cache = Own()
    assert made[0](np.array([21])) == 42
    made[1](PAIR, 2, True)
    monkeypatch.setattr(ahead, "FOLDER", tmp_path)
    ahead._saved.cache_clear()
    yield ahead.save(made, tmp_path)
    ahead._saved.cache_clear()


def again(function: Any, *values: Any) -> tuple[Any, bool]:
    """Return the result of the kernel in a new process, and whether it needs no Numba."""
    new = Kernel(function)
    return new(*values), not new.signatures


def test_what_was_compiled_is_found(saved: Path) -> None:
    assert ahead.count() == 2
    assert again(doubled, np.array([4])) == (8, True)
    assert again(doubled, np.array([4.5])) == (9.0, False)
    assert again(doubled, np.array([4, 5, 6])[::2]) == (8, False)


def test_the_metadata_of_another_numba_may_lie_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "numba-0.68.1.dist-info").mkdir()
    monkeypatch.setattr(ahead, "_numba", lambda: tmp_path / "numba")
    name = ahead._file_name()
    assert "-numba-0.68.1." in name
    (tmp_path / "numba-0.60.0.dist-info").mkdir()
    assert ahead._file_name() != name


def test_what_it_makes_is_the_callers(saved: Path) -> None:
    (rows, count), without_numba = again(spread, PAIR, 3, True)
    assert without_numba
    assert (rows.tolist(), count) == ([[0, 2], [1, 2], [2, 2]], 1)
    kernel = Kernel(spread)
    for number in range(2000):  # memory that is freed too early would be taken again
        later, _ = kernel(Pair(np.full(3, number, np.int32), 0.0), 3, False)
        assert later[2, 0] == number
    assert rows.tolist() == [[0, 2], [1, 2], [2, 2]]
    assert sys.getrefcount(later) == 2


def test_its_errors_are_the_kernels(saved: Path) -> None:
    none = Pair(np.zeros(0, np.int32), 0.0)
    with pytest.raises(ZeroDivisionError):
        again(spread, none, 0, True)


def readonly(array: Any) -> Any:
    array.flags.writeable = False
    return array


ROWS = np.zeros((3, 4), np.int32)
UNALIGNED = np.zeros(9, np.uint8)[1:].view(np.int32)
VALUES = [
    *(0, -1, 2**63 - 1, 2**63, True, 0.5, None, "it", doubled),
    *(np.int32(1), np.int64(1), np.uint64(1), np.float32(1), np.float64(1), np.bool_(1)),
    *(ROWS, ROWS.T, ROWS[:, :2], ROWS[0], ROWS[:, 0], ROWS[:0], readonly(ROWS.copy())),
    *(UNALIGNED, ROWS.astype(">i4"), np.zeros(3, "i4,f4"), np.zeros(2, bool), np.zeros(2, "u2")),
    *(np.zeros(2, complex), np.zeros(2, "M8[s]"), np.array(3)),
    *((), (1, 2), (1, 2.0), ((1,), 2.0), (ROWS, None), Pair(1, 2), Other(1, 2), Pair(1, ROWS)),
]


def numbas(value: Any) -> Any:
    try:
        return typeof(value)
    except (ValueError, NumbaError):
        return None


def test_arguments_are_told_apart_as_by_numba() -> None:
    for one, other in product(VALUES, VALUES):
        kinds = ahead.kinds_of((one,))
        if ahead.OTHER not in repr(kinds) and kinds == ahead.kinds_of((other,)):
            assert str(numbas(one)) == str(numbas(other)), (one, other)
    count = 0
    for value in VALUES:
        (kind,), of = ahead.kinds_of((value,)), numbas(value)
        of_type = ahead._kind_of_type(of) if of else ahead.OTHER
        assert kind == of_type or ahead.OTHER in repr((kind, of_type)), value
        count += ahead.OTHER not in repr((kind, of_type))
    assert count > 25


SCRIPT = """
import sys
from pathlib import Path
import numpy as np
from groute_py.kernels.cpu import ahead
from groute_py.kernels.cpu.kernel import Kernel

def running(values):
    sums = np.zeros(len(values) + 1, values.dtype)
    for place in range(len(values)):
        sums[place + 1] = sums[place] + values[place]
    return sums

ahead.FOLDER = Path(sys.argv[1])
kernel = Kernel(running)
assert kernel(np.arange(4)).tolist() == [0, 0, 1, 3, 6]
if not list(ahead.FOLDER.iterdir()):
    ahead.save([kernel], ahead.FOLDER)
else:
    assert "numba" not in sys.modules
    assert kernel(np.arange(4.0)).tolist() == [0.0, 0.0, 1.0, 3.0, 6.0]
    assert "numba" in sys.modules
    assert kernel(np.arange(4)).tolist() == [0, 0, 1, 3, 6]
    assert Kernel(running)(np.arange(3)).tolist() == [0, 0, 1, 3]
"""


def test_numba_is_loaded_later_if_at_all(tmp_path: Path) -> None:
    """The first process is the build, the second uses what it made, with Numba and without."""
    (tmp_path / "forms").mkdir()
    (tmp_path / "both.py").write_text(SCRIPT)
    command = [sys.executable, tmp_path / "both.py", tmp_path / "forms"]
    for _ in ("build", "use"):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("what", ["sources", "processor", "version", "cut", "damaged", "empty"])
def test_what_does_not_fit_is_left(what: str, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if what == "sources":
        monkeypatch.setattr(ahead, "_digest", lambda content: b"others")
    elif what == "processor":
        monkeypatch.setattr(ahead, "_suits", lambda: False)
    elif what == "version":
        saved.rename(saved.with_name("linux-x86_64-numba-0.1.kernels"))
    else:
        file = saved.read_bytes()
        at = len(file) // 2
        changed = {"cut": file[:at], "empty": b""}
        damaged = file[:at] + bytes([file[at] ^ 1]) + file[at + 1 :]
        saved.write_bytes(changed.get(what, damaged))
    assert again(doubled, np.array([4])) == (8, False)
