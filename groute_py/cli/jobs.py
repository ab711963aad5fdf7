"""``groute-py nearest``, ``route`` and ``isochrone``: one answer of the graph, saved in a file."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import show
from groute_py.cli.amounts import limit, share
from groute_py.cli.options import MEMORY, NAMED, job_options, which_option
from groute_py.cli.places import NamedVertices, OptionVertices
from groute_py.cli.records import trace_option
from groute_py.cli.runner import Runner
from groute_py.errors import InputError, everywhere, quote
from groute_py.system.clock import phase

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groute_py.graph.csr import Graph
    from groute_py.jobs.isochrones import Isochrones
    from groute_py.jobs.routes import Routes
    from groute_py.maps.places import Places

TILES = click.option(
    "--tiles",
    metavar="NAME",
    help="The ground of a map .html: a name of xyzservices, a URL with {z}, {x} and {y}, or none.  "
    "[OpenStreetMap]",
)


@click.command()
@job_options(
    "nearest",
    which_option("--facilities", "facilities", f"The facilities: {NAMED}.", required=True),
    which_option(
        *("--from", "sources"),
        "Answer for these vertices, from which paths lead to the facilities.  [all]",
    ),
    which_option(
        *("--to", "targets"),
        "Answer for these vertices, to which paths lead from the facilities.  [all]",
    ),
    click.option(
        "-k",
        default=1,
        show_default=True,
        metavar="COUNT",
        help="Find the COUNT nearest facilities.",
    ),
    click.option(
        "--to-facility", is_flag=True, help="Paths lead to the facilities, instead of from them."
    ),
    output="Save the answer: .npz .csv .json .parquet.",
)
def nearest(
    graph: str,
    facilities: str,
    sources: str | None,
    targets: str | None,
    k: int,
    to_facility: bool,
    **arguments: Any,
) -> None:
    """The nearest of several facilities for each vertex of GRAPH, or for some.

    Saved are the facility, its distance, and the next vertex on the path. Of facilities that are
    equally near, the one with the lowest id is taken. With -k what is finished when a run ends
    early stays in OUTPUT.partial, for --resume.
    """
    named = {"--facilities": facilities, "--from": sources, "--to": targets}
    run = Runner("nearest", graph, arguments, named)
    from groute_py.jobs.nearest import NearestJob
    from groute_py.results.tables import check_table

    def check() -> None:
        if targets is not None and (sources is not None or to_facility):
            raise InputError(
                "--to is for paths from the facilities; drop it, or what leads to them"
            )
        check_table(run.file, (".npz",))
        if k == 1:
            run.refuse_resume("without -k the job is one solve")

    flag = "--from" if targets is None else "--to"
    some = None if sources is targets is None else run.vertices(flag, "vertex")
    is_to_facility = to_facility or sources is not None
    job = NearestJob(run.vertices("--facilities", "facility"), k, is_to_facility, some)
    run.begin(job, check, keeps=k > 1)
    unit = "facilities" if k > 1 else ""
    answer = run.answer(job, lambda answer: answer.save(run.file), unit, "facilities")

    def rows() -> dict[str, Any]:
        from groute_py.graph.units import shown

        nearest = answer.reached if answer.reached.ndim == 1 else answer.reached[:, 0]
        distances = answer.distances[answer.reached]
        figures = {
            "facilities": run.ends.counts["facility"],
            **({"answers": len(nearest)} if some is not None else {}),
            "to_facility": answer.to_facility,
            "reached": int(nearest.sum()),
            "greatest_distance": shown(
                distances.max().item() if len(distances) else None, answer.units.get("", "")
            ),
        }
        return _rows(run, answer, answer.numbering.count, figures)

    run.show(rows)


@click.command()
@job_options(
    "route",
    click.option(
        "--pairs",
        metavar="FILE",
        help="The pairs: .p2p, or .csv of sources and targets, by their ids or as points.",
    ),
    which_option("--from", "sources", f"Instead of pairs, the sources: {NAMED}."),
    which_option("--to", "targets", "The targets, to each of them from each source."),
    click.option("--paths", is_flag=True, help="Find the paths too."),
    click.option(
        *("-k", "--k"),
        default=1,
        show_default=True,
        metavar="COUNT",
        help="Find the COUNT shortest paths of each pair, none of which passes a vertex twice.",
    ),
    click.option("--loops", is_flag=True, help="Let the paths of -k pass vertices again."),
    click.option(
        "--alternatives",
        default=0,
        metavar="COUNT",
        help="Find up to COUNT other routes of each pair, which people tell apart.",
    ),
    click.option(
        "--longer",
        type=share,
        metavar="SHARE",
        help="How much longer than the shortest path alternatives may be.  [25%]",
    ),
    click.option(
        "--overlap",
        type=share,
        metavar="SHARE",
        help="How much of an alternative may lie on routes before it.  [70%]",
    ),
    output="Save a line for each path: .csv .json .parquet .geojson .html.",
    memory_limit={"help": MEMORY},
    more=(TILES, trace_option),
)
def route(
    graph: str,
    pairs: str | None,
    sources: str | None,
    targets: str | None,
    paths: bool,
    k: int,
    loops: bool,
    alternatives: int,
    longer: float | None,
    overlap: float | None,
    tiles: str | None,
    **arguments: Any,
) -> None:
    """Shortest paths in GRAPH between many pairs of vertices: distances, and paths on request.

    What is finished when a run ends early stays in OUTPUT.partial, for --resume, but not with -k
    or --alternatives.
    """
    run = Runner("route", graph, arguments, {"--from": sources, "--to": targets}, pairs=pairs)
    from groute_py.io.pairs import check_pairs_file
    from groute_py.jobs.route import RouteJob
    from groute_py.jobs.routes import MAPS, check_routes_file

    output = run.file
    is_drawn = output.suffix in MAPS

    def check() -> None:
        if pairs is not None:
            check_pairs_file(Path(pairs))
        if [pairs is None] * 2 != [sources is not None, targets is not None]:
            raise InputError("give --pairs FILE, or both --from and --to")
        check_routes_file(output, tiles, planar=run.where.planar)
        if several:
            run.refuse_resume("with -k and --alternatives the paths come at the end")

    def write(routes: Routes) -> None:
        if is_drawn:
            routes.save_lines(output, run.ends.places(run.opened.plain_graph()), tiles)
        else:
            routes.save(output)

    begins, ends = run.vertices("--from", "source"), run.vertices("--to", "target")
    named: Any = FilePairs(run.ends, Path(pairs)) if pairs is not None else EveryPair(begins, ends)
    job = RouteJob(named, paths or is_drawn, k, loops, alternatives, longer, overlap)
    several = job.wanted is not None
    run.begin(job, check, keeps=not several, draws=is_drawn)
    if is_drawn:  # of which an error comes before the work
        run.on_root(lambda: run.ends.places(run.opened.plain_graph()))
    unit = "" if several else "sources"
    routes = run.answer(job, write, unit, "routes, by sources")

    def rows() -> dict[str, Any]:
        reached = routes.reached.reshape(len(routes.pairs), -1)
        figures = {
            "pairs": len(routes.pairs),
            "sources": routes.statistics["sources"],
            "reached_pairs": int(reached.any(axis=1).sum()),
            **({"paths": int(reached.sum())} if several else {}),
        }
        return _rows(run, routes, routes.numbering.count, figures)

    run.show(rows)


@click.command()
@job_options(
    "isochrone",
    which_option("--from", "sources", f"The sources: {NAMED}.", required=True),
    click.option(
        "--limits",
        required=True,
        metavar="LIMIT,…",
        help="The greatest distances: 300,600,900 in units of weight, or 5min,10min or 2km.",
    ),
    click.option("--each", is_flag=True, help="Find the reach of each source, instead of any."),
    output="Save the answer: .csv .json .parquet .geojson .html .png.",
    more=(
        click.option(
            "--features",
            metavar="[vertices|arcs|bands]",
            help="What the file lists.  [vertices in tables, bands in .geojson]",
        ),
        click.option(
            "--margin",
            type=float,
            metavar="DISTANCE",
            help="How far from roads bands reach: metres, or units of the plane.  "
            "[as an arc is long]",
        ),
        TILES,
    ),
)
def isochrone(
    graph: str,
    sources: str,
    limits: str,
    each: bool,
    features: str | None,
    margin: float | None,
    tiles: str | None,
    **arguments: Any,
) -> None:
    """Find what lies within limits of some sources in GRAPH: vertices, arcs, areas, a map.

    Arcs are cut where a limit falls. Areas hold what is near a part of an arc within reach, and
    nothing else. With --each what is finished when a run ends early stays in OUTPUT.partial, for
    --resume.
    """
    run = Runner("isochrone", graph, arguments, {"--from": sources})
    from groute_py.jobs.isochrone import IsochroneJob
    from groute_py.jobs.isochrones import check_margin
    from groute_py.maps.isochrone_files import MAPS, check_form, needs_places, write

    output, where = run.file, run.where

    def check() -> None:
        listed = check_form(output, features, tiles, planar=where.planar)
        check_margin(margin)
        if margin is not None and output.suffix not in MAPS and listed != "bands":
            raise InputError(f"--margin is of areas, and {output} lists {listed}; leave it out")
        if not each:
            run.refuse_resume("without --each the job is one solve")

    def places(whole: Graph) -> Places | None:
        needed = needs_places(output) or where.planar
        return run.ends.places(whole) if needed or run.ends.has_places(whole) else None

    def save(answer: Isochrones) -> None:
        with show.row_progress("writing, by sources") if each else nullcontext() as progress:
            write(answer, output, check_form(output, features), margin, progress, tiles)

    within = _limits(limits)
    job = IsochroneJob(run.vertices("--from", "source"), within, each, where.planar, places)
    run.begin(job, check, keeps=each, draws=True)
    unit = "sources" if each else ""
    answer = run.answer(job, save, unit, "isochrones, by sources")

    def rows() -> dict[str, Any]:
        from groute_py.graph.units import amount, shown

        in_unit = partial(shown if run.as_json else amount, unit=answer.graph.unit)
        figures = {
            "sources": len(answer.sources),
            "each": each,
            "limits": list(map(in_unit, answer.limits)),
            "reached": answer.counts,
        }
        return _rows(run, answer, answer.graph.vertex_count, figures)

    run.show(rows)


def _limits(text: str) -> list[int | float | str]:
    try:
        return [limit(word.strip()) for word in text.split(",")]
    except ValueError as problem:
        raise everywhere(InputError(f"--limits {quote(text)}: {problem}")) from None


def _rows(run: Runner, answer: Any, vertices: int, figures: dict[str, Any]) -> dict[str, Any]:
    """Return an answer by name, of which ``figures`` are the job's own."""
    statistics, whole = answer.statistics, run.opened.plain_graph()
    devices = statistics["devices"] if "devices" in statistics else [statistics["device"]]
    return {
        "graph": whole.name,
        "vertices": vertices,
        **show.unit(whole.unit),
        **figures,
        "on": ", ".join(sorted(set(devices))),
        "output": run.output,
        **show.attribution(answer.attribution),
    }


@dataclass(frozen=True, eq=False)
class FilePairs:
    """Finds the pairs of a file, by ids or as points, once the graph is there."""

    ends: NamedVertices
    path: Path

    def __call__(self, whole: Graph) -> NDArray[Any]:
        from groute_py.io.pairs import read_pairs_in

        with phase("read"):
            pairs = self.ends.pairs(whole)
            if pairs is None:
                pairs = read_pairs_in(self.path, whole.numbering, whole.name)
            return pairs

    @property
    def attributes(self) -> Mapping[str, Mapping[str, NDArray[Any]]]:
        """The attributes of points, by role and title: a value for each pair."""
        return self.ends.pair_attributes()


class EveryPair:
    """Finds the pairs of each source of an option and each target of another."""

    def __init__(self, sources: OptionVertices, targets: OptionVertices) -> None:
        self._ends = sources, targets
        self._counts = 0, 0

    def __call__(self, whole: Graph) -> NDArray[Any]:
        import numpy as np

        from groute_py.engine.memory.host import refuse_beyond
        from groute_py.io.pairs import PAIR_BYTES

        sources, targets = (ends(whole) for ends in self._ends)
        self._counts = len(sources), len(targets)
        count = len(sources) * len(targets)
        refuse_beyond(PAIR_BYTES * count, f"{count:,} pairs", "name fewer, or ask for a matrix")
        return np.stack(np.meshgrid(sources, targets, indexing="ij"), axis=-1).reshape(-1, 2)

    @property
    def attributes(self) -> Mapping[str, Mapping[str, NDArray[Any]]]:
        """The attributes of points, by role and title: a value for each pair."""
        import numpy as np

        rows = np.indices(self._counts).reshape(2, -1)
        return {
            ends.role: {title: values[some] for title, values in ends.attributes.items()}
            for ends, some in zip(self._ends, rows, strict=True)
        }
