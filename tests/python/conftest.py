"""The methods of several sources, on the devices that have them."""

from __future__ import annotations

import pytest

from groute_py.engine.options import METHODS


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest, device: str) -> str:
    if (device, request.param) == ("cpu", "single"):
        pytest.skip("single is a method for GPUs")
    return str(request.param)
