"""The commands that solve from one source: read, solve, check, save and show."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groute_py.cli import telemetry as telemetering
from groute_py.cli import timing
from groute_py.cli.runner import Runner
from groute_py.cli.solve_answer import rows_of, show_rows
from groute_py.errors import InputError, NegativeCycleError, everywhere
from groute_py.system.clock import phase
from groute_py.system.streams import is_stdout

if TYPE_CHECKING:
    from groute_py.results.result import Result
    from groute_py.solver.opened import Opened


def solve(
    function: str,
    graph: str,
    *,
    source: str | None,
    targets: tuple[str, ...],
    output_format: str | None,
    check: bool,
    trials: int,
    telemetry: str | None,
    **given: Any,
) -> None:
    """Run a command.

    Args:
        function: whose options it takes.
        graph, source, targets: as on the command line.
        output_format: of the answer's file, or None.
        check: whether to verify it.
        trials: how often to solve.
        telemetry: the file that the use of the GPUs goes to, or None.
        given: the values of all other options.
    """
    run = Runner(function, graph, given, coordinates=given.get("coordinates"))
    from groute_py.graph.direction import Direction
    from groute_py.jobs.tree import TreeJob

    options, output = run.options, run.output
    if targets and not options.predecessors:
        clash = "--target prints a path, which --no-predecessors leaves out; drop one"
        raise everywhere(InputError(clash))
    run.outputs["--telemetry"] = telemetry
    run.connect(partial(_check, run, output_format), begins_device=True)
    run.read(Direction(options.reverse), whole=check or options.renumbers)
    timing.begin("device")
    with run.opened as opened:
        solver = opened.trees
        timing.begin("solve")
        begin, ends = run.on_root(lambda: _vertices(opened, source, targets))
        wanted = [] if output else ends  # a saved answer is complete
        brings_tree = bool(output or targets or check)  # else nothing is shown of it
        job = TreeJob(begin, wanted, function, brings_tree)

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
        with telemetering.record(telemetry, solver.device.uuid) as record:
            for _ in range(trials):
                result = solved()
                times.append(result.statistics["seconds"]["solve"] if result is not None else 0.0)
        gpus = telemetering.report(run.channel, record, telemetry)
        timing.begin("write" if output else "answer")
        paths = run.on_root(
            lambda: _finish(solver.facts.name, result, targets, output, output_format)
        )
    timing.begin("answer")

    def rows() -> dict[str, Any]:
        assert result is not None
        found = rows_of(solver.facts, result, times) | ({"verified": check} if check else {})
        found |= {"output": output} if output else {}
        return found | ({"telemetry": gpus} if telemetry else {})

    aside = any(map(is_stdout, run.outputs.values()))
    run.show(rows, partial(show_rows, paths=paths, aside=aside))


def _check(run: Runner, form: str | None) -> None:
    """Check the options before the graph is read."""
    from groute_py.results.result import check_output
    from groute_py.system.atomic_file import check_writable
    from groute_py.system.paths import is_file_there

    coordinates = run.options.coordinates
    if coordinates is not None and not is_file_there(coordinates):
        raise InputError(f"{coordinates}: no such file of coordinates")
    if run.output is not None:
        check_output(run.output, form)
    elif form is not None:
        raise InputError(f"--output-format {form} needs --output FILE")
    for name in ("--telemetry", "--trace"):
        if (file := run.outputs[name]) is not None:
            check_writable(Path(file))


def _vertices(
    opened: Opened, source: str | None, targets: tuple[str, ...]
) -> tuple[int, list[int]]:
    """The vertices of ids; without a source the first one with arcs."""
    numbering, facts = opened.trees.numbering, opened.trees.facts
    name = facts.name
    assert numbering is not None
    begin = facts.start if source is None else numbering.index_of(source, "source", name)
    return begin, [numbering.index_of(target, "target", name) for target in targets]


def _mark_negative_cycle(output: str | None, form: str | None) -> None:
    """Programs that read ``matrix-distances`` look for this line."""
    from groute_py.results.files import NEGATIVE_CYCLE
    from groute_py.system.atomic_file import replacing, translating_errors

    if output is not None and form == "matrix-distances":
        with translating_errors(Path(output)), replacing(Path(output)) as file:
            file.write(NEGATIVE_CYCLE.encode())


def _verify(opened: Opened, result: Result | None) -> None:
    from groute_py.results.with_turns import solved_form
    from groute_py.turns import expanded
    from groute_py.verification import certify

    assert result is not None
    options = opened.options
    bounds = [b for b in (options.cutoff, result.statistics["bound"]) if b is not None]
    how: dict[str, Any] = {"cutoff": min(bounds, default=None), "hops": options.hops}
    graph = expanded.solved_form(opened.graph())
    certify(graph, solved_form(result), **how, proves=opened.trees.device.proves)


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
