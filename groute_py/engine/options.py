"""Options of users, each written once.

A new option is a field here. `tests/repository/option_tables.py` then writes the keywords of Python
(`groute_py.engine.keywords`); commands take it by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groute_py.engine import functions, option_values
from groute_py.engine.option import Option, checks_of, names_in, option, options_of
from groute_py.errors import (
    InputError,
    SetupError,
    check_positive,
    file_path,
    plain,
)
from groute_py.io.formats.osm.profiles import PROFILES
from groute_py.partition.cutting import Cutting
from groute_py.system.settings import settings

if TYPE_CHECKING:
    from groute_py.graph.facts import Facts

_BEST = (
    "What the best path is: shortest, or the one of the least greatest weight (minimax), of the "
    "greatest least weight (widest), of the greatest product of probabilities (reliable), or of "
    "the fewest arcs, and the shortest of those (fewest-arcs)"
)

CONTRACTING = ("auto", "contraction", "sweep")
"""The algorithms that a hierarchy is for."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of a solve; the same on every rank, but for what may differ by rank."""

    algorithm: str = option(
        "auto",
        "The method, by a name that groute-py algorithms lists; auto chooses by the graph.",
        of=functions.ONE_SOURCE,
        metavar="NAME",
        check=option_values.check_algorithm,
        others=[
            Option(
                "The method; auto takes the shortest estimated time.",
                of=functions.ROWS,
                choices=("auto", *option_values.METHODS),
                default="auto",
            )
        ],
    )
    objective: str = option(
        "shortest",
        f"{_BEST}; or an expression for the value of a path with one more arc, such as "
        "'max(distance, weight)'.",
        in_python="An expression has `distance`, the value of the path before, `weight`, numbers, "
        "`+ - *`, `min`, `max`, `abs`, `a if b < c else d`, and `/`, `//` or `%` by a positive "
        "number. The value of the source is 0, less is better, and no arc may improve a path",
        of=functions.ONE_SOURCE,
        metavar="NAME|EXPRESSION",
        check=option_values.check_objective,
        others=[
            Option(
                f"{_BEST}.",
                of=("nearest", "query", *functions.ROUTES_TOO),
                choices=option_values.OBJECTIVES,
                default="shortest",
            )
        ],
    )
    delta: float | None = option(
        None,
        "Δ of delta-stepping, the width of a bucket, in units of weight.",
        of=functions.ONE_SOURCE,
        unset="chosen by the graph",
        metavar="WIDTH",
        check=partial(check_positive, "delta"),
    )
    device: str = option(
        "auto",
        "The processor; auto takes a GPU if CUDA finds one.",
        choices=option_values.DEVICES,
        per_rank=True,
        of=(*functions.REACH_TOO, "query"),
        others=[
            Option(
                "The processor; auto takes a GPU if CUDA finds one, but the CPU for little work.",
                in_python="Work is little if one rank finishes it before a GPU is ready",
                of=functions.MEASURES_TOO,
                choices=option_values.DEVICES,
                per_rank=True,
                default="auto",
            )
        ],
    )
    threads: int | None = option(
        None,
        "How many threads this process may use; never more than it has cores.",
        in_python="The answer is the same with any number",
        unset="``OMP_NUM_THREADS`` or ``NUMBA_NUM_THREADS``, else one for each core",
        per_rank=True,
        check=partial(option_values.check_count, "threads"),
        of=(*functions.REACH_TOO, *functions.MEASURES_TOO),
        terminal=False,  # there it is one of those for reading a graph
    )
    partition: str = option(
        "arcs",
        "What the parts of all ranks have equally many of; first gives everything to rank 0.",
        choices=("arcs", "vertices", "first"),
        of=functions.REACH_TOO,
    )
    predecessors: bool = option(
        True,
        "Find the shortest-path tree too.",
        off="Find distances only.",
        others=[
            Option(
                "Find the predecessors too, which are the shortest-path trees.",
                flag="--paths",
                in_python="Not with `floyd` and float weights",
                of=functions.ROWS,
                default=False,
            )
        ],
    )
    reverse: bool = option(
        False,
        "Solve for the distances to the source instead of from it.",
        of=(*functions.EVERYWHERE, "isochrone", "query"),
        others=[
            Option(
                "Solve for the distances to the sources instead of from them.",
                of=functions.MEASURES_TOO,
                default=False,
            )
        ],
    )
    turns: Any = option(
        None,
        "A table of turns with costs, or forbidden ones.",
        in_python="The path of a file, or rows of (tail, via, head, cost) or (arc, arc, cost)",
        unset="every turn costs 0",
        metavar="FILE",
        per_rank=True,
        check=option_values.check_turns,
        of=("sssp", "open", "nearest", "isochrone", "query", *functions.ROUTES_TOO),
    )
    cutoff: float | str | None = option(
        None,
        "Leave vertices that are farther unreached.",
        in_python="An error if a weight is negative. In arcs for `bfs`, else in units of weight, "
        'or with a unit, as `"5min"`',
        unset="no cutoff",
        metavar="DISTANCE",
        exact=True,
        of=(*functions.NEAREST_TOO, *functions.ROUTES_TOO),
    )
    time_limit_s: float | None = option(
        None,
        "Give up after so many seconds.",
        in_python="A solve that takes longer ends with `TimeLimitError`; reading the graph does "
        "not count",
        unset="no limit",
        metavar="SECONDS",
        per_rank=True,
        check=option_values.check_time_limit,
        of=functions.REACH_TOO,
    )
    mode: str = option(
        "auto",
        "How GPUs exchange distances; auto takes fused where it can run.",
        choices=("auto", "fused", "rounds"),
        of=functions.REACH_TOO,
    )
    order: str = option(
        "auto",
        "Renumber the vertices before they are divided among ranks, so that neighbours share one.",
        in_python="`rcm` needs SciPy. Results keep the graph's own numbers",
        choices=("auto", "none", "bfs", "rcm", "hilbert"),
    )
    coordinates: str | Path | None = option(
        None,
        "Coordinates of the vertices for order hilbert: a DIMACS .co file or a table of vertices.",
        unset="the graph's, or the .co file beside it",
        metavar="FILE",
        per_rank=True,
        check=partial(file_path, "coordinates"),
    )
    download: bool = option(
        True,
        "Bring the answer to host memory; False leaves it on the GPU as CuPy arrays.",
        in_python='An error unless one rank solves on a GPU and `order` is `"auto"` or `"none"`',
        of=functions.NEAREST_TOO,
        terminal=False,
    )
    profile: str | None = option(
        None,
        "Who travels, of an extract of OpenStreetMap.",
        choices=tuple(PROFILES),
        unset="car",
        per_rank=True,
        of=(*functions.REACH_TOO, *functions.MEASURES_TOO),
        terminal=False,  # there it is one of those for reading a graph
    )
    prepare: bool = option(
        False,
        "Spend time on loading so that each solve takes less.",
        of=(*functions.ONE_SOURCE, "query"),
        others=[
            Option(
                "Contract the graph first, and keep it in the cache, if it suits.",
                in_python="For `auto` and `sweep`. For a `matrix` an order from separators is made "
                "instead where that takes less",
                of=functions.ROWS,
                default=False,
            ),
            Option(
                "Order the graph by separators, and keep the order in the cache, where that pays.",
                of=("route",),
                default=False,
            ),
        ],
    )
    carry: Sequence[str] = option(
        (),
        "Sum this column of the graph along the paths too, such as the length of the fastest.",
        flag="--with",
        in_python="Names of columns. Of several paths that are equally short the answer's own "
        "counts, of parallel arcs the lightest, and of these the first",
        metavar="COLUMN",
        of=(*functions.NEAREST_TOO, "matrix", "route"),
    )
    hops: bool = option(
        False, "Count arcs instead of adding weights, as bfs does.", of=("open",), terminal=False
    )
    memory_limit: int | None = option(
        None,
        "How much of the GPU's memory may be used, in bytes; on a CPU, by the matrix of floyd.",
        of=functions.MEASURES_TOO,
        unset="all that is free",
        metavar="SIZE",
        check=partial(option_values.check_count, "memory limit"),
    )

    def __post_init__(self) -> None:
        for name in ("delta", "cutoff", "time_limit_s", "memory_limit", "threads"):
            object.__setattr__(self, name, plain(getattr(self, name)))
        object.__setattr__(self, "carry", names_in("carry (--with)", self.carry))

    @classmethod
    def of_environment(cls, **choices: Any) -> Options:
        """Return options for the device that the environment names."""
        return cls(device=settings().device, **choices)

    @property
    def bound(self) -> float | None:
        """Return the cutoff, which is a number once the graph is open."""
        assert not isinstance(self.cutoff, str)
        return self.cutoff

    @property
    def cutting(self) -> Cutting:
        """Return how to cut the graph."""
        return Cutting(self.partition, self.order, self.coordinates)

    @property
    def keeps_prepared(self) -> bool:
        """Return whether the hierarchy of a file is to be kept in the cache, or read from there."""
        return self.prepare and not self.hops and self.algorithm in CONTRACTING

    @property
    def loads_late(self) -> bool:
        """Return whether a graph that is to be contracted may wait with it for a first tree."""
        is_plain = self.turns is None and self.delta is None and not self.cutting.renumbers
        is_usual = self.algorithm == self.mode == "auto" and self.download
        return self.keeps_prepared and is_plain and is_usual

    def with_coordinates(self, graph: object) -> Options:
        """Return options with the coordinate file beside the graph's, if none is named."""
        if self.turns is not None:  # an expansion has more vertices than the file
            return self
        from groute_py.io.coordinates import coordinates_beside

        return replace(self, coordinates=self.coordinates or coordinates_beside(graph))

    def restricted(self, function: str) -> Options:
        """Those that a function takes; all others have their defaults."""
        return Options(**{e.name: getattr(self, e.name) for e, _ in options_of(Options, function)})

    def of_rows(self) -> dict[str, Any]:
        """Keywords of `groute_py.apsp` for a method and of its answer."""
        return {"algorithm": self.algorithm, "predecessors": self.predecessors}

    def refuse(self, name: str, job: str) -> None:
        """Raise `InputError` if an option is given, cutoff or turns, that a job does not take."""
        if getattr(self, name) is not None:
            raise InputError(f"{name}: not for {job}; open without it")

    def refuse_changes(self, job: str) -> None:
        """Raise `InputError` if the solved graph is not the given one, which a job needs."""
        self.refuse("turns", job)
        self.refuse_objective(job)

    def refuse_objective(self, job: str) -> None:
        """Raise `InputError` if a job answers for other paths than the objective's."""
        takers = (
            functions.OF_NAMES
            if self.objective in option_values.OBJECTIVES
            else functions.OF_EXPRESSIONS
        )
        if self.objective != option_values.SHORTEST and job not in takers:
            names = ", ".join(takers)
            raise InputError(
                f"objective {self.objective}: for {names} with one path, not for {job}"
            )

    def check(self, function: str = "open") -> None:
        """Raise `InputError` for values that make no sense to a function.

        Raises `SetupError` where rows are to be solved for on a GPU and there is none.
        """
        for name, traits in checks_of(Options, function):
            if (value := getattr(self, name)) is not traits.default:
                traits.refuse(name, value)
        if self.cutoff is not None:
            option_values.check_amount(self.cutoff, self.objective)
        if self.hops and isinstance(self.cutoff, str):
            raise InputError("cutoff: hops have no unit; give a number of arcs")
        if function in functions.MEASURES_TOO:
            self._check_for_rows(function)
        elif self.turns is not None:
            self._check_with_turns()
        if self.objective != option_values.SHORTEST:
            self._check_objective()
        if self.carry and self.turns is not None:
            raise InputError("with turns no column is summed along paths; leave out carry (--with)")

    def _check_for_rows(self, function: str) -> None:
        from groute_py.device.registry import gpu_problem

        if function in functions.ROWS and self.turns is not None and self.predecessors:
            raise InputError(
                "with turns there are no predecessors, as the shortest paths are no tree; leave "
                "them out (--paths, predecessors=False), and find paths by route"
            )
        if self.device == "cuda" and (problem := gpu_problem()) is not None:
            raise SetupError(f"no GPU can be used: {problem}")

    def _check_objective(self) -> None:
        others = {
            "turns": self.turns is not None,
            "hops": self.hops,
            "prepare": self.prepare,
            "download=False": not self.download,
            "carry (--with)": bool(self.carry) and self.objective not in option_values.OBJECTIVES,
        }
        if (wrong := next((name for name, there in others.items() if there), None)) is not None:
            raise InputError(f"objective {self.objective}: not with {wrong}; leave one out")

    def _check_with_turns(self) -> None:
        if self.hops:
            raise InputError("turns have costs, and hops count arcs; leave one of them out")
        if not self.download:
            raise InputError("answers with turns are made on the host; leave out download=False")
        if self.coordinates is not None:
            raise InputError("coordinates do not suit expansion by turns; leave one of them out")

    def check_against(self, facts: Facts) -> None:
        """Raise `InputError` for what the graph does not allow."""
        if facts.vertex_count == 0:
            raise InputError(f"{facts.name} has no vertices, so there is no source")
        if facts.has_negative and self.cutoff is not None:
            raise InputError(
                f"{facts.name} has a negative weight ({facts.least}), with which a path may come "
                "back below a cutoff; solve without it"
            )
