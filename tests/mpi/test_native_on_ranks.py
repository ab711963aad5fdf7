"""Native files under the real mpirun: one that a rank may not open, one replaced meanwhile."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.reference import rows_from

from groute_py import generate, write_graph

pytestmark = pytest.mark.mpi

SCRIPT = """
import os
import sys
import numpy as np
from mpi4py import MPI
import groute_py
from groute_py.io.formats import native

def open_late(name, mode):
    if "refused" in name.name:
        raise PermissionError(13, "Permission denied", str(name))
    if os.path.exists(f"{name}.new"):
        os.replace(f"{name}.new", name)
    return open(name, mode)

if MPI.COMM_WORLD.rank == 1:
    native.open = open_late
for path in sys.argv[1:]:
    if "apsp" in path:
        found = groute_py.apsp(path, sources=range(6), device="cpu")
    else:
        found = groute_py.sssp(path, 0, device="cpu")
    if found is not None:
        np.save(path + ".npy", found.distances)
"""


def test_all_ranks_have_one_graph(script: Any, tmp_path: Path) -> None:
    graph = generate("road:12x12")
    other = graph.with_weights(graph.weights * 7)
    cases = {}
    for how, kind in product(("refused", "replaced"), ("apsp", "sssp")):
        path = tmp_path / f"{how}-{kind}.csr"
        write_graph(graph, path)
        if how == "replaced":
            write_graph(other, tmp_path / f"{path.name}.new.csr")
            (tmp_path / f"{path.name}.new.csr").rename(f"{path}.new")
        # ranks that do not see one file let rank 0 read it, as it is then
        right = other if how == "replaced" else graph
        cases[path] = rows_from(right, range(6) if kind == "apsp" else [0])
    done = script(SCRIPT, 3, *cases)
    assert done.returncode == 0, done.stderr
    for path, rows in cases.items():
        result = np.load(f"{path}.npy")
        np.testing.assert_array_equal(result, rows.reshape(result.shape), str(path))
