"""What a solve on CPUs needs is compiled beforehand, so that it counts as compiling."""

from __future__ import annotations

import pytest
from support.processes import Job

SCRIPT = """
import importlib, pkgutil, sys
from groute_py import generate, sssp
from groute_py.engine import loading
from groute_py.kernels import cpu
from groute_py.kernels.cpu.kernel import Kernel

names = [f"{cpu.__name__}.{module.name}" for module in pkgutil.iter_modules(cpu.__path__)]
modules = [importlib.import_module(name) for name in names]
choose, beforehand = loading.choose, set()


def compiled():
    found = [value for module in modules for value in vars(module).values()]
    kernels = [value for value in found if isinstance(value, Kernel)]
    return {(kernel.__name__, str(kind)) for kernel in kernels for kind in kernel.signatures}


def watched(*words, **options):
    device = choose(*words, **options)
    warm_up = device.warm_up

    def noted(terms):
        warm_up(terms)
        beforehand.update(compiled())

    device.warm_up = noted
    return device


loading.choose = watched
sssp(generate("road:30x30"), 400, algorithm=sys.argv[1], device="cpu")
assert any("claim" in name for name, _ in beforehand), beforehand
later = sorted(compiled() - beforehand)
assert not later, later
"""


@pytest.mark.mpi
@pytest.mark.one_mpi
@pytest.mark.parametrize(
    ("method", "ranks"),
    [
        ("delta-stepping", 1),
        ("delta-stepping", 3),
        ("heap-dijkstra", 1),
        ("frontier-dijkstra", 1),
        ("contraction", 1),
    ],
)
def test_nothing_is_compiled_later(method: str, ranks: int, script: Job) -> None:
    done = script(SCRIPT, ranks, method)
    assert done.returncode == 0, done.stderr
