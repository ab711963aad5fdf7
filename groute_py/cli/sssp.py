"""``groute-py sssp``: shortest paths from one source."""

from __future__ import annotations

import signal
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import show
from groute_py.cli import telemetry as telemetering
from groute_py.cli.number import number
from groute_py.cli.options import algorithm_option, cache_value, graph_argument, solve_options
from groute_py.cli.signals import on_signal
from groute_py.cli.watch import watched
from groute_py.errors import InputError, NegativeCycleError, TimeLimitError, everywhere, printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groute_py.engine.options import Options
    from groute_py.engine.solver import Solver
    from groute_py.engine.supply.base import Supply
    from groute_py.graph.columns import Columns
    from groute_py.graph.facts import Facts
    from groute_py.result import Result

GRACE_S = 1.0
"""After the time limit ranks get so long to notice it together, in order."""


@click.command()
@graph_argument
@algorithm_option
@click.option(
    "--delta", type=float, help="Δ of delta-stepping, in units of weight.  [chosen by the graph]"
)
@click.option("--cutoff", type=number, help="Leave vertices that are farther unreached.")
@click.option(
    "--prepare", is_flag=True, help="On GPUs: spend time on loading so that each solve takes less."
)
@solve_options
def sssp(graph: str, **given: Any) -> None:
    """Shortest paths from one source to every vertex of GRAPH.

    GRAPH is a file (known by its content: DIMACS, Matrix Market, edge lists, METIS, GAPBS, Galois,
    SciPy .npz, Parquet, dense matrices, our .csr; plain, .gz, .xz, .zst or .bz2) or a generated
    graph: road:WxH, rmat:SCALE[,EDGEFACTOR], random:N,M.
    """
    run(graph, **given)


def run(
    graph: str,
    *,
    source: str | None,
    targets: tuple[str, ...],
    output: str | None,
    output_format: str | None,
    check: bool,
    trials: int,
    telemetry: str | None,
    as_json: bool,
    undirected: bool,
    columns: Columns,
    cache: Any,
    **choices: Any,
) -> None:
    """Read, solve, save and show: what commands that solve have in common.

    Args:
        graph, source, targets: as on the command line.
        output, output_format: where the answer goes, or None.
        check: whether to verify it.
        trials: how often to solve.
        as_json: how to show it.
        undirected, columns, cache: how to read the graph.
        choices: of `Options`, but with ``no_predecessors`` and ``time_limit``.
    """
    from groute_py.api import supply_of
    from groute_py.comm.connect import connect
    from groute_py.engine.agree import on_root
    from groute_py.engine.solver import Solver

    start = time.monotonic()
    options = _options(graph, choices, bool(targets))
    channel = connect()
    _set_alarm(options.time_limit_s)  # once MPI runs: only then can a late rank end the others
    click.get_current_context().with_resource(watched(channel))

    files = {"GRAPH": graph, "--output": output, "--telemetry": telemetry}
    on_root(channel, lambda: _check_before_reading(options, files, output_format))
    with show.progress(f"reading {graph}") as progress:
        supply = supply_of(
            graph,
            channel,
            whole=check or options.renumbers,
            undirected=undirected,
            cache=cache_value(cache),
            progress=progress,
            columns=columns,
        )
    read_s = time.monotonic() - start
    solver = Solver(supply, channel, options)
    name = solver.facts.name
    index = on_root(channel, lambda: _index_of(solver, source))
    ends = on_root(channel, lambda: _indices_of(solver, targets))
    wanted = [] if output else ends  # a saved answer is complete

    def solve() -> Result | None:
        try:
            result = solver.solve(index, wanted)
        except NegativeCycleError:
            on_root(channel, lambda: _say_negative_cycle(output, output_format))
            raise
        on_root(channel, lambda: _verify(supply, result, options) if check else None)
        return result

    times, result = [], None
    with telemetering.record(telemetry, solver.gpu) as record:
        for _ in range(trials):
            result = solve()
            times.append(result.statistics["seconds"]["solve"] if result is not None else 0.0)
    gpus = telemetering.report(channel, record, telemetry)
    paths = on_root(channel, lambda: _finish(name, result, targets, output, output_format))
    solver.close()
    if result is not None:
        seconds = {"read": read_s, **result.statistics["seconds"]}
        seconds["total"] = time.monotonic() - start
        rows = _rows(solver.facts, result, seconds, times)
        rows |= {"verified": check} if check else {}
        rows |= {"output": output} if output else {}
        rows |= {"telemetry": gpus} if telemetry else {}
        _show(rows, paths, as_json=as_json, aside=_is_stdout(output) or _is_stdout(telemetry))


def _options(graph: str, choices: dict[str, Any], wants_paths: bool) -> Options:
    from groute_py.engine.options import Options
    from groute_py.graph.coordinates import coordinates_beside

    no_predecessors = choices.pop("no_predecessors")
    if no_predecessors and wants_paths:
        clash = "--target prints a path, which --no-predecessors leaves out; drop one"
        raise everywhere(InputError(clash))
    limit = choices.pop("time_limit")
    choices["coordinates"] = choices["coordinates"] or coordinates_beside(graph)
    return Options(**choices, predecessors=not no_predecessors, time_limit_s=limit)


def _set_alarm(time_limit_s: float | None) -> None:
    """End a rank after the time limit, whatever it is doing."""
    from groute_py.engine.options import LONGEST_LIMIT_S

    if time_limit_s is None or not 0 < time_limit_s <= LONGEST_LIMIT_S:
        return  # none, or one that the check of the options refuses

    def too_late() -> TimeLimitError:
        return TimeLimitError(f"the time limit of {time_limit_s} s passed; nothing was written")

    on_signal(signal.SIGALRM, too_late)
    signal.setitimer(signal.ITIMER_REAL, time_limit_s + GRACE_S)


def _check_before_reading(options: Options, files: dict[str, str | None], form: str | None) -> None:
    from groute_py.graph.atomic import check_apart, check_writable
    from groute_py.graph.there import is_file_there
    from groute_py.result import check_output

    options.check()
    if options.coordinates is not None and not is_file_there(options.coordinates):
        raise InputError(f"{options.coordinates}: no such file of coordinates")
    output, telemetry = files["--output"], files["--telemetry"]
    if output is not None:
        check_output(output, form)
    elif form is not None:
        raise InputError(f"--output-format {form} needs --output FILE")
    if telemetry is not None:
        check_writable(Path(telemetry))
    check_apart({**files, "--coordinates": options.coordinates})


def _index_of(solver: Solver, source: str | None) -> int:
    assert solver.numbering is not None
    if source is None:
        return solver.facts.start
    return solver.numbering.index_of(source, "source", solver.facts.name)


def _indices_of(solver: Solver, targets: tuple[str, ...]) -> list[int]:
    assert solver.numbering is not None
    name = solver.facts.name
    return [solver.numbering.index_of(target, "target", name) for target in targets]


def _say_negative_cycle(output: str | None, form: str | None) -> None:
    """Programs that read ``matrix-distances`` look for this line."""
    from groute_py.graph.atomic import replacing, told
    from groute_py.result_files import NEGATIVE_CYCLE

    if output is not None and form == "matrix-distances":
        with told(Path(output)), replacing(Path(output)) as file:
            file.write(NEGATIVE_CYCLE.encode())


def _verify(supply: Supply, result: Result | None, options: Options) -> None:
    from groute_py.verification import verify

    assert result is not None
    graph = supply.graph()
    bounds = [b for b in (options.cutoff, result.statistics["bound"]) if b is not None]
    verify(
        graph.with_unit_weights() if options.hops else graph,
        result,
        cutoff=min(bounds, default=None),
    )


def _finish(
    graph: str,
    result: Result | None,
    targets: tuple[str, ...],
    output: str | None,
    output_format: str | None,
) -> list[dict[str, Any]]:
    """Find paths, then save: nothing is saved when a target is wrong."""
    assert result is not None
    paths = [_path(graph, result, target) for target in targets]
    if output is not None:
        result.save(output, output_format)
    return paths


def _path(graph: str, result: Result, target: str) -> dict[str, Any]:
    numbering = result.numbering
    index = numbering.index_of(target, "target", graph)
    distance = result.distances[index].item() if result.reached[index] else None
    path = [numbering.id_of(vertex) for vertex in result.path_to(index)]
    return {"target": numbering.id_of(index), "distance": distance, "path": path}


def _rows(
    facts: Facts, result: Result, seconds: dict[str, float], times: list[float]
) -> dict[str, Any]:
    reached = result.distances[result.reached]
    rows = {
        "graph": facts.name,
        "vertices": facts.vertex_count,
        "arcs": facts.arc_count,
        "source": result.numbering.id_of(result.source),
        "reached": len(reached),
        "greatest_distance": reached.max().item(),
        "sum_of_distances": _total(reached),
        "seconds": seconds,
        "statistics": {k: v for k, v in result.statistics.items() if k != "seconds"},
    }
    if len(times) > 1:
        rows["trials"] = {"solve_seconds": times, "median": statistics.median(times)}
    return rows


def _total(distances: NDArray[Any]) -> float | None:
    """Their sum: of integers exact, of floats None where it is out of range."""
    import numpy as np

    if distances.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return show.finite(distances.sum(dtype=np.float64).item())
    high, low = distances >> 32, distances & 0xFFFFFFFF
    return (int(high.sum()) << 32) + int(low.sum())


def _is_stdout(file: str | None) -> bool:
    from groute_py.graph.streams import STDOUT, own_descriptor

    return file is not None and own_descriptor(Path(file)) == STDOUT


def _show(rows: dict[str, Any], paths: list[dict[str, Any]], *, as_json: bool, aside: bool) -> None:
    if as_json:
        show.answer(rows | ({"paths": paths} if paths else {}), as_json=True, aside=aside)
        return
    figures, seconds = rows.pop("statistics"), rows.pop("seconds")
    ranks, arcs = figures["ranks"], max(rows["arcs"], 1)
    window = f", Δ {figures['delta']}" if figures["delta"] else ""
    rows["method"] = f"{figures['algorithm']}{window} ({figures['choice']})"
    if figures["settled"]:
        rate = figures["settled"] / max(figures["steps"], 1)
        rows["settled"] = f"{rate:.2f} vertices a round, {figures['steps']:,} rounds"
    rows["ranks"] = f"{ranks} ({', '.join(sorted(set(figures['devices'])))})"
    rows["relaxations"] = f"{figures['relaxations'] / arcs:.2f} per arc"
    if ranks > 1:
        rows["mode"] = f"{figures['mode']} ({figures['reason']})"
        rows["order"] = figures["order"]
        rows["cut"] = f"{figures['cut']:,} arcs, imbalance {figures['imbalance']:.2f}"
        rows["bytes_sent"] = sum(map(sum, figures["bytes_sent"]))
    if "trials" in rows:
        trials = rows.pop("trials")
        rows["solve_median"] = f"{1e3 * trials['median']:.2f} ms of {len(trials['solve_seconds'])}"
    for gpu, told in rows.pop("telemetry", {}).items():
        rows[gpu] = ", ".join(f"{name.replace('_', ' ')} {told[name]:,.6g}" for name in told)
    rows["time"] = ", ".join(f"{phase} {1e3 * s:.1f} ms" for phase, s in seconds.items())
    show.answer(rows, as_json=False, aside=aside)
    for found in paths:
        for line in _path_text(found):
            click.echo(printable(line), err=aside)


def _path_text(found: dict[str, Any]) -> list[str]:
    if found["distance"] is None:
        return [f"no path to {found['target']}"]
    steps = " → ".join(map(str, found["path"]))
    return [f"path to {found['target']}, length {found['distance']}:", f"  {steps}"]
