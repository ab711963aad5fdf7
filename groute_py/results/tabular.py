"""Answers that are tables: frames of pandas, Polars, Arrow, Modin or cuDF, files, text."""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from groute_py.errors import check_choice, file_path, printable
from groute_py.graph.read_report import LIBRARIES
from groute_py.io.optional_libraries import library
from groute_py.results.tables import (
    Column,
    TableColumns,
    arrow_table,
    check_table,
    with_units,
    write_table,
)

LINES_SHOWN = 6


class Tabular:
    """An answer that is a table, in the graph's own ids, when it is asked for."""

    def part(self, some: slice) -> TableColumns:
        """The columns of some of the answer's rows."""
        raise NotImplementedError

    def lines(self, some: slice) -> TableColumns:
        """The same, with units in their titles where they are known."""
        return with_units(self.part(some), getattr(self, "units", {}))

    def to_frame(self, *, library: str | None = None) -> Any:
        """The answer as a table in the graph's own ids.

        The credit stands in ``attrs["attribution"]`` of pandas, and in the metadata of Arrow.

        Args:
            library: ``pandas``, ``polars``, ``pyarrow``, ``modin`` or ``cudf``; None for that of
                the table that the graph, or else its ends, came in. Without one it is the first of
                the first three that the program has imported, else pandas.

        Raises:
            SetupError: the library is not installed.
        """
        return self._table(self.lines(slice(None)), library)

    def _table(self, part: TableColumns, name: str | None, index: str | None = None) -> Any:
        """A table of a library, as `to_frame`; of pandas with a column as its index."""
        origins = getattr(self, "numbering", None), getattr(self, "attributes", None)
        came_in = (getattr(origin, "library", "") for origin in origins)
        imported = (each for each in LIBRARIES[:3] if each in sys.modules)
        if name is None:
            name = next(filter(None, chain(came_in, imported)), LIBRARIES[0])
        return table_of(part, name, getattr(self, "attribution", ""), index)

    def save(self, path: str | Path) -> None:
        """Write the table as ``.csv``, ``.json`` or ``.parquet``; the file is complete or absent.

        Raises:
            InputError: unknown suffix, or no file can be written there.
            RunError: the disk is full, or fails.
            SetupError: the form needs a library that is not installed.
        """
        target = file_path("path", path)
        check_table(target)
        write_table(target, [self.lines(slice(None))], getattr(self, "attribution", ""))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table for libraries that read Arrow, such as DuckDB."""
        return self.to_frame(library="pyarrow").__arrow_c_stream__(requested_schema)

    def __str__(self) -> str:
        """The first lines of the table."""
        lines_there = len(next(iter(self.part(slice(0, 1)).values())).values)
        rows = slice(0, 1 if lines_there > LINES_SHOWN else LINES_SHOWN + 1)
        part = {title: _begun(column) for title, column in self.lines(rows).items()}
        lines = [list(part), *map(list, zip(*part.values(), strict=True))]
        shown = [[printable(str(field)) for field in line] for line in lines]
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        text = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in shown]
        if len(text) > LINES_SHOWN + 1:
            text[-1] = "…"
        return "\n".join([type(self).__name__, *text])


def _begun(column: Column) -> list[Any]:
    return column.at(slice(0, LINES_SHOWN + 1)).shown


def table_of(part: TableColumns, name: str, attribution: str, index: str | None) -> Any:
    """A table of a library; see `Tabular._table`."""
    check_choice("library", name, LIBRARIES)
    module = library(name, "a table", extra=None)
    if name == "modin":
        frame = table_of(part, "pandas", attribution, index)
        return library("modin.pandas", "a table", extra=None).DataFrame(frame)
    if name == "cudf":
        return module.DataFrame.from_arrow(arrow_table(part, attribution))
    if name == "pandas":
        frame = module.DataFrame({title: _of_pandas(module, c) for title, c in part.items()})
        if index is not None:
            frame = frame.set_index(index)
        if attribution:
            frame.attrs["attribution"] = attribution
        return frame
    if name == "polars":
        return module.DataFrame([_of_polars(module, *item) for item in part.items()])
    return arrow_table(part, attribution)


def _of_pandas(pandas: Any, column: Column) -> Any:
    """Values that are not there are missing; floats are infinite there."""
    values, valid, *_ = column
    if valid is None or values.dtype.kind == "f":
        return values
    if values.dtype.kind in "iu":
        return pandas.arrays.IntegerArray(values, ~valid)
    return pandas.Series(values, dtype="string").mask(~valid).array


def _of_polars(polars: Any, title: str, column: Column) -> Any:
    values, valid, *_ = column
    is_text = values.dtype.kind in "UO"
    plain, kind = (values.tolist(), polars.String) if is_text else (values, None)
    series = polars.Series(title, plain, kind)
    if valid is None or valid.all():
        return series
    return series.set(polars.Series(np.asarray(~valid)), None)
