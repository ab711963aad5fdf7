"""Modules that a command's end leaves to the system, and others."""

from __future__ import annotations

from pathlib import Path

from support.processes import run_python

ENDING = """
import atexit, sys, types
import groute_py.errors
from groute_py.cli.signals import be_done

class Says:
    def __init__(self, name):
        self.name = name
    def __del__(self, write=sys.stdout.write):
        write(f"{self.name} was freed\\n")

groute_py.errors.probe = Says("ours")
sys.modules["plugin"] = plugin = types.ModuleType("plugin")
plugin.probe, plugin.file = Says("the plugin's"), open(sys.argv[1], "w")
plugin.file.write("whole")
atexit.register(print, "the handler ran")
be_done()
"""


def test_only_our_modules_are_left_to_the_system(tmp_path: Path) -> None:
    done = run_python(ENDING, tmp_path / "plugin.txt")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "the handler ran\nthe plugin's was freed\n"
    assert (tmp_path / "plugin.txt").read_text() == "whole"
