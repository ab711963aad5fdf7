"""Jobs: questions about a graph that is open on all ranks.

A job is a class with `check`, `shared_arguments` and `run`: see `groute_py.many.opened.Job`. A
public function, a method of `Solver` and a command make the same job, and `Opened.answer` runs it.
Read `tree` first.

Five words: a *position* is a vertex, counted from 0; a *state* is a vertex of the graph that is
solved, which turns may have expanded; a *number* counts the sources, facilities or pairs of a job,
from 0; *places* are coordinates; the *root* is an extra vertex with arcs to several others, but in
`on_root` and `at_root`, as in MPI, it is rank 0.

- Jobs: `tree` (of ``sssp`` and ``bfs``), `rows` (of ``apsp``), `matrix`, `nearest`, which leaves
  ``k > 1`` to `k_nearest`, `isochrone` and `route`. The commands are in `groute_py.cli`.
- Their answers, where a module of their own holds them: `facilities`, `isochrones` and `routes`.
- Below `route`: `pairs` shares the sources among ranks, `searches` searches on the cores of one.
- Before them: `prepare`. Above all: `solver`, with a method for each job, also for that of
  `groute_py.centrality.measures`, and `questions`, the JSON lines of ``query``.
"""
