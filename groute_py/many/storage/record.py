"""The record of a run, ``run.json``: which graph, vertices and choices its work belongs to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError
from groute_py.graph.csr import Graph
from groute_py.io.untrusted import json_object
from groute_py.many.storage.folder import RUN, RunFolder

FILES_TOKEN = "files"
"""The field of a record that says what the names of its files have."""


def run_of(
    graph: Graph | str, vertices: Mapping[str, NDArray[np.int64]], choices: Mapping[str, Any]
) -> dict[str, Any]:
    """What complete work belongs to: it is the same only if all of this is.

    Args:
        graph: that is solved, or its `digest_of`.
        vertices: such as the sources, in their order, by what they are.
        choices: that change the answer, by name.
    """
    return {
        "graph": graph if isinstance(graph, str) else digest_of(graph),
        **{name: _digest_of(some) for name, some in vertices.items()},
        **choices,
    }


def digest_of(graph: Graph) -> str:
    """Identifies the arcs of a graph."""
    digest = hashlib.sha256()
    for array in (graph.offsets, graph.heads, graph.weights):
        digest.update(f"{array.dtype.str}{len(array)};".encode())
        digest.update(np.ascontiguousarray(array).data.cast("B") if len(array) else b"")
    return digest.hexdigest()


def _digest_of(vertices: NDArray[np.int64]) -> str:
    return hashlib.sha256(vertices.astype("<i8").tobytes()).hexdigest()


def write_run(folder: RunFolder, run: dict[str, Any], token: str = "") -> None:
    """Write the record of a run that begins.

    Args:
        folder: its folder.
        run: what it is of.
        token: in the names of its files, if they have one.
    """
    record = run | ({FILES_TOKEN: token} if token else {})
    with open(folder.file(RUN), "xb") as file:
        file.write(f"{json.dumps(record, indent=1, allow_nan=False)}\n".encode())


def check_run(folder: RunFolder, run: dict[str, Any]) -> str:
    """The token of the files of a run, as it stands in its record; "" if there is none.

    Raises:
        InputError: the folder has no record, or that of another run.
    """
    try:
        known = json_object(folder.file(RUN).read_bytes())
    except FileNotFoundError:
        raise nothing_to_resume(folder.path) from None
    except (OSError, ValueError) as problem:
        damaged = f"{folder.path}/{RUN} is damaged; leave out --resume"
        raise InputError(damaged) from problem
    token = str(known.pop(FILES_TOKEN, ""))
    changed = [
        name for name in sorted(run.keys() | known.keys()) if known.get(name) != run.get(name)
    ]
    if changed:
        raise InputError(
            f"{folder.path} belongs to a run in which {', '.join(changed)} differed; leave "
            "out --resume to begin anew"
        )
    return token


def nothing_to_resume(path: Path) -> InputError:
    """The error for a folder without a run in it."""
    return InputError(f"{path}: there is no unfinished run to go on with; leave out --resume")
