"""Answers as tables of pandas, Polars or Arrow, made when they are asked for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from groute_py.arguments import check_choice
from groute_py.errors import printable
from groute_py.io.optional_libraries import library

if TYPE_CHECKING:
    from groute_py.results.tables import Column, TableColumns

LIBRARIES = ("pandas", "polars", "pyarrow")

LINES_SHOWN = 6


class Tabular:
    """An answer that is a table, in the graph's own ids, when it is asked for."""

    def part(self, some: slice) -> TableColumns:
        """The lines of some of the answer's rows."""
        raise NotImplementedError

    def to_frame(self, *, library: str | None = None) -> Any:
        """The answer as a table in the graph's own ids.

        The credit stands in ``attrs["attribution"]`` of pandas, and in the metadata of Arrow.

        Args:
            library: ``pandas``, ``polars`` or ``pyarrow``; None for the first of them that the
                program has imported, else pandas.

        Raises:
            SetupError: the library is not installed.
        """
        return table_of(self.part(slice(None)), library, getattr(self, "attribution", ""))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table for libraries that read Arrow, such as DuckDB."""
        return self.to_frame(library="pyarrow").__arrow_c_stream__(requested_schema)

    def __str__(self) -> str:
        """The first lines of the table."""
        lines_there = len(next(iter(self.part(slice(0, 1)).values())).values)
        rows = slice(0, 1 if lines_there > LINES_SHOWN else LINES_SHOWN + 1)
        part = {title: _begun(column) for title, column in self.part(rows).items()}
        lines = [list(part), *map(list, zip(*part.values(), strict=True))]
        shown = [[printable(str(field)) for field in line] for line in lines]
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        text = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in shown]
        if len(text) > LINES_SHOWN + 1:
            text[-1] = "…"
        return "\n".join([type(self).__name__, *text])


def _begun(column: Column) -> list[Any]:
    values, valid, _ = column
    some = slice(0, LINES_SHOWN + 1)
    return column._replace(values=values[some], valid=None if valid is None else valid[some]).shown


def table_of(
    part: TableColumns, name: str | None, attribution: str = "", index: str | None = None
) -> Any:
    """A table of a library, as `Tabular.to_frame`; of pandas with a column as its index."""
    if name is None:
        name = next((each for each in LIBRARIES if each in sys.modules), LIBRARIES[0])
    check_choice("library", name, LIBRARIES)
    module = library(name, "a table")
    if name == "pandas":
        frame = module.DataFrame({title: _of_pandas(module, c) for title, c in part.items()})
        if index is not None:
            frame = frame.set_index(index)
        if attribution:
            frame.attrs["attribution"] = attribution
        return frame
    if name == "polars":
        return module.DataFrame([_of_polars(module, *item) for item in part.items()])
    from groute_py.results.tables import arrow_table

    return arrow_table(part, attribution)


def _of_pandas(pandas: Any, column: Column) -> Any:
    """Values that are not there are missing; floats are infinite there."""
    values, valid, _ = column
    if valid is None or values.dtype.kind == "f":
        return values
    if values.dtype.kind in "iu":
        return pandas.arrays.IntegerArray(values, ~valid)
    return pandas.Series(values, dtype="string").mask(~valid).array


def _of_polars(polars: Any, title: str, column: Column) -> Any:
    values, valid, _ = column
    is_text = values.dtype.kind in "UO"
    plain, kind = (values.tolist(), polars.String) if is_text else (values, None)
    series = polars.Series(title, plain, kind)
    if valid is None or valid.all():
        return series
    return series.set(polars.Series(np.asarray(~valid)), None)
