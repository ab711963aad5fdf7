"""Values of options: names that users choose from, and checks of what they give."""

from __future__ import annotations

from typing import Any

from groute_py.errors import (
    InputError,
    check_cutoff,
    check_number,
    check_positive,
    check_whole_number,
)

METHODS = {
    "floyd": "blocked Floyd-Warshall on the whole matrix",
    "heap": "Dijkstra with a heap and decrease-key, a source for each warp or core",
    "batch": "near-far Δ-stepping, a source for each block or core",
    "sweep": "a contraction hierarchy, then sweeps from several sources at once",
    "single": "near-far Δ-stepping by all of a GPU, one source after the other",
}
"""The methods for rows by name."""

DEVICES = ("auto", "cpu", "cuda")

OBJECTIVES = SHORTEST, *_ = ("shortest", "minimax", "widest", "reliable", "fewest-arcs")
"""Names of what the best path may be; see `groute_py.graph.objectives`."""

LONGEST_LIMIT_S = 1e8
"""Three years; timers cannot take much more."""


def check_algorithm(name: Any) -> None:
    """Refuse what is neither ``auto`` nor the name of an algorithm."""
    if isinstance(name, str) and name == "auto":
        return
    from groute_py.engine.algorithms.methods import check_name

    check_name(name)


def check_objective(objective: Any) -> None:
    """Refuse what is neither the name of an objective nor an expression."""
    if isinstance(objective, str) and objective == "shortest":
        return
    from groute_py.graph import objectives  # which loads NumPy

    objectives.check_objective(objective)


def check_amount(cutoff: Any, objective: str) -> None:
    """Refuse what is no cutoff of values of an objective; it may end in a unit."""
    if isinstance(cutoff, str) and cutoff[-1:].isalpha():
        from groute_py.graph.units import number_of  # which loads NumPy

        try:
            cutoff = number_of(cutoff, None)
        except InputError as problem:
            raise InputError(f"cutoff {problem}") from None
    check_cutoff(cutoff, objective)


def check_time_limit(seconds: Any) -> None:
    """Refuse what no timer takes."""
    check_number("time limit", seconds)
    if not 0 < seconds <= LONGEST_LIMIT_S:
        limits = f"more than 0 and at most {LONGEST_LIMIT_S:.0f} seconds"
        raise InputError(f"the time limit must be {limits}, not {seconds}")


def check_turns(turns: Any) -> None:
    """Refuse what is no table of turns."""
    from groute_py.io import turn_files  # which takes NumPy

    turn_files.check_turns(turns)


def check_count(what: str, value: Any) -> None:
    """Refuse what is not a whole number, 1 or more."""
    check_whole_number(what, value)
    check_positive(what, value)
