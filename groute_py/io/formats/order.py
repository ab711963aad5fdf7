r"""Orders from separators, ``.order``, which the cache keeps for graphs with the same arcs.

groute-py order 1\n                               magic with the version
{"name": "NY"}                                 \n    JSON, blanks up to a multiple of 64 bytes
order                                             int32, (n,): vertices in order of elimination
digests                                           of all before
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError
from groute_py.graph.hierarchy.separators.order import check_order
from groute_py.io.array_file import (
    DIGESTS,
    Kind,
    are_right,
    header_of,
    map_arrays,
    name_of,
    outline_of,
    refusing,
    write_arrays,
)
from groute_py.system.paths import as_text

SUFFIX = ".order"

KIND = Kind("order from separators", b"groute-py order ", 1, frozenset({"name"}))


class OrderContents(NamedTuple):
    """The order in a file, and the name of the graph for which it was made."""

    name: str
    order: NDArray[np.int32]


def map_open_file(path: Path, file: BinaryIO) -> OrderContents:
    """Map an open file, compare it with its digests and check the order."""
    header = header_of(KIND, path, file)
    with refusing(KIND, path):
        arrays, digested = map_arrays(file, ("order", DIGESTS))
        name = name_of(header["name"])
        check_order(arrays["order"], len(arrays["order"]))
    if not are_right(arrays[DIGESTS], digested):
        raise FormatError(path, f"damaged {KIND.what}: its content does not have its digests")
    return OrderContents(name, arrays["order"])


def write_to(file: BinaryIO, name: str, order: NDArray[np.int32]) -> None:
    """Write an order for a graph of a name."""
    arrays: dict[str, NDArray[Any]] = {"order": order}
    shapes = {"order": (len(order), order.dtype)}
    fields = {"name": as_text(name)}
    write_arrays(file, outline_of(KIND, KIND.version, fields, shapes, digests=True), arrays)
