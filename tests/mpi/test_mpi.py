"""The command line and plain scripts under the real mpirun, at 2, 3 and 4 ranks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands_on_ranks import Ended, run_on_ranks
from support.graphs import graph_of, scipy_distances

from groute_py import generate, verify, write_graph
from groute_py.comm.awareness import belongs, mpi_library
from groute_py.launch.mpirun import find_mpirun, flavour, plan
from groute_py.results.result import read_result

pytestmark = pytest.mark.mpi

SPEC = "rmat:10"

RESET = "\x1b[0m"
"""Of a terminal's colours: a library that some builds of Open MPI load writes it as a rank ends."""


@pytest.fixture
def source() -> int:
    """A vertex that reaches much: the one with the most arcs."""
    return int(np.argmax(np.diff(generate(SPEC).offsets)))


def answer_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The one JSON object that stdout is, but for what an MPI library may leave at the end."""
    assert done.returncode == 0, done.stderr
    (line,) = filter(None, done.stdout.replace(RESET, "").splitlines())
    found = json.loads(line)
    assert isinstance(found, dict)
    return found


def test_the_same_answer_at_every_rank_count(device: str, groute: Any, source: int) -> None:
    expected = scipy_distances(generate(SPEC), source)
    reached = expected[expected < np.iinfo(np.int64).max]
    for ranks in (1, 2, 3, 4):
        words = ("--device", device, "--verify", "--json")
        found = answer_of(groute("sssp", SPEC, "-s", source, *words, ranks=ranks))
        assert found["sum_of_distances"] == reached.sum()
        assert found["greatest_distance"] == reached.max()
        assert found["reached"] == len(reached)
        assert found["verified"] is True
        assert found["statistics"]["ranks"] == ranks
        assert len(found["statistics"]["devices"]) == ranks
        sent = np.array(found["statistics"]["bytes_sent"])
        assert sent.shape == (ranks, ranks)
        assert not sent.diagonal().any()
        assert (sent.sum() > 0) == (ranks > 1)


STAR = graph_of(50, [(7, v, v + 1) for v in range(50) if v != 7])
"""The hub's owner has every arc, other parts none."""

NEGATIVE = graph_of(4, [(0, 1, 5), (0, 2, 2), (2, 1, -4), (1, 3, 1)])

LINES = {
    "for people": f"sssp {SPEC} -s SOURCE --device cpu --verify",
    "trials": f"sssp {SPEC} -s SOURCE --trials 3 --device cpu --json",
    "star": "sssp @star.gr.gz -s 8 -o @star.npz -t 50 --device cpu --verify --json",
    "turns": "sssp @town.csv -s 0 -t 2 --turns @turns.csv -o @turns.npz --device cpu --json",
    "route": "route @town.csv --pairs @pairs.csv --turns @turns.csv --paths -o @out.csv",
    "negative": "sssp @negative.gr -t 4 --device cpu --verify --json",
    "arcs": "sssp @two.csr -s 1 -o @arcs.npz --partition arcs --device cpu --verify",
    "vertices": "sssp @two.csr -s 1 -o @vertices.npz --partition vertices --device cpu --verify",
}
"""Command lines that one mpirun runs; ``@`` stands for the folder of the files."""


@pytest.fixture(scope="module")
def on_three_ranks(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Ended], Path]:
    """How each of `LINES` ended, and the folder of the files."""
    folder = tmp_path_factory.mktemp("files")
    write_graph(STAR, folder / "star.gr.gz")
    write_graph(NEGATIVE, folder / "negative.gr")
    write_graph(graph_of(2, [(0, 1, 5), (1, 0, 7)]), folder / "two.csr")
    (folder / "town.csv").write_text("0,1,3\n1,0,3\n1,2,1\n1,3,2\n3,2,4\n")
    (folder / "turns.csv").write_text("0,1,2,forbidden\n0,1,3,1\n")
    (folder / "pairs.csv").write_text("0,2\n1,2\n")
    start = str(int(np.argmax(np.diff(generate(SPEC).offsets))))
    lines = [line.replace("@", f"{folder}/").replace("SOURCE", start) for line in LINES.values()]
    ended = run_on_ranks([line.split() for line in lines], 3, tmp_path_factory.mktemp("ranks"))
    return dict(zip(LINES, ended, strict=True)), folder


def test_for_people(on_three_ranks: tuple[dict[str, Ended], Path]) -> None:
    ended = on_three_ranks[0]["for people"]
    assert ended.code == 0, ended.err
    assert ended.out.count("sum of distances") == 1
    assert "3 (cpu: " in ended.out
    assert "groute-py" not in ended.err


@pytest.mark.parametrize("partition", ["arcs", "vertices"])
def test_more_ranks_than_vertices(
    partition: str, on_three_ranks: tuple[dict[str, Ended], Path]
) -> None:
    ended, folder = on_three_ranks
    assert ended[partition].code == 0, ended[partition].err
    result = read_result(folder / f"{partition}.npz")
    assert result.distances.tolist() == [7, 0]
    assert result.predecessors is not None
    assert result.predecessors.tolist() == [1, -1]


def test_a_part_that_holds_all_arcs(on_three_ranks: tuple[dict[str, Ended], Path]) -> None:
    ended, folder = on_three_ranks
    assert ended["star"].code == 0, ended["star"].err
    paths = json.loads(ended["star"].out)["paths"]
    assert paths == [{"target": 50, "distance": 50, "path": [8, 50]}]
    result = read_result(folder / "star.npz")
    np.testing.assert_array_equal(result.distances, scipy_distances(STAR, 7))
    verify(STAR, result)


def test_trials(on_three_ranks: tuple[dict[str, Ended], Path]) -> None:
    trials = json.loads(on_three_ranks[0]["trials"].out)["trials"]
    assert len(trials["solve_seconds"]) == 3
    assert trials["median"] == sorted(trials["solve_seconds"])[1] > 0


def test_negative_weights(on_three_ranks: tuple[dict[str, Ended], Path]) -> None:
    found = json.loads(on_three_ranks[0]["negative"].out)
    assert found["paths"] == [{"target": 4, "distance": -1, "path": [1, 3, 2, 4]}]
    assert found["statistics"]["algorithm"] == "bellman-ford"


def test_turns(on_three_ranks: tuple[dict[str, Ended], Path]) -> None:
    """`tests/python/test_turns.py` has more of them, on ranks that are threads."""
    ended, folder = on_three_ranks
    assert ended["turns"].code == ended["route"].code == 0, ended["turns"].err
    paths = json.loads(ended["turns"].out)["paths"]
    assert paths == [{"target": 2, "distance": 10, "path": [0, 1, 3, 2]}]
    assert read_result(folder / "turns.npz").distances.tolist() == [0, 3, 10, 6]
    assert (folder / "out.csv").read_text().splitlines()[1:] == [
        '0,2,10,"[0, 1, 3, 2]"',
        '1,2,1,"[1, 2]"',
    ]


@pytest.mark.parametrize("words", [["info", SPEC], ["--version"]])
def test_only_one_rank_speaks(words: list[str], groute: Any) -> None:
    """The answer of two ranks is that of one, not two of them."""
    one, two = groute(*words), groute(*words, ranks=2)
    assert two.returncode == one.returncode == 0, two.stderr
    assert two.stdout == one.stdout


def test_a_file_is_written_once(groute: Any, tmp_path: Path) -> None:
    done = groute("generate", SPEC, "-o", tmp_path / "out.csr", ranks=2)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("written to") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["out.csr"]


def test_doctor(groute: Any) -> None:
    found = answer_of(groute("doctor", "--json", ranks=2))
    assert found["ranks"]["found"] == "2 on 1 host(s)"
    assert found["launcher"]["found"].endswith("2 ranks")
    assert found["mpirun"]["state"] == "good"
    assert all(f"local rank {rank}" in found[f"rank {rank}"]["found"] for rank in (0, 1))
    assert found["rank 1"]["detail"]["local_rank"] == 1
    assert found["cache of the job"]["found"] == "all ranks see the same"
    assert found["clocks"]["state"] == "good"
    assert not [what for what, finding in found.items() if finding["state"] == "wrong"]


def test_the_launcher_belongs_to_the_library() -> None:
    assert belongs(flavour(find_mpirun()), mpi_library())


SCRIPT = """
import numpy as np
from mpi4py import MPI

import groute_py

comm = MPI.COMM_WORLD
graph = groute_py.generate("random:300,1500") if comm.rank == 0 else None
result = groute_py.sssp(graph, 5, device="cpu")
assert (result is None) == (comm.rank > 0)

# on some of the ranks, while the others have something else to do
pair = comm.Split(comm.rank < 2, comm.rank)
again = groute_py.sssp(graph, 5, device="cpu", comm=pair) if comm.rank < 2 else None
assert (again is None) == (comm.rank > 0)

# what one rank alone solves, nobody else has to wait for
alone = groute_py.sssp("random:300,1500", 5, device="cpu", comm=MPI.COMM_SELF)
assert alone is not None

# an error of rank 0 is every rank's error, and all go on
try:
    groute_py.sssp("/absent.gr", 0)
except groute_py.InputError as error:
    assert "no such file" in str(error)
else:
    raise AssertionError

if comm.rank == 0:
    groute_py.verify(graph, result)
    np.testing.assert_array_equal(result.distances, alone.distances)
    np.testing.assert_array_equal(result.distances, again.distances)
    print("ranks", result.statistics["ranks"], again.statistics["ranks"])
"""


@pytest.mark.parametrize("ranks", [2, 3])
def test_a_plain_script(script: Any, ranks: int) -> None:
    done = script(SCRIPT, ranks)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"ranks {ranks} 2\n"


CHANNEL = """
import time
import numpy as np
from mpi4py import MPI
from groute_py.comm import mpi

mpi.PIECE_BYTES = 1000  # as if arrays were large
channel = mpi.MpiChannel(MPI.COMM_WORLD)
rank, size = channel.rank, channel.size

assert channel.broadcast({"from": rank}) == {"from": 0}
assert channel.broadcast("x" * 5000) == "x" * 5000
assert channel.gather(rank) == list(range(size))
arrays = [np.arange(700.0 * r) for r in range(size)] if rank == 0 else None
mine = channel.scatter(arrays)
assert len(mine) == 700 * rank
back = channel.collect(mine)
assert (back is None) == (rank > 0)
for _ in range(3):  # the second time it is there already
    parts = [r // 2 for r in range(size)]
    part = channel.split(parts)
    assert part.gather(rank) == [r for r in range(size) if r // 2 == rank // 2]
    assert channel.split([7] * size).size == size
if rank == 0:
    assert [len(part) for part in back] == [700 * r for r in range(size)]
    assert all((part == np.arange(len(part))).all() for part in back)

given = [np.full(10 * rank + r, rank - r, np.int32) for r in range(size)]
got = channel.exchange(given)
assert [part.tolist() for part in got] == [[r - rank] * (10 * r + rank) for r in range(size)]

for phase in range(3):  # a message is received in its phase only
    channel.begin()
    for peer in range(size):
        if peer != rank:
            channel.send(peer, np.full(3 * phase, phase, dtype=np.uint8))
    got = []
    while len(got) < size - 1:
        got += channel.receive()
    assert channel.sent == channel.received == size - 1
    assert all(message.tolist() == [phase] * 3 * phase for message in got)
    channel.vote([rank, 1.0])
    while (ballots := channel.tally()) is None:
        time.sleep(0.001)
    assert [list(ballot) for ballot in ballots] == [[r, 1.0] for r in range(size)]
    assert channel.tally() is None

assert channel.bytes_sent.sum() == 9 * (size - 1)
"""


GO_ON = """
import numpy as np
from groute_py import Graph, NegativeCycleError, TimeLimitError, generate, sssp, verify

good, bad = generate("road:60x60"), generate("rmat:12")
weights = bad.weights.copy()
weights[::97] = -3
bad = Graph(bad.offsets, bad.heads, weights)
source, caught = int(np.diff(bad.offsets).argmax()), 0
for trial in range(6):
    try:
        sssp(bad, source, device="cpu", time_limit_s=1e-9 if trial % 2 else None)
    except (NegativeCycleError, TimeLimitError):
        caught += 1
    result = sssp(good, 7, device="cpu")
    if result is not None:
        verify(good, result)
assert caught == 6
"""


@pytest.mark.parametrize("ranks", [2, 4])
def test_after_an_error_one_can_go_on(script: Any, ranks: int) -> None:
    done = script(GO_ON, ranks)
    assert done.returncode == 0, done.stderr


TEAMS = """
from groute_py import generate, sssp, verify
from groute_py.comm.connect import connect
from groute_py.comm.team import team_of

channel = connect()
rank, size = channel.rank, channel.size
numbers = [r * 2 // size for r in range(size)]
mates = [r for r in range(size) if numbers[r] == numbers[rank]]
for trial in range(3):
    team = team_of(channel)
    assert (team.first, team.hosts, team.channel.size) == (mates[0], 2, len(mates))
    assert team.agree(rank + trial) == [r + trial for r in mates]

graph = generate("rmat:10")
result = sssp(graph, 3, device="cpu", mode="rounds")
if rank == 0:
    verify(graph, result)
"""


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_teams(script: Any, monkeypatch: pytest.MonkeyPatch, ranks: int) -> None:
    monkeypatch.setenv("GROUTE_PY_HOSTS", "2")
    done = script(TEAMS, ranks)
    assert done.returncode == 0, done.stderr


def test_the_channel(script: Any) -> None:
    done = script(CHANNEL, 3)
    assert done.returncode == 0, done.stderr


def test_the_interpreter_is_the_tests_own() -> None:
    assert plan(2, []).python == sys.executable
