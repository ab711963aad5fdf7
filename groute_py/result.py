"""The answer: distances, predecessors, paths, statistics; and how it is kept in a file."""

from __future__ import annotations

import csv
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError
from groute_py.graph.atomic import replacing

if TYPE_CHECKING:
    from pandas import DataFrame

UNREACHED = np.iinfo(np.int64).max
"""The integer distance of a vertex that no path reaches; float distances use infinity."""


def public_distances(distances: NDArray[Any]) -> NDArray[Any]:
    """Distances as users get them: int64 with `UNREACHED`, or float with infinity."""
    if distances.dtype != np.int32:
        return distances
    wide = distances.astype(np.int64)
    wide[distances == np.iinfo(np.int32).max] = UNREACHED
    return wide


@dataclass(frozen=True, eq=False)
class Result:
    """Shortest paths from one source.

    Attributes:
        source: the source's index, from 0.
        distances: shape (n,), int64 (`UNREACHED` where no path leads) or float (infinity there).
        predecessors: int64, shape (n,), the vertex before each on a shortest path, −1 for the
            source and where no path leads; None if they were not asked for.
        statistics: what the solve cost; see `groute_py.engine.statistics.Statistics`.
        first_id: the id that the graph's file gives to vertex 0.
    """

    source: int
    distances: NDArray[Any]
    predecessors: NDArray[np.int64] | None = None
    statistics: dict[str, Any] = field(default_factory=dict)
    first_id: int = 0

    @property
    def reached(self) -> NDArray[np.bool_]:
        """bool, shape (n,): which vertices a path leads to."""
        if self.distances.dtype.kind == "f":
            return np.asarray(np.isfinite(self.distances))
        return np.asarray(self.distances != UNREACHED)

    def path_to(self, vertex: int) -> list[int]:
        """The vertices of a shortest path from the source to ``vertex``, both included.

        Empty where no path leads.

        Raises:
            InputError: ``vertex`` is out of range, or predecessors were not asked for.
        """
        if not 0 <= vertex < len(self.distances):
            raise InputError(f"vertex {vertex} is out of range 0..{len(self.distances) - 1}")
        if self.predecessors is None:
            raise InputError("no paths without predecessors; solve with predecessors=True")
        if not self.reached[vertex]:
            return []
        path = [vertex]
        while path[-1] != self.source:
            path.append(int(self.predecessors[path[-1]]))
        return path[::-1]

    def to_frame(self, coordinates: str | Path | None = None) -> DataFrame:
        """The answer as a pandas DataFrame with a row for each vertex.

        Its index ``vertex`` has the graph file's ids. Its columns are ``distance`` (Int64, missing
        where no path leads, or a float, infinite there), ``predecessor`` (Int64, an id, or missing)
        if there are predecessors, and ``x`` and ``y`` where coordinates are given.

        Args:
            coordinates: a DIMACS ``.co`` file of the same graph, plain or ``.gz``.

        Raises:
            InputError: pandas is missing, or the coordinates are not this graph's.
        """
        from groute_py.frame import frame_of

        return frame_of(self, coordinates)

    def save(self, path: str | Path) -> None:
        """Write the answer; the suffix chooses the form, and the file is complete or absent.

        ``.npz`` holds ``distances``, ``predecessors`` (if any) and ``source``; ``.npy`` the
        distances; ``.csv`` a table ``vertex,distance,predecessor`` and ``.txt`` lines
        ``vertex distance`` in the graph file's ids, with ``inf`` where no path leads.

        Raises:
            InputError: unknown suffix, or the file cannot be written.
        """
        target = Path(path)
        writer = _writer(target)
        try:
            with replacing(target) as file:
                writer(self, file)
        except OSError as problem:
            raise InputError(f"{target}: cannot be written ({problem.strerror})") from problem


def check_output(path: str | Path) -> None:
    """Raise `InputError` now if a result could not be saved at ``path`` later."""
    target = Path(path)
    _writer(target)
    folder = target.absolute().parent
    if target.is_dir():
        raise InputError(f"{target}: is a directory; name a file in it")
    if not folder.is_dir():
        raise InputError(f"{target}: the folder {folder} does not exist; create it first")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as problem:
        raise InputError(f"{target}: cannot be written ({problem.strerror})") from problem


def load(path: str | Path) -> Result:
    """Read back what `Result.save` wrote as ``.npz`` or ``.npy``.

    Raises:
        InputError: the file cannot be read as a result.
    """
    try:
        with open(path, "rb") as file:
            content = np.load(file, allow_pickle=False)
            if isinstance(content, np.ndarray):
                raise InputError(f"{path}: an .npy file has no source; save the result as .npz")
            with content:
                found = {name: content[name] for name in content.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as problem:
        raise InputError(f"{path}: not a saved result ({problem})") from problem
    missing = {"distances", "source"} - found.keys()
    if missing:
        raise InputError(f"{path}: not a saved result; it lacks {', '.join(sorted(missing))}")
    return _checked(path, found)


def _checked(path: str | Path, found: dict[str, NDArray[Any]]) -> Result:
    distances, source, parents = found["distances"], found["source"], found.get("predecessors")
    shapes = distances.ndim == 1 and source.ndim == 0
    kinds = distances.dtype in _DISTANCES and source.dtype.kind in "iu"
    tree = parents is None or (parents.ndim == 1 and parents.dtype.kind in "iu")
    if not (shapes and kinds and tree):
        raise InputError(f"{path}: not a saved result; its arrays have other shapes or types")
    return Result(int(source), distances, parents)


def _write_npz(result: Result, file: IO[bytes]) -> None:
    arrays = {"distances": result.distances, "source": np.int64(result.source)}
    if result.predecessors is not None:
        arrays["predecessors"] = result.predecessors
    np.savez(file, **arrays)  # type: ignore[arg-type]


def _write_npy(result: Result, file: IO[bytes]) -> None:
    np.save(file, result.distances)


def _write_csv(result: Result, file: IO[bytes]) -> None:
    rows = (row if row[1] is not None else (row[0], "inf", "") for row in _rows(result))
    _write_rows(file, [("vertex", "distance", "predecessor"), *rows], ",")


def _write_txt(result: Result, file: IO[bytes]) -> None:
    rows = ((row[0], "inf" if row[1] is None else row[1]) for row in _rows(result))
    _write_rows(file, list(rows), " ")


def _rows(result: Result) -> list[tuple[Any, Any, Any]]:
    """(id, distance or None, predecessor's id or empty) in vertex order."""
    first = result.first_id
    ids = range(first, first + len(result.distances))
    found = zip(result.distances.tolist(), result.reached.tolist(), strict=True)
    distances = [distance if reached else None for distance, reached in found]
    if result.predecessors is None:
        parents: list[Any] = [""] * len(distances)
    else:
        parents = [parent + first if parent >= 0 else "" for parent in result.predecessors.tolist()]
    return list(zip(ids, distances, parents, strict=True))


def _write_rows(file: IO[bytes], rows: list[Any], separator: str) -> None:
    import io

    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows(rows)
    text.flush()
    text.detach()


_DISTANCES = (np.dtype(np.int64), np.dtype(np.float32), np.dtype(np.float64))
"""The types of distances in a saved result."""

_WRITERS: dict[str, Callable[[Result, IO[bytes]], None]] = {
    ".npz": _write_npz,
    ".npy": _write_npy,
    ".csv": _write_csv,
    ".txt": _write_txt,
}


def _writer(path: Path) -> Callable[[Result, IO[bytes]], None]:
    if path.suffix not in _WRITERS:
        known = ", ".join(_WRITERS)
        raise InputError(f"{path}: unknown suffix {path.suffix!r}; a result is saved as {known}")
    return _WRITERS[path.suffix]
