"""An option with one value that is given twice: one error, which says what to do."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from groute_py.cli.main import commands

GRAPH = "road:9x9"

REPEATED = {
    "source": (["sssp", GRAPH, "-s", "1", "-s", "2"], "--source was given 2 times; for several"),
    "long name": (["sssp", GRAPH, "-s", "1", "--source=2"], "apsp --sources ID,ID"),
    "of bfs": (["bfs", GRAPH, "-s1", "-s2", "-s3"], "--source was given 3 times"),
    "sources": (["apsp", GRAPH, "--sources", "1", "--sources", "2"], "--sources ID,ID,…"),
    "cutoff": (["sssp", GRAPH, "--cutoff", "1", "--cutoff", "2"], "--cutoff was given 2 times"),
    "output": (["sssp", GRAPH, "-o", "a.npz", "-o", "b.npz"], "--output was given 2 times"),
    "the same": (["sssp", GRAPH, "--device", "cpu", "--device", "cpu"], "give it once"),
    "of verify": (["verify", GRAPH, "r", "--cutoff", "1", "--cutoff", "2"], "--cutoff was given"),
}


@pytest.mark.parametrize("name", REPEATED)
def test_options_with_one_value(name: str) -> None:
    arguments, says = REPEATED[name]
    done = CliRunner().invoke(commands, arguments)
    assert done.exit_code == 2
    assert says in done.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["sssp", GRAPH, "-s", "0", "-t", "1", "-t", "2", "--json", "--json", "--device", "cpu"],
        ["sssp", GRAPH, "--device", "cpu", "--", "-s"],
    ],
)
def test_others_may_be_repeated(arguments: list[str]) -> None:
    done = CliRunner().invoke(commands, arguments)
    assert "was given" not in done.output


def test_help_is_shown() -> None:
    done = CliRunner().invoke(commands, ["sssp", "-s", "1", "--help"])
    assert done.exit_code == 0
    assert "--source" in done.output
