"""The record of a run, ``run.json``: which graph, vertices and choices its work belongs to."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError
from groute_py.graph.csr import Graph
from groute_py.io.untrusted import json_object
from groute_py.many.storage.folder import RUN, TOKEN, RunFolder, nothing_to_resume

FILES = "files"
"""The field of a record that has the token of the run's files."""


def run_of(
    graph: Graph | str, vertices: Mapping[str, NDArray[np.int64]], choices: Mapping[str, Any]
) -> dict[str, Any]:
    """The record of a run; complete work is the same only if all of this is.

    Args:
        graph: that is solved, or its `digest_of`.
        vertices: such as the sources, in their order, by what they are.
        choices: that change the answer, by name.
    """
    return {
        "graph": graph if isinstance(graph, str) else digest_of(graph),
        **{
            name: hashlib.sha256(some.astype("<i8").tobytes()).hexdigest()
            for name, some in vertices.items()
        },
        **choices,
    }


def digest_of(graph: Graph) -> str:
    """Identify the arcs of a graph."""
    digest = hashlib.sha256()
    for array in (graph.offsets, graph.heads, graph.weights):
        digest.update(f"{array.dtype.str}{len(array)};".encode())
        digest.update(np.ascontiguousarray(array).data.cast("B") if len(array) else b"")
    return digest.hexdigest()


def write_run(folder: RunFolder, run: dict[str, Any], token: str) -> None:
    """Write the record of a run that begins."""
    with open(folder.file(RUN), "xb") as file:
        file.write(f"{json.dumps(run | {FILES: token}, indent=1, allow_nan=False)}\n".encode())


def token_of(folder: RunFolder, run: dict[str, Any]) -> str:
    """The token of the files of a run.

    Raises:
        InputError: the folder has no record, or that of another run.
    """
    try:
        record = json_object(folder.file(RUN).read_bytes())
        token = str(record.pop(FILES, ""))
        if not re.fullmatch(TOKEN, token):
            raise ValueError(token)
    except FileNotFoundError:
        raise nothing_to_resume(folder.path) from None
    except (OSError, ValueError) as problem:
        damaged = f"{folder.path}/{RUN} is damaged; leave out --resume"
        raise InputError(damaged) from problem
    names = sorted(run.keys() | record.keys())
    if changed := [name for name in names if record.get(name) != run.get(name)]:
        raise InputError(
            f"{folder.path} belongs to a run in which {', '.join(changed)} differed; leave "
            "out --resume to begin anew"
        )
    return token
