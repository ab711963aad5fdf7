"""What is done on large graphs or on many GPUs only, to be done on small ones and on few."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from groute_py.device.cuda.runtime import memory_plan
from groute_py.engine import loading
from groute_py.engine.algorithms import delta_stepping
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver

Put = Callable[[object, str, object], None]


def compile_with(patch: pytest.MonkeyPatch | None, **macros: int) -> None:
    """Kernels with other values of macros in `groute_py.kernels.source.TUNING`.

    Args:
        patch: undoes it after a test; None for the whole process.
        macros: their values, beside those that are set already.
    """
    name = "GROUTE_PY_KERNEL_MACROS"
    words = [os.environ.get(name, ""), *(f"{macro}={value}" for macro, value in macros.items())]
    joined = ",".join(filter(None, words))
    if patch is not None:
        patch.setenv(name, joined)
    else:
        os.environ[name] = joined


def take_grid_steps(patch: pytest.MonkeyPatch | None = None) -> None:
    """Whatever there is to do."""
    compile_with(patch, LOCAL_ENTRIES=0)


def fill_inboxes(put: Put = setattr) -> None:
    """Which are small, so that steps request dense pulls."""
    put(memory_plan, "SMALLEST_RING", 0)
    put(memory_plan, "ring_entries", lambda told: 1 << max(told.bit_length() - 4, 0))


def shorten_ll_rings() -> None:
    """As if long ones were full often, in many laps, and their counts told by few bits."""
    compile_with(None, LL_WORDS=8, CREDIT_BITS=5, CREDIT_SHARE=2)


def overtake_records(put: Put = setattr) -> None:
    """Every third record of a predecessor, as if an older one had come later."""
    from groute_py.device.cuda.sssp.predecessors import Predecessors  # where there is a GPU

    take_records = Predecessors.take_records

    def overtaken(predecessors: Predecessors, unless_below: float) -> None:
        records = predecessors.buffers.arrays["parent"]  # they lie in the same place
        records[::3] = records.dtype.type(-1)
        take_records(predecessors, unless_below)

    put(Predecessors, "take_records", overtaken)


def share_gpus(put: Put = setattr) -> None:
    """Ranks of one GPU exchange in the kernel all the same, which takes turns between them: slow,
    but few GPUs show so what many ranks find."""
    from groute_py.device.cuda.sssp import device  # where there is one

    put(device, "why_not", lambda *_: None)


def grow_buckets(put: Put = setattr) -> None:
    """From narrow ones, with a filter, of one vertex to eight a byte, and far looked for among
    all vertices."""
    from groute_py.device.cuda.sssp import near_far  # where there is a GPU

    put(delta_stepping, "MANY_ARCS", 0)
    put(delta_stepping, "GROWING_DEGREE", 0.0)
    put(near_far, "FILTER_FROM", 0.0)
    put(near_far, "fold_of", lambda own, _: own % (near_far.MOST_FOLDED + 1))
    put(memory_plan, "FAR_SHARE", 1 << 30)


def pull_deferred_arcs(put: Put = setattr) -> None:
    """In every bucket narrower than Δ; they grow, and all solvers prepare for it."""
    from groute_py.device.cuda.sssp import near_far  # where there is a GPU

    grow_buckets(put)
    put(near_far, "PULL_SHARE", 1 << 40)
    put(delta_stepping, "PULL_BELOW", 1e30)
    begin = SourceSolver.__init__

    def prepare(self: SourceSolver, supply: Any, channel: Any, options: Options) -> None:
        begin(self, supply, channel, replace(options, prepare=True))

    put(SourceSolver, "__init__", prepare)
    put(loading, "is_wanted", lambda *_: False)  # small graphs would be contracted
