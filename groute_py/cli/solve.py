"""``groute-py sssp``, ``bfs`` and ``verify``: solve from one source, check, save and show."""

from __future__ import annotations

import statistics
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import records, show
from groute_py.cli.amounts import Integer, number
from groute_py.cli.options import (
    arc_weights_option,
    graph_argument,
    json_option,
    no_turns,
    solve_options,
    source_options,
)
from groute_py.cli.ranks import on_rank_0, read_graph
from groute_py.cli.runner import Runner
from groute_py.cli.signals import raise_heard
from groute_py.errors import (
    InputError,
    NegativeCycleError,
    VerificationError,
    everywhere,
    printable,
)
from groute_py.system.clock import phase
from groute_py.system.paths import is_stdout

if TYPE_CHECKING:
    from groute_py.graph.facts import Facts
    from groute_py.io.tables.columns import Columns
    from groute_py.many.opened import Opened
    from groute_py.results.result import Result


@click.command()
@graph_argument
@solve_options("sssp")
def sssp(graph: str, **arguments: Any) -> None:
    """Shortest paths from one source to every vertex of GRAPH.

    GRAPH is a file (known by its content: DIMACS, Matrix Market, edge lists, METIS, GAPBS, Galois,
    SciPy .npz, Parquet, dense matrices, extracts of OpenStreetMap, our .csr and .prepared; plain,
    .gz, .xz, .zst or .bz2), a generated graph (road:WxH, rmat:SCALE[,EDGEFACTOR], random:N,M), or
    one to download (dimacs:NY, snap:web-Google).
    """
    _solve("sssp", graph, **arguments)


@click.command()
@graph_argument
@no_turns
@solve_options("bfs", cutoff={"type": Integer(0, 2**62), "metavar": "ARCS"})
def bfs(graph: str, **arguments: Any) -> None:
    """Breadth-first search: the least number of arcs from one source to every vertex of GRAPH.

    GRAPH is as for sssp; its weights are not looked at.
    """
    _solve("bfs", graph, algorithm="bfs", hops=True, **arguments)


@click.command()
@graph_argument
@click.argument("result")
@click.option(
    "--cutoff",
    type=number,
    help="The cutoff the result was computed with; RESULT has the bound of its targets.",
)
@click.option("--hops", is_flag=True, help="RESULT is of bfs: every arc counts 1.")
@click.option("--turns", metavar="FILE", help="The turns that RESULT was computed with.")
@click.option("--objective", default="shortest", help="The objective of RESULT.")
@arc_weights_option
@source_options
@json_option
@on_rank_0
def verify(
    graph: str,
    result: str,
    cutoff: int | float | None,
    hops: bool,
    turns: str | None,
    objective: str,
    columns: Columns,
    cache: Any,
    as_json: bool,
) -> None:
    """Check RESULT (.npz) against GRAPH by the optimality certificate.

    Ends with code 3 and the first wrong vertex if it is not a shortest-path answer.
    """
    from groute_py.results.result import read_result
    from groute_py.results.verification import verify as certify

    saved = read_result(result)
    whole = read_graph(graph, columns, cache, turns)
    with phase("verify"):
        try:
            certify(whole, saved, cutoff=cutoff, hops=hops, objective=objective)
        except VerificationError as error:
            if hops or objective != "shortest":
                raise
            advice = "a result of bfs needs --hops, one of an objective --objective"
            raise VerificationError(f"{error}; {advice}") from None
    rows: dict[str, Any] = {
        "verified": True,
        "graph": whole.name,
        "result": result,
        "source": whole.numbering.id_of(saved.source),
        "reached": int(saved.reached.sum()),
        "predecessors_checked": saved.predecessors is not None,
    }
    show.answer(rows, as_json=as_json)


def _solve(
    function: str,
    graph: str,
    *,
    source: str | None,
    targets: tuple[str, ...],
    output_format: str | None,
    check: bool,
    trials: int,
    telemetry: str | None,
    **arguments: Any,
) -> None:
    run = Runner(function, graph, arguments, coordinates=arguments.get("coordinates"))
    from groute_py.graph.direction import Direction
    from groute_py.graph.ids import Positions
    from groute_py.jobs.tree import TreeJob

    options, output = run.options, run.output
    output_format = output_format or (None if output is None or run.keeps else "csv")
    if targets and not options.predecessors:
        clash = "--target prints a path, which --no-predecessors leaves out; drop one"
        raise everywhere(InputError(clash))
    run.outputs["--telemetry"] = telemetry
    run.connect(partial(_check, run, output_format), begins_device=True)
    run.read(Direction(options.reverse), whole=check or options.cutting.renumbers)
    records.begin("device")
    with run.opened as opened:
        solver = opened.source_solver
        records.begin("solve")
        begin, ends = run.on_root(lambda: _vertices(opened, source, targets))
        stops = [] if output else ends  # a saved answer is complete
        brings_tree = bool(output or targets or check)  # else nothing is shown of it
        job = TreeJob(Positions(begin), Positions(stops), function, brings_tree)

        def solved() -> Result | None:
            try:
                result = opened.answer(job)
            except NegativeCycleError:
                run.on_root(lambda: _mark_negative_cycle(output, output_format))
                raise
            if check:
                with phase("verify"):
                    run.on_root(lambda: _verify(opened, result))
            return result

        times: list[float] = []
        result: Result | None = None
        with records.telemetry_of(solver.device.uuid, telemetry) as record:
            for _ in range(trials):
                raise_heard()
                result = solved()
                times.append(result.statistics["seconds"]["solve"] if result is not None else 0.0)
        gpus = records.write_telemetry(run.channel, record, telemetry)
        records.begin("write" if output else "answer")
        paths = run.on_root(
            lambda: _finish(solver.facts.name, result, targets, output, output_format)
        )
    records.begin("answer")

    def rows() -> dict[str, Any]:
        assert result is not None
        rows = _rows(solver.facts, result, times) | ({"verified": check} if check else {})
        rows |= {"output": output} if output else {}
        return rows | ({"telemetry": gpus} if telemetry else {})

    aside = any(map(is_stdout, run.outputs.values()))
    run.show(rows, partial(_show, paths=paths, aside=aside))


def _check(run: Runner, form: str | None) -> None:
    from groute_py.results.result import check_output
    from groute_py.system.atomic_file import check_writable
    from groute_py.system.paths import is_file_there

    coordinates = run.options.coordinates
    if coordinates is not None and not is_file_there(coordinates):
        raise InputError(f"{coordinates}: no such file of coordinates")
    if run.output is not None:
        check_output(run.output, form)
    elif form is not None:
        raise InputError(f"--format {form} needs --output FILE, or -o - for standard output")
    for name in ("--telemetry", "--trace"):
        if (file := run.outputs[name]) is not None:
            check_writable(Path(file))


def _vertices(
    opened: Opened, source: str | None, targets: tuple[str, ...]
) -> tuple[int, list[int]]:
    numbering, facts = opened.source_solver.numbering, opened.source_solver.facts
    name = facts.name
    assert numbering is not None
    begin = facts.start if source is None else numbering.index_of(source, "source", name)
    return begin, [numbering.index_of(target, "target", name) for target in targets]


def _mark_negative_cycle(output: str | None, form: str | None) -> None:
    """Write the line that programs look for which read ``matrix-distances``."""
    from groute_py.results.files import NEGATIVE_CYCLE
    from groute_py.system.atomic_file import replacing, translating_errors

    if output is not None and form == "matrix-distances":
        with translating_errors(Path(output)), replacing(Path(output)) as file:
            file.write(NEGATIVE_CYCLE.encode())


def _verify(opened: Opened, result: Result | None) -> None:
    from groute_py.graph.turns import expanded
    from groute_py.results.result import solved_result
    from groute_py.results.verification import certify

    assert result is not None
    options = opened.options
    bounds = [b for b in (options.bound, result.statistics["bound"]) if b is not None]
    how: dict[str, Any] = {"cutoff": min(bounds, default=None), "hops": options.hops}
    graph = expanded.solved_graph(opened.graph())
    certify(graph, solved_result(result), **how, proves=opened.source_solver.device.proves)


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
    from groute_py.graph.ids import Positions
    from groute_py.graph.units import shown, titled

    numbering = result.numbering
    end = Positions(numbering.index_of(target, "target", graph))
    (name,) = numbering.ids_of(end.values.reshape(1)).tolist()
    units = {"": "", **dict.fromkeys(result.carried, ""), **result.units}
    sums = {
        titled(name, units[name]): shown(of[end.values].item(), units[name])
        for name, of in result.carried.items()
    }
    distance = shown(result.distance_to(end), units[""])
    answer = {"target": name, "distance": distance, "path": result.path_to(end)}
    return answer | ({"carried": sums} if sums and answer["path"] else {})


def _rows(facts: Facts, result: Result, times: list[float]) -> dict[str, Any]:
    """Return the answer by name, as JSON shows it; times are seconds of each solve."""
    from groute_py.graph.units import shown
    from groute_py.results.distances import figures_of

    unit = result.units.get("", "")
    figures = figures_of(result.distances)
    rows = {
        **show.size(facts),
        **show.unit(unit),
        "source": result.numbering.id_of(result.source),
        "reached": figures.reached,
        "greatest_distance": shown(figures.greatest, unit),
        "sum_of_distances": show.finite(shown(figures.total, unit)),
        "statistics": {k: v for k, v in result.statistics.items() if k != "seconds"},
    }
    if result.reverse:
        rows["reverse"] = True
    rows |= show.attribution(result.attribution)
    if len(times) > 1:
        rows["trials"] = {"solve_seconds": times, "median": statistics.median(times)}
    return rows


def _show(
    rows: dict[str, Any],
    seconds: dict[str, float],
    *,
    paths: list[dict[str, Any]],
    aside: bool,
    as_json: bool,
    verbose: bool,
) -> None:
    """Print the answer, the paths to targets and the time; with ``aside`` on stderr."""
    if as_json:
        rows |= {"paths": paths} if paths else {}
        show.timed_answer(rows, seconds, as_json=True, aside=aside)
        return
    figures = rows.pop("statistics")
    ranks, arcs = figures["ranks"], max(rows["arcs"], 1)
    window = f", Δ {figures['delta']}" if figures["delta"] else ""
    rows["method"] = f"{figures['algorithm']}{window} ({figures['reason']})"
    if figures["settled"]:
        rate = figures["settled"] / max(figures["steps"], 1)
        rows["settled"] = f"{rate:.2f} vertices a round, {figures['steps']:,} rounds"
    rows["ranks"] = f"{ranks} ({', '.join(sorted(set(figures['devices'])))})"
    rows["relaxations"] = f"{figures['relaxations'] / arcs:.2f} per arc"
    if ranks > 1:
        rows["mode"] = f"{figures['mode']} ({figures['mode_reason']})"
        rows["order"] = figures["order"]
        rows["cut"] = f"{figures['cut']:,} arcs, imbalance {figures['imbalance']:.2f}"
        rows["bytes_sent"] = sum(map(sum, figures["bytes_sent"]))
    if "trials" in rows:
        trials = rows.pop("trials")
        rows["solve_median"] = f"{1e3 * trials['median']:.2f} ms of {len(trials['solve_seconds'])}"
    for gpu, means in rows.pop("telemetry", {}).items():
        rows[gpu] = ", ".join(f"{name.replace('_', ' ')} {means[name]:,.6g}" for name in means)
    show.timed_answer(rows, seconds, as_json=False, verbose=verbose, aside=aside)
    word = "from" if "reverse" in rows else "to"
    for path in paths:
        for line in path_text(path, word, rows.get("unit", "")):
            click.echo(printable(line), err=aside)


def path_text(path: dict[str, Any], word: str, unit: str) -> list[str]:
    """Return the lines of a path for people."""
    if path["distance"] is None:
        return [f"no path {word} {path['target']}"]
    steps = " → ".join(map(str, path["path"]))
    sums = "".join(f"; sum of {name} {value}" for name, value in path.get("carried", {}).items())
    length = f"{path['distance']} {unit}".rstrip()
    return [f"path {word} {path['target']}, length {length}{sums}:", f"  {steps}"]
