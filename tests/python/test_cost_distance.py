"""Least-cost distances on rasters beside SciPy's, on every device; what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.rasters import by_scipy, check, random_raster
from support.skips import EMULATED

from groute_py import CostDistance, InputError, VerificationError, cost_distance

ALL = {"allocation": True, "back_direction": True}


@pytest.mark.parametrize("first", range(0, 100 if EMULATED else 1000, 100))
def test_random_rasters(first: int, device: str) -> None:
    for seed in range(first, first + 100):
        friction, sources, words = random_raster(seed)
        result = cost_distance(friction, sources, **words, **ALL, device=device)
        check(result, friction, sources, words)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_devices_agree_to_the_last_bit(kind: str, device: str) -> None:
    friction = np.random.default_rng(3).uniform(1, 10, (130, 170)).astype(kind)
    here = cost_distance(friction, [(0, 0), (99, 20)], **ALL, device="cpu")
    there = cost_distance(friction, [(0, 0), (99, 20)], **ALL, device=device)
    for one, other in zip(here, there, strict=True):
        assert one.dtype == other.dtype
        assert (one == other).all()


def spiral(length: int) -> NDArray[np.float32]:
    """Return a corridor that winds to the centre, one cell wide, between walls as wide."""
    friction = np.zeros((length, length), np.float32)
    row, column, step = 0, 0, (0, 1)
    friction[0, 0] = 1
    while True:
        moved = False
        for _ in range(2):
            ahead, beyond = ((row + k * step[0], column + k * step[1]) for k in (1, 2))
            inside = 0 <= ahead[0] < length and 0 <= ahead[1] < length
            is_wall = 0 <= beyond[0] < length and 0 <= beyond[1] < length and friction[beyond] > 0
            if inside and not is_wall and friction[ahead] == 0:
                row, column = ahead
                friction[ahead], moved = 1, True
                break
            step = (step[1], -step[0])
        if not moved:
            return friction


def test_a_spiral(device: str) -> None:
    friction = spiral(69)
    result = cost_distance(friction, [(0, 0)], neighbours=4, **ALL, device=device)
    assert result.distance[friction > 0].max() == (friction > 0).sum() - 1
    check(result, friction, np.array([[0, 0]]), {"neighbours": 4})


@pytest.mark.parametrize("tiny", [1e-6, 2.0**-120])
def test_steps_that_add_nothing(tiny: float, device: str) -> None:
    """Beside 2^20 they are lost in rounding, so distances are level; steps back lead to 0."""
    friction = np.full((40, 70), tiny, np.float32)
    friction[:, 3] = 1 << 21
    result = cost_distance(friction, [(7, 0)], **ALL, device=device)
    assert (result.allocation == 0).all()
    assert len(result.path(39, 69)) >= 70
    row, column = np.unravel_index(np.argmax(result.distance), friction.shape)
    assert result.path(int(row), int(column))[0].tolist() == [7, 0]


@pytest.mark.parametrize(("tiny", "size"), [(1e-45, 1), (1e-39, 1e3), (1e-37, 1e-3)])
def test_costs_that_a_gpu_takes_for_nothing_are_barriers(
    tiny: float, size: float, device: str
) -> None:
    friction = np.array([[1, tiny, 1]], np.float32)
    result = cost_distance(friction, [(0, 0)], cell_size=size, **ALL, device=device)
    assert result.distance.tolist() == [[0, np.inf, np.inf]]
    with pytest.raises(
        InputError, match=r"such as \(0, 1\), whose friction is too small or no num"
    ):
        cost_distance(friction, [(0, 1)], cell_size=size, device=device)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_costs_that_no_type_holds(kind: str, device: str) -> None:
    most = np.finfo(kind).max
    friction = np.array([[most / 4, most / 4, most / 2, most, 1]], kind)
    result = cost_distance(friction, [(0, 0)], **ALL, device=device)
    assert np.allclose(result.distance[0, :3] / most, [0, 0.25, 0.625])
    assert np.isinf(result.distance[0, 3:]).all()
    assert result.allocation.tolist() == [[0, 0, 0, -1, -1]]


def test_a_raster_of_sources(device: str) -> None:
    friction, cities = np.ones((5, 9)), np.zeros((5, 9))
    cities[4, 8], cities[0, 1], cities[2, 2] = 7, 3, np.nan
    result = cost_distance(friction, cities, allocation=True, device=device)
    assert result.sources.tolist() == [[0, 1], [4, 8]]
    assert cities[tuple(result.sources.T)][result.allocation][3, 6] == 7
    assert result.back_direction is None
    with pytest.raises(InputError, match="paths need back directions"):
        result.path(0, 0)


def test_the_first_of_equal_sources_counts(device: str) -> None:
    result = cost_distance(np.ones((1, 5)), [(0, 4), (0, 0), (0, 0)], **ALL, device=device)
    assert result.allocation.tolist() == [[1, 1, 0, 0, 0]]
    assert result.back_direction.tolist() == [[0, 5, 1, 1, 0]]


class Coordinate:
    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def __len__(self) -> int:
        return len(self.values)


class DataArray:
    """The part of xarray's class that is asked for."""

    def __init__(self, data: Any, coords: Any, dims: Any) -> None:
        self.data, self.coords, self.dims = data, coords, dims


def test_xarray(device: str) -> None:
    coords = {"lat": Coordinate([30.0, 27.0, 24.0]), "lon": Coordinate([5.0, 7.0])}
    friction = DataArray(np.array([[1.0, 2.0], [3.0, 1.0], [1.0, 1.0]]), coords, ("lat", "lon"))
    result = cost_distance(friction, [(0, 0)], **ALL, device=device)
    assert isinstance(result.distance, DataArray)
    assert result.distance.coords is coords
    expected = by_scipy(friction.data, np.array([[0, 0]]), cell_size=(2.0, 3.0), neighbours=8)[0]
    assert np.allclose(result.distance.data, expected)
    assert result.path(2, 0)[0].tolist() == [0, 0]
    coords["lon"].values[1] = 5.0
    with pytest.raises(InputError, match="coordinates 'lon' are not evenly spaced; give cell_s"):
        cost_distance(friction, [(0, 0)], device=device)


def test_beside_scikit_image() -> None:
    graph = pytest.importorskip("skimage.graph")
    friction = np.random.default_rng(4).uniform(1, 9, (80, 90))
    expected, _ = graph.MCP_Geometric(friction).find_costs([(3, 5), (70, 60)])
    result = cost_distance(friction, [(3, 5), (70, 60)], device="cpu")
    assert np.allclose(result.distance, expected, rtol=1e-12)


REFUSED: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "friction must be numbers of shape": (np.ones(3), [(0, 0)], {}),
    "not complex128": (np.ones((2, 2), complex), [(0, 0)], {}),
    "friction has 0 cells": (np.ones((0, 3)), [(0, 0)], {}),
    "there is no source": (np.ones((2, 2)), [], {}),
    "there is no source; a raster": (np.ones((2, 2)), np.zeros((2, 2)), {}),
    r"sources: \(2, 0\) is outside of the raster, whose shape is \(2, 3\)": (
        *(np.ones((2, 3)), [(0, 0), (2, 0)], {}),
    ),
    r"sources must be rows and columns, .* not float64": (np.ones((2, 2)), [(0.5, 1)], {}),
    r"sources must be rows and columns, .* not <U1": (np.ones((2, 3)), np.full((2, 3), "0"), {}),
    r"sources lie on barriers \(1\), such as \(1, 0\)": (
        *([[1, 2], [0, 1]], [(0, 0), (1, 0), (0, 1)], {}),
    ),
    "neighbours must be 4 or 8, not 6": (np.ones((2, 2)), [(0, 0)], {"neighbours": 6}),
    r"neighbours must be 4 or 8, not array\(\[4, 8\]\)": (
        *(np.ones((2, 2)), [(0, 0)], {"neighbours": np.array([4, 8])}),
    ),
    "some cells are masked; fill them with 0": (
        *(np.ma.masked_array(np.ones((2, 2)), [[0, 1], [0, 0]]), [(0, 0)], {}),
    ),
    "cell_size must be positive": (np.ones((2, 2)), [(0, 0)], {"cell_size": (1, 0)}),
    "out of the range of float32": (np.ones((2, 2), "f4"), [(0, 0)], {"cell_size": 1e-60}),
    r"\(1e\+308, 1e\+308\) is out of the range": (
        *(np.ones((2, 2), "f4"), [(0, 0)], {"cell_size": 1e308}),
    ),
    "cutoff must not be negative": (np.ones((2, 2)), [(0, 0)], {"cutoff": -1}),
    "allocation must be True or False": (np.ones((2, 2)), [(0, 0)], {"allocation": 1}),
    "device 'gpu' is unknown": (np.ones((2, 2)), [(0, 0)], {"device": "gpu"}),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused(message: str, device: str) -> None:
    friction, sources, words = REFUSED[message]
    with pytest.raises(InputError, match=message):
        cost_distance(friction, sources, **({"device": device} | words))


def test_no_path() -> None:
    result = cost_distance([[1, 0, 1]], [(0, 0)], back_direction=True, device="cpu")
    with pytest.raises(InputError, match=r"no path leads to the cell \(0, 2\)"):
        result.path(0, 2)
    with pytest.raises(InputError, match=r"the cell: \(0, 3\) is outside"):
        result.path(0, 3)


def test_a_wrong_distance_is_found(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from groute_py.device.registry import of_module
    from groute_py.grids.bands import GRIDS

    grid = of_module(GRIDS[device], "RasterGrid")
    forget_beyond = grid.forget_beyond

    def damaged(self: Any) -> None:
        forget_beyond(self)
        self.distances[1, 2] *= 0.5

    monkeypatch.setattr(grid, "forget_beyond", damaged)
    with pytest.raises(VerificationError, match="not the least over their neighbours"):
        cost_distance(np.ones((4, 4)), [(0, 0)], back_direction=True, device=device)


def test_arrays_of_a_gpu_stay_there(device: str) -> None:
    if device == "cpu":
        pytest.skip("needs a GPU")
    import cupy as cp

    friction = cp.asarray(np.random.default_rng(0).uniform(1, 2, (40, 50)).astype(np.float32))
    result = cost_distance(friction, [(3, 4)], **ALL)
    here = cost_distance(friction.get(), [(3, 4)], **ALL, device="cpu")
    assert isinstance(result.distance, cp.ndarray)
    assert (result.distance.get() == here.distance).all()
    assert result.path(39, 49).tolist() == here.path(39, 49).tolist()
    assert isinstance(result, CostDistance)
