"""Fixtures: devices, real graphs, and jobs under mpirun."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from support.command import Run, run_command
from support.graphs import graph_of
from support.processes import Done, Job, run_groute, run_under_mpirun
from support.skips import EMULATED, needs_gpu
from support.slow import is_slow

from groute_py import write_graph
from groute_py.system.settings import settings as own_settings

settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("repeatable")

collect_ignore_glob = ["*/[!t]*.py"]
"""Helpers are imported by tests; searched for doctests, the emulation would replace CuPy."""

if not any(map(find_spec, ("compression", "backports"))):
    collect_ignore_glob.append("*/test_fuzz.py")  # it packs files by zstd, which is missing here


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Number bytes: packed ones hold the time, and workers side by side must agree on names."""
    return argname if isinstance(val, bytes) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what slow.txt lists."""
    for item in items:
        if is_slow(item.nodeid):
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Spread the tests over workers as `support.spread` says."""
    if config.getoption("dist") != "loadfile":
        return None
    from support.spread import Spread

    return Spread(config, log)


def pytest_collection_finish() -> None:
    """Refuse to run where collecting has replaced CuPy, since tests of the GPU would not use it."""
    if ("support.emulation.cupy" in sys.modules) != EMULATED:
        raise pytest.UsageError(
            "collecting the tests imported support.emulation.cupy, so GPU tests would run in "
            "emulation; emulate on purpose with -p support.emulation.plugin, or keep the import "
            "out of collected files"
        )


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List the reasons of skips, each once, before what has failed."""
    skips = Counter(report.longrepr[2] for report in terminalreporter.getreports("skipped"))
    for reason, count in skips.most_common():
        terminalreporter.write_line(f"SKIPPED [{count}] {reason.removeprefix('Skipped: ')}")


DEVICES = ["cpu", pytest.param("cuda", marks=needs_gpu)]


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
    """Real graphs with known answers."""
    named = os.environ.get("GROUTE_PY_TEST_DATA")
    if not named or not Path(named).is_dir():
        pytest.skip(f"no folder of real graphs {named or ''!r}; set GROUTE_PY_TEST_DATA")
    return Path(named)


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests neither use nor fill the user's cache."""
    os.environ["GROUTE_PY_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    own_settings.cache_clear()  # collecting tests may have read them


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of this test alone."""
    monkeypatch.setenv("GROUTE_PY_CACHE", str(tmp_path / "cache"))
    own_settings.cache_clear()
    yield tmp_path / "cache"
    own_settings.cache_clear()


@pytest.fixture
def groute() -> Job:
    """Run ``groute-py ARGS`` on ``ranks`` ranks; returns the completed process."""
    return run_groute


@pytest.fixture
def script(tmp_path: Path) -> Job:
    """Run a plain Python script with arguments on ``ranks`` ranks under mpirun."""

    def run(text: str, ranks: int, *words: object) -> Done:
        path = tmp_path / "script.py"
        path.write_text(text)
        return run_under_mpirun(ranks, path, *words)

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
