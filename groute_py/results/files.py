"""Results as files, one function a form with its suffix.

Tables are in the ids of the graph's file. Where no path leads, ``csv`` and ``txt`` say ``inf``,
``parquet`` leaves the place empty, and ``sol`` leaves the vertex out. ``npz``, ``csv`` and
``parquet`` have the coordinates of a graph that has them. The credit stands in a member of
``npz``, the metadata of ``parquet``, the first row of a column of ``csv`` (other rows leave it
empty), and the first line of ``txt`` and ``sol``, a comment; the others have no place for it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable
from functools import partial
from itertools import compress
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from groute_py.errors import InputError, quote
from groute_py.io.formats.dense_matrix import NO_ARC
from groute_py.io.npz import save_arrays
from groute_py.results import tables
from groute_py.results.tables import Column, TableColumns

Result = Any  # A `groute_py.Result`, which imports this module

NEGATIVE_CYCLE = "FOUND NEGATIVE CYCLE!\n"
"""The text of ``matrix-distances`` instead of distances if there is a negative cycle."""


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
    if result.units.get(""):
        arrays["unit"] = np.array(result.units[""])
    arrays |= {f"{tables.CARRIED}{name}": sums for name, sums in result.carried.items()}
    save_arrays(file, arrays)


def _write_csv(result: Result, file: IO[bytes]) -> None:
    columns, nobody = columns_of(result), np.zeros(len(result.distances), np.bool_)
    if result.predecessors is None:
        first = {name: columns[name] for name in ("vertex", "distance")}
        columns = first | {"predecessor": Column(nobody, nobody)} | columns
    tables.write_csv(file, [tables.with_units(columns, result.units)], result.attribution)


def _write_table(write: Callable[..., None], result: Result, file: IO[bytes]) -> None:
    write(file, [result.lines(slice(None))], result.attribution)


def _write_txt(result: Result, file: IO[bytes]) -> None:
    columns = columns_of(result)
    _write_comment(file, "#", result.attribution)
    _write_lines(file, zip(columns["vertex"].shown, columns["distance"].shown, strict=True))


def _write_sol(result: Result, file: IO[bytes]) -> None:
    """Write DIMACS lines: ``p sol sp N``, ``s SOURCE``, ``d VERTEX DISTANCE [PREDECESSOR]``."""
    _write_comment(file, "c", result.attribution)
    source = result.numbering.id_of(result.source)
    _write_lines(file, [("p", "sol", "sp", len(result.distances)), ("s", source)])
    names = ("vertex", "distance", "predecessor")
    columns = [column.shown for name, column in columns_of(result).items() if name in names]
    reached = compress(zip(*columns, strict=True), result.reached.tolist())
    _write_lines(file, (("d", *(value for value in row if value != "")) for row in reached))


def _write_matrix_distances(result: Result, file: IO[bytes]) -> None:
    """Write one distance a line for dense matrices, 1000000 where no path leads."""
    distances = columns_of(result)["distance"]._replace(missing=str(NO_ARC)).shown
    _write_lines(file, zip(distances))


def columns_of(result: Result, some: slice = slice(None)) -> TableColumns:
    """Return the columns of a table, with predecessors and places if there are any."""
    numbering, places = result.numbering, result.coordinates
    columns = {
        "vertex": Column(numbering.ids_of(np.arange(len(result.distances))[some])),
        "distance": tables.of_distances(result.distances[some]),
    }
    if result.predecessors is not None:
        columns["predecessor"] = tables.of_vertices(result.predecessors[some], numbering)
    if places is not None:
        columns |= {"x": Column(places[some, 0]), "y": Column(places[some, 1])}
    return tables.with_sums(columns, result.carried, some)


def _write_comment(file: IO[bytes], sign: str, text: str) -> None:
    """Write a text from a file, of which no part may look like a line of the answer."""
    if text:
        file.write(f"{sign} {' '.join(text.split())}\n".encode())


def _write_lines(file: IO[bytes], rows: Iterable[tuple[Any, ...]]) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    csv.writer(text, delimiter=" ", lineterminator="\n").writerows(rows)
    text.flush()
    text.detach()


class Form(NamedTuple):
    """A form in which a result is written, and the suffix that stands for it, if any."""

    write: Callable[[Result, IO[bytes]], None]
    suffix: str | None


FORMS = {
    "npz": Form(_write_npz, ".npz"),
    "npy": Form(lambda result, file: np.save(file, result.distances), ".npy"),
    "csv": Form(_write_csv, ".csv"),
    "txt": Form(_write_txt, ".txt"),
    "parquet": Form(partial(_write_table, tables.write_parquet), ".parquet"),
    "json": Form(partial(_write_table, tables.write_json), ".json"),
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
