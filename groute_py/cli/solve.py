"""What the commands that solve from one source do: read, solve, check, save and show.

All but the terminal's part is done by the functions behind `groute_py.sssp`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from groute_py.cli import show, timing
from groute_py.cli import telemetry as telemetering
from groute_py.cli.apart import check_outputs_apart
from groute_py.cli.options import cache_value
from groute_py.cli.ranks import connected
from groute_py.cli.solve_answer import rows_of, show_rows
from groute_py.cli.trace import begin_trace, write_trace
from groute_py.engine.options import Options
from groute_py.errors import GrouteError, InputError, NegativeCycleError, everywhere
from groute_py.system.clock import phase
from groute_py.system.environment import local_rank, place
from groute_py.system.streams import is_stdout

if TYPE_CHECKING:
    from groute_py.engine.solver import SourceSolver
    from groute_py.io.tables.columns import Columns
    from groute_py.results.result import Result
    from groute_py.source.base import Supply


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
    trace: str | None,
    as_json: bool,
    undirected: bool,
    columns: Columns,
    cache: Any,
    **choices: Any,
) -> None:
    """Run a command.

    Args:
        graph, source, targets: as on the command line.
        output, output_format: where the answer goes, or None.
        check: whether to verify it.
        trials: how often to solve.
        telemetry: the file that the use of the GPUs goes to, or None.
        trace: the file of what each rank did when, or None.
        as_json: how to show it.
        undirected, columns, cache: how to read the graph.
        choices: of `Options`.
    """
    timing.begin("import")
    from groute_py.comm.agree import on_root
    from groute_py.engine.coordinates import with_coordinates
    from groute_py.engine.solver import SourceSolver
    from groute_py.graph.direction import Direction
    from groute_py.source.graph_source import GraphSource

    options = with_coordinates(Options(**choices), graph)
    if targets and not options.predecessors:
        clash = "--target prints a path, which --no-predecessors leaves out; drop one"
        raise everywhere(InputError(clash))
    outputs = {"--output": output, "--telemetry": telemetry, "--trace": trace}
    if _can_be_read(graph, options, outputs, output_format):
        _begin_device(options)
    channel = connected(options.time_limit_s)

    timing.begin("read")
    on_root(channel, lambda: _check_before_reading(graph, options, outputs, output_format))
    begin_trace(channel, trace)
    with show.progress(f"reading {graph}") as progress:
        graph_source = GraphSource(
            graph,
            columns._replace(undirected=undirected),
            Direction(options.reverse),
            options.turns,
            cache_value(cache),
            options.keeps_prepared,
            progress,
        )
        file = graph_source.watched(channel)
        supply = graph_source.supply(channel, whole=check or options.renumbers)
    timing.begin("device")
    with SourceSolver(supply, channel, options) as solver:
        solver.watch(file)
        timing.begin("solve")
        begin, ends = on_root(channel, lambda: _vertices(solver, source, targets))
        wanted = [] if output else ends  # a saved answer is complete
        brings_tree = bool(output or targets or check)  # else nothing is shown of it

        def solved() -> Result | None:
            try:
                result = solver.sssp(begin, wanted, brings_tree=brings_tree)
            except NegativeCycleError:
                on_root(channel, lambda: _mark_negative_cycle(output, output_format))
                raise
            if check:
                with phase("verify"):
                    on_root(channel, lambda: _verify(supply, result, options, solver))
            return result

        times: list[float] = []
        result: Result | None = None
        with telemetering.record(telemetry, solver.gpu) as record:
            for _ in range(trials):
                result = solved()
                times.append(result.statistics["seconds"]["solve"] if result is not None else 0.0)
        gpus = telemetering.report(channel, record, telemetry)
        timing.begin("write" if output else "answer")
        paths = on_root(
            channel, lambda: _finish(solver.facts.name, result, targets, output, output_format)
        )
    timing.begin("answer")
    rows = {} if result is None else rows_of(solver.facts, result, times)
    write_trace(channel, trace)
    seconds = timing.seconds_of(channel)
    if result is None:
        return
    rows |= {"verified": check} if check else {}
    rows |= {"output": output} if output else {}
    rows |= {"telemetry": gpus} if telemetry else {}
    aside = any(map(is_stdout, (output, telemetry, trace)))
    show_rows(rows, paths, seconds, as_json=as_json, aside=aside)


def _begin_device(options: Options) -> None:
    """Let a GPU begin while MPI starts and the graph is read."""
    from groute_py.algorithms.choose import devices_of
    from groute_py.device.registry import begin

    begin(options.device, local_rank(place().rank), devices_of(options.algorithm))


def _can_be_read(
    graph: str, options: Options, outputs: dict[str, str | None], form: str | None
) -> bool:
    """Whether this rank finds nothing that is wrong before the graph is read.

    An error is then that of rank 0, once the ranks are connected; it need not wait for a GPU.
    """
    from groute_py.graph.generate import is_spec
    from groute_py.io.datasets import is_name
    from groute_py.system.paths import is_there

    try:
        _check_before_reading(graph, options, outputs, form)
    except GrouteError as error:
        if error.by_signal:
            raise
        return False
    return is_spec(graph) or is_name(graph) or is_there(graph)


def _check_before_reading(
    graph: str, options: Options, outputs: dict[str, str | None], form: str | None
) -> None:
    from groute_py.results.result import check_output
    from groute_py.system.atomic_file import check_writable
    from groute_py.system.paths import is_file_there

    options.check()
    if options.coordinates is not None and not is_file_there(options.coordinates):
        raise InputError(f"{options.coordinates}: no such file of coordinates")
    output = outputs["--output"]
    if output is not None:
        check_output(output, form)
    elif form is not None:
        raise InputError(f"--output-format {form} needs --output FILE")
    for name in ("--telemetry", "--trace"):
        if (file := outputs[name]) is not None:
            check_writable(Path(file))
    inputs = {"GRAPH": graph, "--coordinates": options.coordinates, "--turns": options.turns}
    check_outputs_apart(inputs, outputs)


def _vertices(
    solver: SourceSolver, source: str | None, targets: tuple[str, ...]
) -> tuple[int, list[int]]:
    """The vertices of ids; without a source the first one with arcs."""
    numbering, name = solver.numbering, solver.facts.name
    assert numbering is not None
    begin = solver.facts.start if source is None else numbering.index_of(source, "source", name)
    return begin, [numbering.index_of(target, "target", name) for target in targets]


def _mark_negative_cycle(output: str | None, form: str | None) -> None:
    """Programs that read ``matrix-distances`` look for this line."""
    from groute_py.results.files import NEGATIVE_CYCLE
    from groute_py.system.atomic_file import replacing, translating_errors

    if output is not None and form == "matrix-distances":
        with translating_errors(Path(output)), replacing(Path(output)) as file:
            file.write(NEGATIVE_CYCLE.encode())


def _verify(supply: Supply, result: Result | None, options: Options, solver: SourceSolver) -> None:
    from groute_py.results.with_turns import solved_form
    from groute_py.turns import expanded
    from groute_py.verification import certify

    assert result is not None
    bounds = [b for b in (options.cutoff, result.statistics["bound"]) if b is not None]
    cutoff = min(bounds, default=None)
    graph = expanded.solved_form(supply.graph()).to_host()  # turned round already, if it is
    certify(graph, solved_form(result), cutoff=cutoff, hops=options.hops, proves=solver.proves)


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
