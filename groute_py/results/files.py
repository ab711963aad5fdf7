"""Results as files, one function a form with its suffix; and as a pandas DataFrame.

Tables are in the ids of the graph's file. Where no path leads, ``csv`` and ``txt`` say ``inf``,
``parquet`` leaves the place empty, and ``sol`` leaves the vertex out. ``npz``, ``csv`` and
``parquet`` have the coordinates of a graph that has them. Whom to name stands in a member of
``npz``, the metadata of ``parquet``, the first row of a column of ``csv`` (other rows leave it
empty), and the first line of ``txt`` and ``sol``, a comment; the others have no place for it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from groute_py.errors import InputError, quote
from groute_py.io.array_archive import save_arrays
from groute_py.io.optional_libraries import library

if TYPE_CHECKING:
    from pandas import DataFrame

    from groute_py.results.result import Result

NEGATIVE_CYCLE = "FOUND NEGATIVE CYCLE!\n"
"""The text of ``matrix-distances`` instead of distances if there is a negative cycle."""

Row = tuple[int | str, Any, Any]


def _write_npz(result: Result, file: IO[bytes]) -> None:
    arrays: dict[str, Any] = {"distances": result.distances, "source": np.int64(result.source)}
    arrays["first_id"] = np.int64(result.first_id)
    if result.predecessors is not None:
        arrays["predecessors"] = result.predecessors
    if result.ids is not None:
        arrays["ids"] = result.ids
    if result.statistics.get("bound") is not None:
        arrays["bound"] = np.array(result.statistics["bound"])
    if result.reverse:
        arrays["reverse"] = np.True_
    if result.coordinates is not None:
        arrays["coordinates"] = result.coordinates
    if result.attribution:
        arrays["attribution"] = np.array(result.attribution)
    save_arrays(file, arrays)


def _write_npy(result: Result, file: IO[bytes]) -> None:
    np.save(file, result.distances)


def _write_csv(result: Result, file: IO[bytes]) -> None:
    rows: Iterator[tuple[Any, ...]]
    rows = ((v, "inf" if d is None else d, "" if p is None else p) for v, d, p in _rows(result))
    titles: tuple[str, ...] = ("vertex", "distance", "predecessor")
    if result.coordinates is not None:
        places = result.coordinates.tolist()
        rows = ((*row, *place) for row, place in zip(rows, places, strict=True))
        titles = (*titles, "x", "y")
    if result.attribution:
        attributions = chain([result.attribution], repeat(""))
        rows = ((*row, text) for row, text in zip(rows, attributions, strict=False))
        titles = (*titles, "attribution")
    _write_table(file, [titles], ",")
    _write_table(file, rows, ",")


def _in_one_line(text: str) -> str:
    """A text from a file, of which no part may look like a line of the answer."""
    return " ".join(text.split())


def _write_txt(result: Result, file: IO[bytes]) -> None:
    if result.attribution:
        file.write(f"# {_in_one_line(result.attribution)}\n".encode())
    _write_table(file, ((v, "inf" if d is None else d) for v, d, _ in _rows(result)), " ")


def _write_sol(result: Result, file: IO[bytes]) -> None:
    """Write DIMACS lines: ``p sol sp N``, ``s SOURCE``, ``d VERTEX DISTANCE [PREDECESSOR]``."""
    if result.attribution:
        file.write(f"c {_in_one_line(result.attribution)}\n".encode())
    source = result.numbering.id_of(result.source)
    head = [("p", "sol", "sp", len(result.distances)), ("s", source)]
    _write_table(file, head, " ")
    reached = (row for row in _rows(result) if row[1] is not None)
    _write_table(file, (("d", v, d) if p is None else ("d", v, d, p) for v, d, p in reached), " ")


def _write_matrix_distances(result: Result, file: IO[bytes]) -> None:
    """Write one distance a line for dense matrices, 1000000 where no path leads."""
    from groute_py.io.formats.dense_matrix import NO_ARC

    distances = (str(NO_ARC if d is None else d) for _, d, _ in _rows(result))
    file.write("".join(f"{distance}\n" for distance in distances).encode())


def _write_parquet(result: Result, file: IO[bytes]) -> None:
    arrow, pq = library("pyarrow", "writing Parquet"), library("pyarrow.parquet", "writing Parquet")
    numbering, reached = result.numbering, result.reached
    columns = {
        "vertex": arrow.array(numbering.ids_of(np.arange(len(reached))).tolist()),
        "distance": arrow.array(result.distances, mask=~reached),
    }
    if result.predecessors is not None:
        kind = columns["vertex"].type
        columns["predecessor"] = arrow.array([row[2] for row in _rows(result)], kind)
    if result.coordinates is not None:
        columns |= {"x": result.coordinates[:, 0], "y": result.coordinates[:, 1]}
    metadata = {"attribution": result.attribution} if result.attribution else None
    pq.write_table(arrow.table(columns, metadata=metadata), file)


def _rows(result: Result) -> Iterator[Row]:
    """Id, distance and the predecessor's id in vertex order; None where there is none."""
    numbering, count = result.numbering, len(result.distances)
    pairs = zip(result.distances.tolist(), result.reached.tolist(), strict=True)
    distances = [distance if reached else None for distance, reached in pairs]
    parents: list[Any] = [None] * count
    if result.predecessors is not None and count:
        has = result.predecessors >= 0
        ids = numbering.ids_of(np.where(has, result.predecessors, 0)).tolist()
        parents = [parent if there else None for parent, there in zip(ids, has, strict=True)]
    ids = numbering.ids_of(np.arange(count)).tolist()
    return zip(ids, distances, parents, strict=True)


def _write_table(file: IO[bytes], rows: Iterable[tuple[Any, ...]], separator: str) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows(rows)
    text.flush()
    text.detach()


class Form(NamedTuple):
    """A form in which a result is written, and the suffix that stands for it, if any."""

    write: Callable[[Result, IO[bytes]], None]
    suffix: str | None


FORMS = {
    "npz": Form(_write_npz, ".npz"),
    "npy": Form(_write_npy, ".npy"),
    "csv": Form(_write_csv, ".csv"),
    "txt": Form(_write_txt, ".txt"),
    "parquet": Form(_write_parquet, ".parquet"),
    "sol": Form(_write_sol, ".sol"),
    "matrix-distances": Form(_write_matrix_distances, None),
}


def form_of(path: Path, name: str | None = None) -> Callable[[Result, IO[bytes]], None]:
    """The writer of a form, by its name or else by the suffix of a file."""
    if name is not None:
        if name not in FORMS:
            raise InputError(f"unknown output format {quote(name)}; there are {', '.join(FORMS)}")
        return FORMS[name].write
    for form in FORMS.values():
        if path.suffix == form.suffix:
            return form.write
    suffixes = ", ".join(form.suffix for form in FORMS.values() if form.suffix)
    raise InputError(
        f"{path}: unknown suffix {quote(path.suffix)}; a result is saved as {suffixes}"
    )


def frame_of(result: Result, coordinates: str | Path | None = None) -> DataFrame:
    """See `groute_py.Result.to_frame`."""
    try:
        import pandas as pd
    except ImportError as problem:
        raise InputError(f"a DataFrame needs pandas ({problem}); pip install pandas") from problem
    count = len(result.distances)
    columns: dict[str, Any] = {"distance": result.distances}
    if result.distances.dtype.kind != "f":
        columns["distance"] = pd.arrays.IntegerArray(result.distances, ~result.reached)
    if result.predecessors is not None:
        columns["predecessor"] = _ids_or_missing(result)
    places: Any = result.coordinates
    if coordinates is not None:
        from groute_py.io.coordinates import read_coordinates

        places = read_coordinates(coordinates, count)
    if places is not None:
        columns |= {"x": places[:, 0], "y": places[:, 1]}
    ids = result.numbering.ids_of(np.arange(count))
    frame = pd.DataFrame(columns, index=pd.Index(ids, name="vertex"))
    if result.attribution:
        frame.attrs["attribution"] = result.attribution
    return frame


def _ids_or_missing(result: Result) -> Any:
    """The predecessors' ids: Int64 or strings, missing where there is none."""
    import pandas as pd

    assert result.predecessors is not None
    nobody = result.predecessors < 0
    ids = result.numbering.ids_of(np.where(nobody, 0, result.predecessors))
    if ids.dtype.kind == "U":
        return pd.Series(ids, dtype="string").mask(nobody).array
    return pd.arrays.IntegerArray(ids, nobody)
