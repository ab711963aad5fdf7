"""Tables in the file's ids, written part by part.

Attributes of points, such as their names, go along into them.

Where there is no distance, a ``.csv`` says ``inf``, a ``.json`` null, and a ``.parquet`` leaves the
place empty, as the files of a `groute_py.Result` do.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, quote
from groute_py.graph.geography import Units
from groute_py.graph.ids import Numbering
from groute_py.graph.read_report import library_of
from groute_py.graph.units import amount, titled
from groute_py.io.optional_libraries import library
from groute_py.results.distances import reached_in, shown_distances
from groute_py.system.atomic_file import check_writable, replacing, translating_errors

DIGITS = 4  # digits of an amount in words
CARRIED = "carried_"  # begins the names of sums along paths where others may have the same


class Column(NamedTuple):
    """A column of a part of a table; ``valid`` says which values there are, None for all.

    Values are numbers or text; objects are text, or None where there is none.
    In place of the others a ``.csv`` says ``missing``. Sums of a column of arcs name it, those of
    weights "".
    """

    values: NDArray[Any]
    valid: NDArray[np.bool_] | None = None
    missing: str | None = ""
    sums: str | None = None

    @property
    def shown(self) -> list[Any]:
        """The values as a ``.csv`` has them."""
        values: list[Any] = self.values.tolist()
        if self.valid is not None:
            for place in np.flatnonzero(~self.valid).tolist():
                values[place] = self.missing
        return values

    def at(self, lines: NDArray[Any] | slice) -> Column:
        """The column of some lines."""
        valid = None if self.valid is None else self.valid[lines]
        return self._replace(values=self.values[lines], valid=valid)


TableColumns = dict[str, Column]
"""Some lines of a table: the columns by their titles, the same ones in each part."""


def joined(columns: Sequence[Column]) -> Column:
    """Return the columns of some parts, at least one, as that of one part."""
    values = np.concatenate([column.values for column in columns])
    if all(column.valid is None for column in columns):
        return columns[0]._replace(values=values)
    valid = [np.ones(len(c.values), bool) if c.valid is None else c.valid for c in columns]
    return columns[0]._replace(values=values, valid=np.concatenate(valid))


def records(part: TableColumns) -> Iterator[dict[str, Any]]:
    """Yield the lines as JSON has them, None where there is no value."""
    columns = (column._replace(missing=None).shown for column in part.values())
    return (dict(zip(part, row, strict=True)) for row in zip(*columns, strict=True))


def check_table(path: Path, others: tuple[str, ...] = ()) -> None:
    """Raise an error now if no table, nor a file of other suffixes, could be written later."""
    forms = (*SUFFIXES, *others)
    if path.suffix not in forms:
        raise InputError(
            f"{path}: unknown suffix {quote(path.suffix)}; saved are {', '.join(forms)}"
        )
    if path.suffix == ".parquet":
        library("pyarrow", "writing Parquet")
    check_writable(path)


def of_distances(distances: NDArray[Any], sums: str = "") -> Column:
    """Return a column of distances in public types, or of other sums."""
    return Column(distances, reached_in(distances), "inf", sums)


def of_vertices(vertices: NDArray[Any], numbering: Numbering) -> Column:
    """Return a column of the ids of vertices, of which −1 is none."""
    return Column(numbering.ids_of(np.maximum(vertices, 0)), vertices >= 0)


def of_pairs(
    numbering: Numbering,
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    distances: NDArray[Any],
    predecessors: NDArray[Any] | None = None,
) -> TableColumns:
    """Return a line for each source and target, from rows of shape (k, t)."""
    part = {
        "source": Column(np.repeat(numbering.ids_of(sources), len(targets))),
        "target": Column(np.tile(numbering.ids_of(targets), len(sources))),
        "distance": of_distances(np.asarray(distances).reshape(-1)),
    }
    if predecessors is not None:
        part["predecessor"] = of_vertices(np.asarray(predecessors).reshape(-1), numbering)
    return part


def with_sums(part: TableColumns, sums: Mapping[str, NDArray[Any]], some: slice) -> TableColumns:
    """Add sums along the paths of some rows; a title that is there already gets `CARRIED`."""
    for name, of in sums.items():
        title = name
        while title in part:
            title = f"{CARRIED}{title}"
        part = part | {title: of_distances(of[some].reshape(-1), name)}
    return part


def with_units(part: TableColumns, units: Units) -> TableColumns:
    """Put units behind the titles, as those of tables are read: ``distance_min``, ``length_m``.

    Milliseconds become seconds.
    """
    shown: TableColumns = {}
    for title, column in part.items():
        unit = "" if column.sums is None else units.get(column.sums, "")
        title = titled(title, unit)
        while title in shown:
            title = f"{CARRIED}{title}"
        shown[title] = column._replace(values=shown_distances(column.values, unit))
    return shown


def in_words(part: TableColumns, units: Units) -> TableColumns:
    """Put units into distances and other sums, as texts for people: ``2.5 min``."""

    def worded(column: Column) -> Column:
        if column.sums is None:
            return column
        unit = units.get(column.sums, "")
        digits = DIGITS if unit else 12
        texts = [amount(value, unit, digits) for value in column.values.tolist()]
        return column._replace(values=np.array(texts, object))

    return {title: worded(column) for title, column in part.items()}


def in_parts(
    count: int, step: int, part_of: Callable[[slice], TableColumns]
) -> Iterator[TableColumns]:
    """Yield the parts of a table of so many rows, some at a time; at least one."""
    return (part_of(slice(first, first + step)) for first in range(0, max(count, 1), step))


def of_reached(part: TableColumns) -> TableColumns:
    """Return the lines that have a distance."""
    reached: Any = part["distance"].valid
    return {title: column.at(reached) for title, column in part.items()}


def write_table(path: Path, parts: Iterable[TableColumns], attribution: str = "") -> None:
    """Write a table of at least one part, atomically; its suffix is one of `SUFFIXES`.

    An attribution goes into each line of a ``.csv``, into each object of a ``.json``, and into the
    metadata of a ``.parquet``.
    """
    with translating_errors(path), replacing(path) as file:
        _WRITERS[path.suffix](file, parts, attribution)


def write_csv(file: IO[bytes], parts: Iterable[TableColumns], attribution: str) -> None:
    """Write parts as text, each line with the attribution."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    lines = csv.writer(text, lineterminator="\n")
    for number, part in enumerate(parts):
        if number == 0:
            lines.writerow([*part, *(["attribution"] if attribution else [])])
        rows: Iterator[tuple[Any, ...]]
        rows = zip(*(column.shown for column in part.values()), strict=True)
        lines.writerows(((*row, attribution) for row in rows) if attribution else rows)
    text.flush()
    text.detach()


def write_parquet(file: IO[bytes], parts: Iterable[TableColumns], attribution: str) -> None:
    """Write parts as row groups; the attribution is in the metadata."""
    parquet = library("pyarrow.parquet", "writing Parquet")
    tables = (arrow_table(part, attribution) for part in parts)
    if (first := next(tables, None)) is None:
        return
    with parquet.ParquetWriter(file, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def write_json(file: IO[bytes], parts: Iterable[TableColumns], attribution: str) -> None:
    """Write parts as a list of objects, one a line, each with the attribution."""
    beside = {"attribution": attribution} if attribution else {}
    between = "[\n"
    for row in chain.from_iterable(map(records, parts)):
        text = json.dumps(row | beside, ensure_ascii=False, default=str)
        file.write(f"{between}{text}".encode())
        between = ",\n"
    file.write(b"[]\n" if between == "[\n" else b"\n]\n")


def arrow_table(part: TableColumns, attribution: str) -> Any:
    """Return a table of pyarrow, with the same types for each part."""
    arrow = library("pyarrow", "a table of Arrow")
    arrays = []
    for values, present, *_ in part.values():
        is_text = values.dtype.kind in "UO"
        plain, kind = (values.tolist(), arrow.string()) if is_text else (values, None)
        arrays.append(arrow.array(plain, kind, mask=None if present is None else ~present))
    metadata = {"attribution": attribution} if attribution else None
    return arrow.table(arrays, names=list(part), metadata=metadata)


_WRITERS: dict[str, Callable[[IO[bytes], Iterable[TableColumns], str], None]] = {
    ".csv": write_csv,
    ".json": write_json,
    ".parquet": write_parquet,
}

SUFFIXES = tuple(_WRITERS)  # the forms, by suffix


Attributes = Mapping[str, Mapping[str, NDArray[Any]]]
"""By the role of ends, such as ``source``, the columns of their points: a value for each end."""


class EndAttributes(dict[str, Mapping[str, NDArray[Any]]]):
    """Attributes of ends, with the library of a table that the ends are from, "" for none."""

    library: str = ""


def attributes_of(**ends: Any) -> Attributes:
    """Return the attributes of ends by their roles; ids and arrays have none."""
    some = EndAttributes({role: getattr(end, "attributes", {}) for role, end in ends.items()})
    libraries = (getattr(end, "library", "") or library_of(end) for end in ends.values())
    some.library = next(filter(None, libraries), "")
    return some


def beside(attributes: Attributes, **rows: NDArray[np.int64]) -> TableColumns:
    """Return columns like ``source_name``, for the number of the end in each line, −1 for none."""
    return {
        f"{role}_{title}": _column(values[places], places >= 0)
        for role, places in rows.items()
        for title, values in attributes.get(role, {}).items()
    }


def _column(values: NDArray[Any], valid: NDArray[np.bool_]) -> Column:
    if values.dtype.kind == "f":
        valid = valid & np.isfinite(values)
    return Column(values, None if valid.all() else valid)


def beside_pairs(attributes: Attributes, sources: NDArray[np.int64], targets: int) -> TableColumns:
    """Return columns for the numbers of some sources, each with all of so many targets."""
    every = np.tile(np.arange(targets), len(sources))
    return beside(attributes, source=np.repeat(sources, targets), target=every)


def numbers_of(vertices: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return which of some ends is the first at each vertex, int64; −1 for none of them.

    >>> numbers_of(np.array([7, 5, -1]), np.array([5, 7, 5])).tolist()
    [1, 0, -1]
    """
    order = np.argsort(ends, kind="stable")
    places = np.minimum(np.searchsorted(ends, vertices, sorter=order), len(ends) - 1)
    return np.where(ends[order[places]] == vertices, order[places], -1)
