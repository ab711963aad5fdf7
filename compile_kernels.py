"""Compile CPU kernels for the wheel: ``python compile_kernels.py FOLDER usual`` or ``all``.

``usual`` leaves those of `run_seldom_commands` to their first use, which takes 2 to 20 s then.
`hatch_build.py` runs it in a process of its own, since Numba reads the processor to compile for
from the environment when it is imported.
"""

from __future__ import annotations

import contextlib
import io
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from groute_py.kernels.cpu import ahead

GRAPHS = {
    "integers.gr": "int32",
    "sorted.gr": "int32",
    "small.csr": "int32",
    "floats.mtx": "float64",
}
"""Files of one small graph, and the types of their weights."""

UNSORTED = ("integers.gr", "floats.mtx")
"""Texts whose arcs do not come in the order of their tails, as in many files."""

NAMED = "from,to,km\nOslo,Bergen,463\nBergen,Stavanger,210\n"
"""A table of roads between names."""

COMMANDS = (
    ("sssp", "integers.gr", "--verify"),
    ("sssp", "named.csv", "--undirected"),
    ("sssp", "sorted.gr"),
    ("sssp", "small.csr"),
    ("sssp", "floats.mtx"),
    ("bfs", "integers.gr"),
    ("nearest", "integers.gr", "--facilities", "1,5", "-o", "nearest.csv"),
    ("apsp", "integers.gr", "--reduce", "max"),
    ("sssp", "integers.gr", "--prepare"),
    ("prepare", "integers.gr", "-o", "it.prepared"),
)

SELDOM = (
    *(
        ("route", "it.prepared", "--from", "1", "--to", "500", *words, "-o", "routes.csv")
        for words in ((), ("-k", "2"), ("-k", "2", "--loops"), ("--alternatives", "1"))
    ),
    (
        *("isochrone", "it.prepared", "--each", "--from", "random:20", "--limits", "9"),
        *("-o", "reach.csv"),
    ),
)
"""The last has more trees within a cutoff than sweeps find: `PATIENCE` of CPU contraction."""


def main(target: Path, which: str) -> None:
    """Run usual or all commands on the CPU, and save what they have compiled."""
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["NUMBA_CPU_NAME"] = ahead.CPU.get(platform.machine(), "generic")
        os.environ["NUMBA_CPU_FEATURES"] = ""  # those of the name
        os.environ["NUMBA_CACHE_DIR"] = scratch
        os.environ["GROUTE_PY_CACHE"] = scratch
        target = target.resolve()
        os.chdir(scratch)
        from groute_py.kernels.cpu.kernel import KERNELS

        run_commands()
        if which == "all":
            run_seldom_commands()
        print(ahead.save(KERNELS, target))


def run_commands() -> None:
    """Run usual commands on the CPU, on graphs that are written to this folder."""
    from groute_py import generate, write_graph
    from groute_py.system import threads

    threads.available_cores = lambda: 2
    Path("named.csv").write_text(NAMED)
    graph = generate("road:30x30")
    for name, kind in GRAPHS.items():
        write_graph(graph.with_weights(graph.weights.astype(kind)), name)
    for name in UNSORTED:
        _reverse_arcs(Path(name))
    _run(COMMANDS)


def run_seldom_commands() -> None:
    """Find routes, cross rasters, use an order from separators and teams of threads.

    After `run_commands`.
    """
    _run(SELDOM)
    cross_rasters()
    answer_by_labels()
    assign_trips()
    solve_by_teams()


def solve_by_teams() -> None:
    """Solve by several threads, which only large graphs are worth otherwise."""
    from groute_py.device.cpu import team

    team.ARCS_A_THREAD = team.LEAST_ARCS = 1
    _run([("sssp", name) for name in UNSORTED])


def answer_by_labels() -> None:
    """Ask an order from separators for all that it answers; that of a forest needs no METIS."""
    import numpy as np

    from groute_py import customize

    town, ends = customize("road:1x300", device="cpu"), np.arange(300)
    town.pairs([0], [1])  # of few pairs without labels
    town.matrix(ends, ends)
    town.update([1, 2], arcs=[0, 1])
    town.paths(ends, ends)
    town.rows(ends)


def assign_trips() -> None:
    """Assign trips, with skims, on a forest, whose order needs no METIS."""
    from groute_py import BPR, assign, generate

    graph = generate("road:1x300")
    times = BPR(graph.weights + 1.0, 9)
    assign(graph, ([0], [1], [1.0]), times=times, iterations=2, skims=["cost"], device="cpu")


def cross_rasters() -> None:
    """Find all that a raster is asked for."""
    import numpy as np

    from groute_py import cost_distance

    for kind in ("float32", "float64"):
        words = {"allocation": True, "back_direction": True}
        cost_distance(np.ones((9, 9), kind), [(0, 0)], **words, device="cpu").path(8, 8)


def _run(commands: Sequence[tuple[str, ...]]) -> None:
    from groute_py.cli.main import commands as program

    for words in commands:
        with contextlib.redirect_stdout(io.StringIO()):
            options = ["--device", "cpu", "--no-cache", "--json"]  # tables would need Rich
            program.main([*words, *options], standalone_mode=False)


def _reverse_arcs(path: Path) -> None:
    """Turn round the last half of the lines, which are arcs."""
    lines = path.read_text().splitlines()
    half = len(lines) // 2
    path.write_text("\n".join([*lines[:half], *reversed(lines[half:])]) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
