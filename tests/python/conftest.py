"""The methods of several sources, on the devices that have them."""

from __future__ import annotations

import math

import pytest

from groute_py.engine.option_values import METHODS


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest, device: str) -> str:
    if (device, request.param) == ("cpu", "single"):
        pytest.skip("single is a method for GPUs")
    return str(request.param)


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let labels answer whatever they may."""
    monkeypatch.setattr("groute_py.many.labels.pays", lambda order_s, *_: order_s < math.inf)
