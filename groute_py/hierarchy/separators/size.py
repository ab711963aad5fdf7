"""Sizes of a hierarchy from separators, and graphs that have no small ones."""

from __future__ import annotations

from groute_py.errors import GraphError, quoted

MOST_ARCS, MOST_TRIANGLES = 2**30 - 1, 2**31 - 1
"""Of a hierarchy: two weights an arc, and the triangles, are counted by 32 bits."""

REMEDY = "contraction (groute_py.prepare) or a solve without a hierarchy takes such graphs"


def refuse_wide(name: str, core: int, separator: int) -> None:
    """Raise `GraphError` if the first separator, whose vertices become a clique, is too wide."""
    triangles = separator * (separator - 1) * (separator - 2) // 6
    if triangles > MOST_TRIANGLES:
        raise GraphError(
            f"{quoted(name)} has no small separators: half of its {core:,} branching vertices are "
            f"parted from the others by {separator:,}, which alone give {triangles:,} triangles "
            f"of at most {MOST_TRIANGLES:,}; {REMEDY}"
        )


def refuse_fill(name: str, arcs: int, triangles: int, done: int, vertices: int) -> None:
    """Raise `GraphError` for a graph whose elimination was given up after ``done`` vertices."""
    raise GraphError(
        f"{quoted(name)} has no small separators: {done:,} of its {vertices:,} vertices already "
        f"give {arcs:,} arcs (at most {MOST_ARCS:,}) and {triangles:,} triangles (at most "
        f"{MOST_TRIANGLES:,}) of the hierarchy; {REMEDY}"
    )
