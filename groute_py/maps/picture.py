"""A PNG of a map of isochrones."""

from __future__ import annotations

from typing import IO

import numpy as np

from groute_py.maps.areas import Polygon
from groute_py.maps.isochrone_map import IsochroneMap
from groute_py.maps.lines import Floats
from groute_py.maps.raster import Frame
from groute_py.maps.sheet import Sheet
from groute_py.maps.style import GROUND, LONGEST, styled


def write_picture(chart: IsochroneMap, file: IO[bytes]) -> None:
    """Draw a map by Matplotlib; `SetupError` if that is not installed."""
    frame = Frame.around(np.array([chart.low, chart.high]), LONGEST)
    with styled():
        sheet = Sheet(frame, chart.title, "")
        sheet.lines(frame.at(chart.roads), GROUND, 0.3)
        bands = list(enumerate(chart.colours))[::-1]  # the nearest on top
        for band, colour in bands:
            for layer in chart.layers:
                inner = layer.areas[band - 1] if band else []
                if layer.areas[band]:
                    sheet.area(_rings(frame, layer.areas[band], inner), colour)
        for band, colour in bands:
            for layer in chart.layers:
                sheet.lines(frame.at(layer.lines[band]), colour, 0.6)
        for layer in chart.layers:
            sheet.dots(frame.at(layer.sources))
        labels = [f"within {label}" for label in chart.labels]
        sheet.legend(list(zip(chart.colours, labels, strict=True)))
        sheet.add_attribution(chart.attribution)
        sheet.figure.savefig(file, format="png")


def _rings(frame: Frame, area: list[Polygon], inner: list[Polygon]) -> list[Floats]:
    """The rings of an area without that inside of it, which are turned to stay empty."""
    rings = [ring for polygon in area for ring in polygon]
    rings += [ring[::-1] for polygon in inner for ring in polygon]
    return [frame.at(ring) for ring in rings]
