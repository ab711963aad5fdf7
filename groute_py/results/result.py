"""The answer: distances, predecessors, paths and statistics; reading and writing it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GrouteError, InputError, VerificationError, file_path, quoted
from groute_py.graph.geography import Units
from groute_py.graph.ids import Numbering, Positions, check_given_ids
from groute_py.graph.turns.expanded import Layout
from groute_py.io.compression import refuse_pipes
from groute_py.io.coordinates import read_coordinates
from groute_py.io.npz import DAMAGE, read_arrays
from groute_py.io.untrusted import first_id as checked_first_id
from groute_py.results.distances import reached_in
from groute_py.results.files import columns_of, form_of
from groute_py.results.tables import CARRIED
from groute_py.results.tabular import Tabular
from groute_py.system.atomic_file import check_writable, replacing, translating_errors

if TYPE_CHECKING:
    from groute_py.results.tables import TableColumns


@dataclass(frozen=True, eq=False)
class Result(Tabular):
    """Shortest paths from one source.

    Attributes:
        source: the position of the source in ``distances``.
        distances: shape (n,), in units of weight: int64 (`UNREACHED` if no path leads to the
            vertex), or float32 or float64 (infinity).
        predecessors: int64, shape (n,), the position before each on a shortest path; −1 for the
            source and for unreached vertices. None if they were not asked for.
        statistics: what the solve cost; see `groute_py.engine.statistics.Statistics`.
        first_id: the id of vertex 0 in the graph's file.
        ids: int64 or str, shape (n,): the file's ids of the vertices, if they do not count from
            `first_id`; else None.
        reverse: the distances are those to the source (``reverse=True``), and each predecessor is
            the vertex that comes next on the way there.
        coordinates: float64, shape (n, 2): x and y of each vertex, or longitude and latitude, if
            the graph has them; else None.
        attribution: the credit to show with the answer, "" for none.
        units: of the distances by "", and of columns by their names, where they are known.
        carried: by the name of a column its sum along each path (``carry=``), of the shape of
            ``distances``: int64 or float64, as there where no path leads.
    """

    source: int
    distances: NDArray[Any]
    predecessors: NDArray[np.int64] | None = None
    statistics: dict[str, Any] = field(default_factory=dict)
    first_id: int = 0
    ids: NDArray[Any] | None = None
    reverse: bool = False
    coordinates: NDArray[np.float64] | None = None
    attribution: str = ""
    units: Units = field(default_factory=dict)
    carried: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @cached_property
    def numbering(self) -> Numbering:
        """The mapping between positions and the graph's own ids."""
        return Numbering(len(self.distances), self.first_id, self.ids)

    @property
    def distances_device(self) -> Any:
        """The distances as a CuPy array, shape (n,), if they are on the GPU (``download=False``).

        Raises:
            InputError: they are in host memory.
        """
        raise InputError("the answer is in host memory; solve with download=False on a GPU")

    @property
    def predecessors_device(self) -> Any:
        """The predecessors as a CuPy array, int64, shape (n,); None if they were not asked for.

        Raises:
            InputError: they are in host memory.
        """
        return self.distances_device

    @property
    def reached(self) -> NDArray[np.bool_]:
        """bool, shape (n,): True for the vertices that a path from the source leads to."""
        return reached_in(self.distances)

    def distance_to(self, vertex: int | str | Positions) -> Any:
        """The distance of a vertex by its id, a number; None if no path leads to it."""
        place = self.numbering.index_of(vertex)
        return self.distances[place].item() if self.reached[place] else None

    def path_to(self, vertex: int | str | Positions) -> list[Any]:
        """The ids of the vertices of a shortest path from the source to ``vertex``, both included.

        With `reverse` it is one from ``vertex`` to the source. Empty if no path leads to it.

        Args:
            vertex: its id, or `groute_py.Positions` of it.

        Raises:
            InputError: ``vertex`` is not a vertex, or predecessors were not asked for.
            VerificationError: they do not lead to the source, as in a damaged file.
        """
        path = self.positions_to(vertex)
        ids: list[Any] = self.numbering.ids_of(np.array(path, np.int64)).tolist()
        return ids

    def positions_to(self, vertex: int | str | Positions) -> list[int]:
        """The path of `path_to` as positions in ``distances``."""
        vertex = self.numbering.index_of(vertex)
        if self.predecessors is None:
            raise InputError("no paths without predecessors; solve with predecessors=True")
        if not self.reached[vertex]:
            return []
        path = [vertex]
        while path[-1] != self.source:
            before = int(self.predecessors[path[-1]])
            if before < 0 or len(path) == len(self.distances):
                end, source = (self.numbering.id_of(v) for v in (vertex, self.source))
                raise VerificationError(
                    f"the predecessors of vertex {end} do not lead to source {source}: they are "
                    "damaged, or of another graph"
                )
            path.append(before)
        return path if self.reverse else path[::-1]

    def part(self, some: slice) -> TableColumns:
        """See `Tabular.part`; a line for each vertex."""
        return columns_of(self, some)

    def to_frame(self, coordinates: str | Path | None = None, *, library: str | None = None) -> Any:
        """The answer as a table with a row for each vertex.

        Its columns are ``vertex`` (of pandas the index), ``distance`` (missing where no path leads,
        but infinite as a float of pandas), ``predecessor`` (an id, or missing) if there are
        predecessors, and ``x`` and ``y`` where the graph has coordinates or they are given. The
        credit stands in ``attrs["attribution"]`` of pandas, and in the metadata of Arrow.

        Args:
            coordinates: a DIMACS ``.co`` file of the same graph, plain or ``.gz``; None for the
                coordinates that the graph has.
            library: ``pandas``, ``polars``, ``pyarrow``, ``modin`` or ``cudf``; None for that of
                the table that the graph came in, else the first of the first three that the
                program has imported, else pandas.

        Raises:
            InputError: the coordinates are not this graph's.
            SetupError: the library is not installed.
        """
        answer = self
        if coordinates is not None:
            places = read_coordinates(coordinates, len(self.distances)).astype(np.float64)
            answer = replace(self, coordinates=places)
        return self._table(answer.lines(slice(None)), library, index="vertex")

    def save(self, path: str | Path, form: str | None = None) -> None:
        """Write the answer; the file is complete or absent.

        Args:
            path: the file.
            form: a name in `groute_py.results.files.FORMS`; by default the suffix chooses. ``npz``
                holds everything; ``npy`` the distances; ``csv``, ``parquet``, ``txt`` and ``sol``
                are tables in the graph file's ids.

        Raises:
            InputError: unknown suffix, or no file can be written there.
            RunError: the disk is full, or fails.
            SetupError: the form needs a library that is not installed.
        """
        target = file_path("path", path)
        write = form_of(target, form)
        with translating_errors(target), replacing(target) as file:
            write(self, file)


def check_output(path: str | Path, form: str | None = None) -> None:
    """Raise `InputError` now if a result could not be saved at ``path`` later."""
    form_of(Path(path), form)
    check_writable(Path(path))


def read_result(path: str | Path) -> Result:
    """Read back what `Result.save` wrote as ``.npz``, or raise `InputError`.

    Of the statistics only ``bound`` is saved, if targets ended the solve early.
    """
    path = file_path("path", path)
    refuse_pipes(path)
    try:
        with open(path, "rb") as file:
            start = file.read(len(NPY))
        if start == NPY:
            raise InputError(
                f"{path}: not a saved result: an .npy file has no source; save as .npz"
            )
        if not start.startswith(ZIP):
            raise InputError(f"{path}: not a saved result; those begin as .npz and .npy do")
        arrays = read_arrays(path, MEMBERS, prefix=CARRIED)
    except GrouteError:  # also what a signal handler raises
        raise
    except OSError as problem:
        raise InputError(f"{path}: cannot be read: {problem.strerror or problem}") from problem
    except MemoryError as problem:
        raise InputError(f"{path}: no room for it, or it is damaged ({problem})") from problem
    except DAMAGE as problem:
        raise InputError(f"{path}: not a saved result ({quoted(problem)})") from problem
    missing = {"distances", "source"} - arrays.keys()
    if missing:
        names = ", ".join(sorted(missing))
        raise InputError(f"{path}: not a saved result of sssp or bfs; it lacks {names}")
    return _checked(path, arrays)


def _checked(path: str | Path, arrays: dict[str, NDArray[Any]]) -> Result:
    distances, places = arrays["distances"], arrays.get("coordinates")
    count = distances.size
    is_wrong = distances.dtype not in _DISTANCES
    carried = {name: arrays[name] for name in arrays if name.startswith(CARRIED)}
    for name, (dimensions, kinds) in (_KINDS | dict.fromkeys(carried, (1, "if"))).items():
        if (array := arrays.get(name)) is not None and not is_wrong:
            is_wrong = array.ndim != dimensions or array.dtype.kind not in kinds
            is_wrong = is_wrong or (dimensions > 0 and len(array) != count)
    if is_wrong or (places is not None and (places.shape[1] != 2 or places.dtype != np.float64)):
        raise InputError(f"{path}: not a saved result; its arrays have other shapes or types")
    source, parents, bound = int(arrays["source"]), arrays.get("predecessors"), arrays.get("bound")
    if not 0 <= source < count:
        raise InputError(f"{path}: damaged result: source {source} is none of {count:,} vertices")
    if parents is not None and (parents.min() < -1 or parents.max() >= count):
        raise InputError(f"{path}: damaged result: a predecessor is none of {count:,} vertices")
    try:
        first_id = checked_first_id(arrays.get("first_id", np.int64(0)), count)
        if (ids := arrays.get("ids")) is not None:
            check_given_ids(ids)
    except ValueError as problem:
        raise InputError(f"{path}: damaged result: {problem}") from problem
    if bound is not None and not bound >= 0:
        raise InputError(f"{path}: damaged result: its bound {bound} is no distance")
    return Result(
        source,
        distances,
        parents,
        {} if bound is None else {"bound": bound.item()},
        first_id,
        ids,
        bool(arrays.get("reverse", False)),
        places,
        str(arrays.get("attribution", "")),
        {"": str(arrays["unit"])} if "unit" in arrays else {},
        {name.removeprefix(CARRIED): sums for name, sums in carried.items()},
    )


_KINDS = {
    "distances": (1, "if"),
    "source": (0, "iu"),
    "predecessors": (1, "iu"),
    "ids": (1, "iU"),
    "bound": (0, "iuf"),
    "reverse": (0, "b"),
    "coordinates": (2, "f"),
    "attribution": (0, "U"),
    "unit": (0, "U"),
}
"""The dimensions and the kinds of types of arrays in a file."""

MEMBERS = (*_KINDS, "first_id")  # the arrays that are read, of all that a file may have
NPY, ZIP = b"\x93NUMPY", b"PK"  # first bytes of the files

_DISTANCES = (np.dtype(np.int64), np.dtype(np.float32), np.dtype(np.float64))
"""The types of distances in a saved result."""


@dataclass(frozen=True, eq=False)
class TurnResult(Result):
    """A `Result` that has paths, but no predecessors.

    A path to a vertex by way of another need not begin with a shortest path to that one, so there
    is no tree. See `groute_py.graph.turns.expanded`.
    """

    solved: Result = field(kw_only=True)
    layout: Layout = field(kw_only=True)

    def positions_to(self, vertex: int | str | Positions) -> list[int]:
        """See `Result.positions_to`; a path may pass a vertex more than once."""
        (end,) = self.layout.ends(np.array([self.numbering.index_of(vertex)])).tolist()
        states = np.array(self.solved.positions_to(Positions(end)), np.int64)
        path: list[int] = self.layout.path(states).tolist()
        return path


def in_vertices(result: Result, layout: Layout, source: int, numbering: Numbering) -> Result:
    """Return the answer that a user gets."""
    if not layout.is_expanded:
        return result
    places = result.coordinates
    return TurnResult(
        source,
        layout.at_ends(result.distances),
        None,
        result.statistics,
        numbering.first,
        numbering.ids,
        result.reverse,
        None if places is None else places[: layout.vertex_count],
        result.attribution,
        result.units,
        solved=result,
        layout=layout,
    )


def solved_result(result: Result) -> Result:
    """Return the answer in the graph that was solved."""
    return result.solved if isinstance(result, TurnResult) else result
