"""What a user asks for of many sources: the choices, each written once.

As with `groute_py.engine.options`, a new option is a field here, and
`tests/repository/option_tables.py` writes the keywords of Python and the tables of the documents.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from groute_py.arguments import check_whole_number, plain
from groute_py.engine.option import check_option, option
from groute_py.errors import InputError, SetupError
from groute_py.turns.suffix import check_turns

METHODS = {
    "floyd": "blocked Floyd-Warshall on the whole matrix",
    "heap": "Dijkstra with a heap and decrease-key, a source for each warp or core",
    "batch": "near-far Δ-stepping, a source for each block or core",
    "sweep": "a contraction hierarchy, then sweeps from several sources at once",
    "single": "near-far Δ-stepping by all of a GPU, one source after the other",
}
"""The methods by name."""

ROWS = ("apsp", "matrix")
"""The functions, and the commands, that take the options."""

ROUTES_TOO = (*ROWS, "route")
"""Those that take what `groute_py.route` takes."""


def _check_memory_limit(nbytes: Any) -> None:
    check_whole_number("memory limit", nbytes)
    if nbytes <= 0:
        raise InputError(f"the memory limit must be positive, not {nbytes}")


@dataclass(frozen=True)
class Request:
    """How to solve, and where the rows go."""

    algorithm: str = option(
        "auto",
        "The method; auto takes the shortest estimated time.",
        details="`auto` shows the estimates. `single` needs a GPU",
        in_python="See [the methods](command-line.md#apsp)",
        of=ROWS,
        choices=("auto", *METHODS),
    )
    device: str = option(
        "auto",
        "The processor; auto takes a GPU if CUDA finds one, but the CPU for little work.",
        details="Work is little if one rank finishes it before a GPU is ready. A GPU that is full "
        "or reserved by another process is an error",
        in_python="Work is little if one rank finishes it before a GPU is ready",
        of=ROUTES_TOO,
        choices=("auto", "cpu", "cuda"),
        per_rank=True,
    )
    predecessors: bool = option(
        False,
        "Find the predecessors too, which are the shortest-path trees.",
        flag="--paths",
        in_python="Not with `floyd` and float weights",
        of=ROWS,
    )
    reverse: bool = option(
        False,
        "Solve for the distances to the sources instead of from them.",
        details="Predecessors are then the vertices that come next on the way to the source",
        in_python="See [Distances to a vertex](#distances-to-a-vertex)",
        of=ROUTES_TOO,
    )
    turns: Any = option(
        None,
        "A table of turns with costs, or forbidden ones.",
        details="See [turns](turns.md)",
        in_python="The path of a file, or rows of (tail, via, head, cost) or (arc, arc, cost). "
        "See [turns](turns.md)",
        unset="every turn costs 0",
        metavar="FILE",
        per_rank=True,
        check=check_turns,
        of=ROUTES_TOO,
    )
    prepare: bool = option(
        False,
        "Contract the graph first, and keep it in the cache, if it suits.",
        details="For `auto` and `sweep`. See [prepared graphs](prepared.md)",
        in_python="For `auto` and `sweep`. See [prepared graphs](prepared.md)",
        of=ROWS,
    )
    memory_limit: int | None = option(
        None,
        "How much of the GPU's memory may be used, in bytes; on a CPU, by the matrix of floyd.",
        details="A unit may follow, as in `20G` or `512Mi`",
        of=ROUTES_TOO,
        unset="all that is free",
        metavar="SIZE",
        check=_check_memory_limit,
    )
    destination: str = option(
        "memory",
        "Where whole rows go; nowhere if they are reduced, or some columns of them are kept.",
        of=(),
        choices=("nowhere", "memory", "file"),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "memory_limit", plain(self.memory_limit))

    @property
    def keeps_prepared(self) -> bool:
        """Whether the hierarchy of a file is to be kept in the cache, or read from there.

        An expansion by turns is another graph than the file has.
        """
        return self.prepare and self.algorithm in ("auto", "sweep") and self.turns is None

    def check(self) -> None:
        """Raise `InputError` for what there is not, `SetupError` where there is no such device."""
        from groute_py.device.registry import gpu_problem

        for entry in fields(self):
            check_option(entry, getattr(self, entry.name))
        if self.turns is not None and self.predecessors:
            raise InputError(
                "with turns there are no predecessors, as the shortest paths are no tree; leave "
                "them out (--paths, predecessors=False), and find paths by route"
            )
        if self.device == "cuda" and (problem := gpu_problem()) is not None:
            raise SetupError(f"no GPU can be used: {problem}")
