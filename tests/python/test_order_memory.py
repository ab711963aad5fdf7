"""The host memory that an order from separators takes, beside the graph."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.skips import require_metis

require_metis()

PEAK = """
from pathlib import Path
import groute_py
from groute_py.graph.hierarchy.separators.customizable import customizable
from groute_py.system.memory_limits import trim_heap

def bytes_of(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(key)).split()[1])

graph = groute_py.generate("road:400x400")
customizable(groute_py.generate("road:30x30"))  # compiles
trim_heap()
Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
before = bytes_of("VmRSS")
hierarchy = customizable(graph)
print((bytes_of("VmHWM") - before) / graph.nbytes)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux")
def test_an_order_takes_at_most_three_times_the_memory_of_its_graph() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PEAK], env=os.environ, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) <= 3
