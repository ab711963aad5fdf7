"""``groute-py route``: shortest paths between many pairs of vertices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import show
from groute_py.cli.options import MEMORY, job_options
from groute_py.cli.runner import Runner
from groute_py.system.clock import phase

if TYPE_CHECKING:
    from groute_py.graph.csr import Graph
    from groute_py.jobs.routes import Routes


@click.command()
@job_options(
    "route",
    click.option(
        "--pairs",
        required=True,
        metavar="FILE",
        help="The pairs: .p2p, or .csv of sources and targets, by their ids or as points.",
    ),
    click.option("--paths", is_flag=True, help="Find the paths too."),
    output="Save a line for each pair: .csv .parquet .geojson.",
    memory_limit={"help": MEMORY},
)
def route(graph: str, pairs: str, paths: bool, **given: Any) -> None:
    """Shortest paths in GRAPH between many pairs of vertices: distances, and paths on request.

    What is finished when a run ends early stays in OUTPUT.partial, for --resume.
    """
    run = Runner("route", graph, given, pairs=pairs)
    from groute_py.io.pairs import check_pairs_file, read_pairs_in
    from groute_py.jobs.route import RouteJob
    from groute_py.results.tables import check_table

    output = Path(str(run.output))
    is_drawn = output.suffix == ".geojson"  # as lines on a map

    def check() -> None:
        check_pairs_file(Path(pairs))
        check_table(output, (".geojson",))

    def pairs_in(whole: Graph) -> Any:
        with phase("read"):
            if is_drawn:
                run.ends.places(whole)  # of which an error comes before the work
            if run.ends.has_point_pairs:
                return run.ends.pairs(whole)
            return read_pairs_in(Path(pairs), whole.numbering, whole.name)

    def write(routes: Routes) -> None:
        if is_drawn:
            routes.save_lines(output, run.ends.places(run.opened.graph()))
        else:
            routes.save(output)

    job = RouteJob(pairs_in, paths or is_drawn)
    run.begin(job, check, keeps=True, draws=is_drawn)
    routes = run.answer(job, write, "sources", "routes, by sources")
    run.show(lambda: _rows(run, routes))


def _rows(run: Runner, routes: Routes | None) -> dict[str, Any]:
    assert routes is not None
    return {
        "graph": run.opened.graph().name,
        "vertices": routes.numbering.count,
        "pairs": len(routes.pairs),
        "sources": routes.statistics["sources"],
        "reached_pairs": int(routes.reached.sum()),
        "on": routes.statistics["device"],
        "output": run.output,
        **show.attribution(routes.attribution),
    }
