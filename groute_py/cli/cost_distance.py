"""``groute-py cost-distance``: least-cost distances on a raster of friction."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import records, show
from groute_py.cli.options import device_option, json_option, threads_option, verbose_option
from groute_py.cli.outputs import check_outputs_apart
from groute_py.cli.ranks import connected
from groute_py.cli.solve import path_text
from groute_py.errors import InputError, quote

if TYPE_CHECKING:
    from groute_py.grids.cost_distance import CostDistance
    from groute_py.io.rasters import RasterFile

NOTHING = {"output": float("inf"), "allocation": -1, "back_direction": 255}
"""Values of cells without an answer, by what is saved."""


@click.command("cost-distance")
@click.argument("friction", metavar="FRICTION")
@click.option(
    *("-s", "--sources", "sources"),
    required=True,
    multiple=True,
    metavar="WHERE",
    help="A source by ROW,COLUMN from 0, may be repeated; or a raster, not 0 or NaN at sources.",
)
@click.option(
    *("-t", "--target", "targets"),
    multiple=True,
    metavar="ROW,COLUMN",
    help="Print the path to this cell; may be repeated.",
)
@click.option("-o", "--output", metavar="FILE", help="Save the distances: .npy .tif.")
@click.option(
    "--allocation", metavar="FILE", help="Save the number of each cell's source, from 0: .npy .tif."
)
@click.option(
    "--back-direction",
    metavar="FILE",
    help="Save the step back of each cell, 1 to 8 clockwise from east, 0 on sources: .npy .tif.",
)
@click.option(
    "--cell-size",
    metavar="LENGTH[,HEIGHT]",
    help="Width and height of a cell.  [those of the GeoTIFF, else 1]",
)
@click.option(
    "--neighbours",
    type=int,
    default=8,
    show_default=True,
    metavar="[4|8]",
    help="Steps to 8 neighbours, or to 4 without diagonals.",
)
@click.option("--cutoff", type=float, metavar="COST", help="Leave out cells beyond this distance.")
@device_option
@threads_option
@json_option
@verbose_option
def cost_distance(
    friction: str,
    sources: tuple[str, ...],
    targets: tuple[str, ...],
    cell_size: str | None,
    neighbours: int,
    cutoff: float | None,
    device: str,
    as_json: bool,
    verbose: bool,
    **outputs: str | None,
) -> None:
    """The cost of the cheapest path from the nearest of some sources to each cell of a raster.

    FRICTION is the cost of a unit of length in each cell: a .npy, or the first band of a .tif.
    Cells that are 0, negative, infinite or without data are barriers. A step costs the mean
    friction of its two cells times its length. Under mpirun each rank has a band of rows.
    """
    records.begin("import")
    from groute_py.comm.agree import collective, on_root, refuse_difference
    from groute_py.grids.bands import BandRows
    from groute_py.grids.cost_distance import solve
    from groute_py.grids.request import GridRequest, cells_of, request_of
    from groute_py.io import rasters

    saved = {name: file for name, file in outputs.items() if file is not None}
    ends: list[tuple[int, int]] = []

    def checked() -> GridRequest:
        if not targets and not saved:
            raise InputError("nothing is asked for; name an --output, or a --target")
        size = _numbers(cell_size)
        ends.extend(_cell("--target", text) for text in targets)
        is_raster = len(sources) == 1 and rasters.is_raster_file(Path(sources[0]))
        cells = [] if is_raster else [_cell("--sources", text) for text in sources]
        named = {"FRICTION": friction, **({"--sources": sources[0]} if is_raster else {})}
        check_outputs_apart(named, {f"--{name.replace('_', '-')}": saved[name] for name in saved})
        for file in saved.values():
            rasters.check_output(Path(file))
        raster = rasters.open_raster(Path(friction))
        begins: Any = _marked(Path(sources[0]), raster) if is_raster else cells
        measures = size or raster.cell_size or (1.0, 1.0), neighbours, cutoff
        request = request_of(raster.shape, raster.dtype, begins, *measures)
        for end in ends:
            cells_of([end], request.shape, "--target")
        return request

    channel = connected()
    records.begin("read")
    request = on_root(channel, checked)
    with collective(channel):
        raster = rasters.open_raster(Path(friction))
    refuse_difference(channel, {"function": "cost-distance", "a raster of shape": raster.shape})
    rows = BandRows(request.shape[0], channel.rank, channel.size)
    with collective(channel):
        band = raster.read(rows.first, rows.last)
    records.begin("solve")
    result = solve(
        *(channel, request, band, device),
        allocation="allocation" in saved,
        back_direction=bool(targets) or "back_direction" in saved,
    )
    records.begin("write")

    def written() -> list[dict[str, Any]]:
        assert result is not None
        for name, file in saved.items():
            values = getattr(result, "distance" if name == "output" else name)
            rasters.write_raster(Path(file), values, NOTHING[name], raster)
        return [_path(result, *end) for end in ends]

    paths, seconds = on_root(channel, written), records.seconds_of(channel)
    if result is None:
        return
    answer = _rows(result) | saved | ({"paths": paths} if paths and as_json else {})
    show.timed_answer(answer, seconds, as_json=as_json, verbose=verbose)
    for path in [] if as_json else paths:
        click.echo("\n".join(path_text(path, "to", "")))


def _marked(path: Path, friction: RasterFile) -> Any:
    """Return the rows and columns of the sources that a raster marks."""
    import numpy as np

    from groute_py.io.rasters import open_raster

    marks = open_raster(path)
    if marks.shape != friction.shape:
        shapes = f"{path} has the shape {marks.shape}, and {friction.path} {friction.shape}"
        raise InputError(f"{shapes}; sources have a value for each cell")
    values = marks.read(0, marks.shape[0])
    return np.argwhere((values != 0) & (values == values))


def _numbers(text: str | None) -> tuple[float, float] | None:
    """Return the width and the height of a cell."""
    if text is None:
        return None
    try:
        sizes = [float(word) for word in text.split(",")]
        x, y = sizes * 2 if len(sizes) == 1 else sizes
    except ValueError:
        raise InputError(f"--cell-size {quote(text)}: give LENGTH, or WIDTH,HEIGHT") from None
    return x, y


def _cell(flag: str, text: str) -> tuple[int, int]:
    try:
        row, column = map(int, text.split(","))
    except ValueError:
        raise InputError(f"{flag} {quote(text)}: give ROW,COLUMN, from 0") from None
    return row, column


def _path(result: CostDistance, row: int, column: int) -> dict[str, Any]:
    """Return the path to a cell; an empty one if none leads there."""
    distance = show.finite(float(result.distance[row, column]))
    path = [] if distance is None else result.path(row, column).tolist()
    return {"target": [row, column], "distance": distance, "path": path}


def _rows(result: CostDistance) -> dict[str, Any]:
    import numpy as np

    reached = result.distance[np.isfinite(result.distance)]
    return {
        "rows": result.distance.shape[0],
        "columns": result.distance.shape[1],
        "sources": len(result.sources),
        "reached": reached.size,
        "greatest_distance": float(reached.max()),
    }
