"""``groute-py cost-distance``: least-cost distances on a raster of friction."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import records, show
from groute_py.cli.options import device_option, json_option, threads_option, verbose_option
from groute_py.cli.outputs import check_outputs_apart
from groute_py.cli.ranks import on_rank_0
from groute_py.cli.solve import path_text
from groute_py.errors import InputError, quote
from groute_py.system.clock import phase

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
@on_rank_0
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
    friction of its two cells times its length.
    """
    saved = {name: file for name, file in outputs.items() if file is not None}
    if not targets and not saved:
        raise InputError("nothing is asked for; name an --output, or a --target")
    size, ends = _numbers(cell_size), [_cell("--target", text) for text in targets]
    is_raster = len(sources) == 1 and Path(sources[0]).suffix in (".npy", ".tif", ".tiff")
    cells = [] if is_raster else [_cell("--sources", text) for text in sources]
    named = {"FRICTION": friction, **({"--sources": sources[0]} if is_raster else {})}
    check_outputs_apart(named, {f"--{name.replace('_', '-')}": saved[name] for name in saved})
    from groute_py.grids import cost_distance as grids
    from groute_py.io import rasters

    for file in saved.values():
        rasters.check_output(Path(file))
    with phase("read"):
        raster = rasters.read_raster(Path(friction))
        begins: Any = rasters.read_raster(Path(sources[0])).values if is_raster else cells
    if is_raster and begins.shape != raster.values.shape:
        shapes = f"{sources[0]} has the shape {begins.shape}, and {friction} {raster.values.shape}"
        raise InputError(f"{shapes}; sources have a value for each cell")
    records.begin("solve")
    result = grids.cost_distance(
        *(raster.values, begins.astype(float) if is_raster else begins),
        cell_size=raster.cell_size if size is None else size,
        neighbours=neighbours,
        cutoff=cutoff,
        allocation="allocation" in saved,
        back_direction=bool(targets) or "back_direction" in saved,
        device=device,
    )
    records.begin("write")
    paths = [_path(result, *end) for end in ends]
    for name, file in saved.items():
        values = getattr(result, "distance" if name == "output" else name)
        rasters.write_raster(Path(file), values, NOTHING[name], raster)
    rows = _rows(raster, result) | saved | ({"paths": paths} if paths and as_json else {})
    show.timed_answer(rows, records.own_seconds(), as_json=as_json, verbose=verbose)
    for path in [] if as_json else paths:
        click.echo("\n".join(path_text(path, "to", "")))


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
    from groute_py.grids.request import cells_of

    cells_of([[row, column]], result.distance.shape, "--target")
    distance = show.finite(float(result.distance[row, column]))
    path = [] if distance is None else result.path(row, column).tolist()
    return {"target": [row, column], "distance": distance, "path": path}


def _rows(raster: RasterFile, result: CostDistance) -> dict[str, Any]:
    import numpy as np

    reached = result.distance[np.isfinite(result.distance)]
    return {
        "rows": raster.values.shape[0],
        "columns": raster.values.shape[1],
        "sources": len(result.sources),
        "reached": reached.size,
        "greatest_distance": float(reached.max()),
    }
