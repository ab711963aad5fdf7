"""SciPy's sparse arrays, ``.npz``, as `scipy.sparse.save_npz` writes them: CSR, CSC and COO.

Entry (u, v) is the weight of the arc u → v; explicit zeros are arcs of weight 0, entries of a COO
that stand twice are parallel arcs. We write CSR, with the file's ids beside it as ``ids`` or
``first_id``, which SciPy passes over.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, GraphError, quoted
from groute_py.graph.csr import Graph
from groute_py.graph.ids import check_given_ids
from groute_py.io.file_head import Head
from groute_py.io.npz import DAMAGE, Header, read_arrays
from groute_py.io.text.lines import Progress
from groute_py.io.untrusted import INT64, first_id, integer
from groute_py.kernels.cpu.build import csr_from_arcs, index_type
from groute_py.system.atomic_file import replacing
from groute_py.system.memory_limits import NAME_BYTES, check_name_lengths, check_vertex_count

BEGINS = re.compile(rb"PK\x03\x04.{0,120}\.npy", re.S)
"""An archive whose first member is an array."""
READ = ("csr", "csc", "coo")
FACTS = ("format", "shape", "first_id")
MEMBERS = ("indptr", "indices", "row", "col", "data", "ids")
"""The arrays that are read, of all that a file may have."""
MOST_FACTS = 1 << 10
"""Bytes of each of `FACTS`."""


def read(head: Head, _progress: Progress | None = None) -> Graph:
    """Read a sparse array."""
    path = head.path
    members = _arrays(path, FACTS, _check_facts)
    try:
        form = members["format"].item()
        form = form.decode() if isinstance(form, bytes) else str(form)
        rows, columns = (integer("its shape", extent, 0, INT64.max) for extent in members["shape"])
        if form not in READ:
            forms = ", ".join(READ)
            raise FormatError(path, f"a sparse array in {quoted(form)} form; {forms} are read")
        if rows != columns:
            raise FormatError(path, f"a graph needs a square array, not {rows} x {columns}")
        check_vertex_count(path, rows, path.stat().st_size)
        members |= _arrays(path, MEMBERS, partial(_check_lengths, rows))
        ids, first = members.get("ids"), first_id(members.get("first_id", np.int64(0)), rows)
        if ids is not None:
            check_given_ids(ids)
        arrays = _csr(form, rows, members)
        name = path.name.removesuffix(".npz")
        graph = Graph.from_arrays(*arrays, copy=False, first_id=first, name=name)
        return graph if ids is None else replace(graph, first_id=0, ids=ids)
    except KeyError as error:
        missing = f"no SciPy sparse array: it lacks {error.args[0]}"
        raise FormatError(path, missing) from error
    except FormatError:
        raise
    except (ValueError, TypeError, IndexError) as error:
        raise FormatError(path, f"damaged sparse array: {error}") from error


def _arrays(
    path: Path, names: tuple[str, ...], check: Callable[[dict[str, Header]], None]
) -> dict[str, NDArray[Any]]:
    """Some arrays, once their headers have been checked."""
    try:
        return read_arrays(path, names, check)
    except GraphError:
        raise
    except DAMAGE as error:
        raise FormatError(path, f"damaged .npz: {quoted(error)}") from error


def _check_facts(headers: dict[str, Header]) -> None:
    for name, header in headers.items():
        if math.prod(header.shape) * header.dtype.itemsize > MOST_FACTS:
            raise ValueError(f"its {name} is of shape {header.shape} and type {header.dtype}")


def _check_lengths(count: int, headers: dict[str, Header]) -> None:
    """Refuse arrays that are longer or shorter than a graph of so many vertices has them."""
    lengths: dict[str, tuple[int, ...]] = {"indptr": (count + 1,), "ids": (count,)}
    if "data" in headers:
        lengths |= dict.fromkeys(("indices", "row", "col"), headers["data"].shape[:1])
    for name, header in headers.items():
        if name in lengths and header.shape != lengths[name]:
            problem = f"its {name} are of shape {header.shape}, not {lengths[name]}"
            raise ValueError(f"{problem}, which {count:,} vertices need")
        if name == "ids" and header.dtype.kind == "U":
            check_name_lengths(count, header.dtype.itemsize // NAME_BYTES)


def _csr(form: str, count: int, members: dict[str, NDArray[Any]]) -> tuple[NDArray[Any], ...]:
    if form == "csr":
        return members["indptr"], members["indices"], members["data"]
    if form == "coo":
        tails, heads = members["row"], members["col"]
    else:
        columns = np.diff(_offsets(members["indptr"], len(members["indices"])))
        tails, heads = members["indices"], np.repeat(np.arange(len(columns)), columns)
    for ends in (tails, heads):
        if ends.dtype.kind not in "iu":
            raise ValueError(f"its indices are {ends.dtype}")
        if len(ends) and not (ends.min() >= 0 and ends.max() < count):
            raise ValueError(f"an index is outside 0..{count - 1}")
    kind = index_type(count)
    return csr_from_arcs(count, tails.astype(kind), heads.astype(kind), members["data"])


def _offsets(offsets: NDArray[Any], count: int) -> NDArray[Any]:
    if offsets.ndim != 1 or not len(offsets) or offsets[0] != 0 or offsets[-1] != count:
        raise ValueError("its offsets do not go from 0 to the number of entries")
    if (offsets[1:] < offsets[:-1]).any():
        raise ValueError("its offsets decrease")
    return offsets


def write(graph: Graph, path: Path) -> None:
    """Write a CSR array atomically; SciPy reads it."""
    arrays: dict[str, Any] = {
        "format": np.array(b"csr"),
        "shape": np.array([graph.vertex_count, graph.vertex_count]),
        "data": graph.weights,
        "indices": graph.heads,
        "indptr": graph.offsets,
        "_is_array": np.array(True),
    }
    if graph.ids is not None:
        arrays["ids"] = graph.ids
    elif graph.first_id:
        arrays["first_id"] = np.int64(graph.first_id)
    with replacing(path) as file:
        np.savez_compressed(file, **arrays)
