"""Fixtures: devices, real graphs, and jobs under mpirun."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from command import Run, run_command
from graphs import graph_of
from hypothesis import HealthCheck, settings

from groute_py import write_graph
from groute_py.device.choose import gpu_problem
from groute_py.launch.mpirun import command, plan
from groute_py.settings import settings as own_settings

settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("repeatable")

NO_GPU = gpu_problem()

EMULATED = "emulated_cupy" in sys.modules
"""Whether GPUs are emulated, where everything but the smallest graphs takes long."""

collect_ignore_glob = ["[!t]*.py"]
"""Helpers are imported by tests; searched for doctests, emulated_gpu.py would replace CuPy."""

if not any(map(find_spec, ("compression", "backports"))):
    collect_ignore_glob.append("test_fuzz.py")  # it packs files by zstd, which is missing here


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Number bytes: packed ones hold the time, and workers side by side must agree on names."""
    return argname if isinstance(val, bytes) else None


def pytest_collection_finish() -> None:
    """Refuse to run where collecting has replaced CuPy, since tests of the GPU would not use it."""
    if ("emulated_cupy" in sys.modules) != EMULATED:
        raise pytest.UsageError(
            "collecting the tests imported emulated_cupy, so GPU tests would run in emulation; "
            "emulate on purpose with -p emulated_gpu, or keep the import out of collected files"
        )


DEVICES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=[pytest.mark.gpu, pytest.mark.skipif(NO_GPU is not None, reason=str(NO_GPU))],
    ),
]


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    """Every device there is: a test that takes this runs on each."""
    return str(request.param)


@pytest.fixture
def on_device(device: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """For functions without an argument for the device: they solve where the environment says."""
    monkeypatch.setenv("GROUTE_PY_DEVICE", device)
    own_settings.cache_clear()
    yield
    own_settings.cache_clear()


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Real graphs with known answers: GROUTE_PY_TEST_DATA, or shared/data beside the checkout."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("GROUTE_PY_TEST_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no real graphs at {folder}; set GROUTE_PY_TEST_DATA")
    return folder


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests neither use nor fill the user's cache."""
    os.environ["GROUTE_PY_CACHE"] = str(tmp_path_factory.mktemp("cache"))


Job = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def groute() -> Job:
    """Run ``groute-py ARGS`` on ``ranks`` ranks; returns the completed process."""

    def run(
        *args: object, ranks: int = 1, timeout: float = 120, **environ: str
    ) -> subprocess.CompletedProcess[str]:
        words = [str(arg) for arg in args]
        if ranks == 1:
            command = [sys.executable, "-m", "groute_py", *words]
        else:
            command = [sys.executable, "-m", "groute_py.launch", "-n", str(ranks), "--", *words]
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**os.environ, **environ},
            stdin=subprocess.DEVNULL,
            check=False,
        )

    return run


@pytest.fixture
def script(tmp_path: Path) -> Job:
    """Run a plain Python script with arguments on ``ranks`` ranks under mpirun."""

    def run(text: str, ranks: int, *args: object) -> subprocess.CompletedProcess[str]:
        (tmp_path / "script.py").write_text(text)
        words = command(plan(ranks, []))
        words[words.index("-m") :] = [str(tmp_path / "script.py"), *map(str, args)]
        return subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def run() -> Run:
    """Run a command in this process."""
    return run_command


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """0 → 1 → 2 with a detour, and a vertex that nothing leads to; ids from 1 in the file."""
    graph = graph_of(4, [(0, 1, 4), (0, 2, 9), (1, 2, 3), (3, 0, 1)])
    write_graph(graph, tmp_path / "small.gr")
    return tmp_path / "small.gr"
