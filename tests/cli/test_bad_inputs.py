"""Bad inputs and situations: each ends in seconds with one message and its documented exit code.

The table runs in this process (one rank) and under mpirun (two ranks). Nothing comes on stdout and
no output file is left. mpirun adds lines of its own on stderr, so ours are counted by their mark.
"""

from __future__ import annotations

import gzip
import lzma
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands_on_ranks import Ended, run_on_ranks
from support.one_error import WITHIN_S, Bad, check, quick

from groute_py.cli.main import main

GOOD = "p sp 4 4\na 1 2 1\na 2 3 5\na 3 2 1\na 3 4 2\n"


TABLE = {
    # the file
    "missing file": Bad("sssp @absent.gr", 2, "absent.gr: no such file"),
    "folder as graph": Bad("sssp @folder", 2, "is a folder, not a graph file"),
    "unreadable file": Bad("sssp /proc/self/mem", 2, "cannot be read: Input/output error"),
    "device as graph": Bad("sssp /dev/null", 2, "is not a regular file"),
    "empty file": Bad("sssp @empty.gr", 2, "empty.gr: is empty"),
    "not a graph": Bad("sssp @noise.gr", 2, "is not a graph file; the known formats are"),
    "truncated gzip": Bad("sssp @truncated.gr.gz", 2, "truncated: the gzip data ends before"),
    "corrupt gzip": Bad("sssp @corrupt.gr.gz", 2, "damaged gzip data"),
    "damaged native file": Bad("sssp @damaged.csr", 2, "damaged native graph"),
    # its lines
    "fewer arcs than promised": Bad("sssp @fewer.gr", 2, "promises 5 arcs, but there are only 4"),
    "more arcs than promised": Bad("sssp @more.gr", 2, "more.gr:5: more arcs than the 3"),
    "id 0": Bad("sssp @zero.gr", 2, "zero.gr:2: vertex 0 is outside the range 1..4"),
    "id above n": Bad("sssp @beyond.gr", 2, "beyond.gr:5: vertex 5 is outside the range 1..4"),
    "no p line": Bad("sssp @headless.gr", 2, "headless.gr:1: an arc before the `p sp"),
    "garbage line": Bad("sssp @garbage.gr", 2, "garbage.gr:3: unknown line type '!!'"),
    "NaN weight": Bad("sssp @nan.gr", 2, "nan.gr:2: expected a finite number as weight, got 'nan'"),
    "infinite weight": Bad("sssp @inf.gr", 2, "expected a finite number as weight, got 'inf'"),
    "weight beyond 64 bits": Bad("sssp @token.gr", 2, "does not fit in 64-bit integers"),
    "no vertices": Bad("sssp @nobody.gr", 2, "nobody has no vertices"),
    # other formats, and what lies behind a suffix
    "Matrix Market of complex numbers": Bad("sssp @complex.mtx", 2, "complex.mtx:1: values are"),
    "edge list with NaN": Bad("sssp @nan.csv", 2, "nan.csv:3: expected a finite number as weight"),
    "METIS with too few lines": Bad("sssp @few.graph", 2, "has lines for only 2"),
    "matrix with a word": Bad("sssp @word.mat", 2, "word.mat:3: expected an integer, got 'x'"),
    "truncated binary": Bad("sssp @cut.galois", 2, "truncated: ends at byte 40, within the heads"),
    "truncated xz": Bad("sssp @cut.gr.xz", 2, "truncated: the xz data ends before"),
    "a zip that is none": Bad("sssp @none.npz", 2, "none.npz: "),
    "unknown graph by name": Bad("sssp dimacs:XX", 2, "there is no graph 'dimacs:XX'; there are"),
    # what the graph forbids
    "negative weight": Bad(
        "sssp @negative.gr --algorithm delta-stepping", 2, "which delta-stepping cannot take"
    ),
    "negative cycle": Bad("sssp @cycle.gr", 4, "negative cycle of weight -4: 2 → 3 → 2"),
    "sums beyond 64 bits": Bad("sssp @sums.gr", 1, "does not fit in int64"),
    # the choices
    "source 0": Bad("sssp @good.gr -s 0", 2, "source 0 is not a vertex of good; vertices are 1..4"),
    "source above n": Bad("sssp @good.gr -s 5", 2, "source 5 is not a vertex of good"),
    "source is no number": Bad(
        "sssp @good.gr -s one", 2, "source 'one' is no integer, but the graph's ids are"
    ),
    "target above n": Bad("sssp @good.gr -t 4 -t 5", 2, "target 5 is not a vertex of good"),
    "target without predecessors": Bad(
        "sssp @good.gr -t 4 --no-predecessors", 2, "--target prints a path"
    ),
    "unknown algorithm": Bad(
        "sssp @good.gr --algorithm a-star", 2, "algorithm 'a-star' is unknown"
    ),
    "unknown device": Bad("sssp @good.gr --device abacus", 2, "device 'abacus' is unknown"),
    "unknown partition": Bad("sssp @good.gr --partition fair", 2, "partition 'fair' is unknown"),
    "negative delta": Bad("sssp @good.gr --delta -1", 2, "delta must be positive, not -1.0"),
    "delta that is no number": Bad("sssp @good.gr --delta nan", 2, "delta must be positive"),
    "NaN cutoff": Bad("sssp @good.gr --cutoff nan", 2, "cutoff must be a number"),
    "cutoff below all": Bad("sssp @good.gr --cutoff -1e30", 2, "cutoff must not be negative"),
    "no trials": Bad("sssp @good.gr --trials 0", 2, "0 is not in the range x>=1"),
    "threads in words": Bad("sssp @good.gr --threads x", 2, "'x' is not a valid integer."),
    "no time": Bad("sssp @good.gr --time-limit 0", 2, "the time limit must be more than 0"),
    "endless time": Bad("sssp @good.gr --time-limit inf", 2, "the time limit must be"),
    "too little time": Bad("sssp road:300x300 -s 45150 --time-limit 0.001", 1, "the time limit"),
    "bad spec": Bad("sssp road:20", 2, "cannot generate 'road:20': write it like road:1000x1000"),
    "spec too large": Bad("sssp rmat:31", 2, "the scale is at most 30"),
    # the output
    "unknown suffix": Bad("sssp @good.gr -o @out.xyz", 2, "unknown suffix '.xyz'"),
    "output in a missing folder": Bad(
        "sssp @good.gr -o @none/out.npz", 2, "does not exist; create"
    ),
    "output is a folder": Bad("sssp @good.gr -o @folder.npz", 2, "is a directory; name a file in"),
    "output over the graph": Bad(
        "sssp @good.gr -o @folder/../good.gr --output-format sol", 2, "is both GRAPH and --output"
    ),
    "telemetry over the graph": Bad(
        "bfs @good.gr --telemetry @good.gr", 2, "good.gr: is both GRAPH and --telemetry; name"
    ),
    "two answers in one file": Bad(
        "sssp @good.gr -o @both.csv --telemetry @both.csv", 2, "is both --output and --telemetry"
    ),
    "rows over their sources": Bad(
        "apsp @good.gr --sources @@plain.npy -o @plain.npy", 2, "is both --sources and --output"
    ),
    "link to itself": Bad("sssp @loop.gr", 2, "cannot be read: Too many levels of symbolic links"),
    "rows over the graph": Bad("apsp @none.npz -o @none.npz", 2, "is both GRAPH and --output"),
    "output that cannot be": Bad("sssp @good.gr -o /proc/out.npz", 2, "cannot be written"),
    # the other commands
    "no command": Bad("dance @good.gr", 2, "No such command 'dance'"),
    "no graph": Bad("sssp", 2, "Missing argument 'GRAPH'"),
    "info on nothing": Bad("info @absent.gr", 2, "absent.gr: no such file"),
    "info on a bad file": Bad("info @zero.gr", 2, "zero.gr:2: vertex 0"),
    "convert to what": Bad("convert @good.gr @out.xyz", 2, "unknown suffix; a graph is written as"),
    "convert to nowhere": Bad(
        "convert @good.gr @none/out.gr", 2, "none does not exist; create it first"
    ),
    "generate what": Bad("generate ring:5 -o @out.gr", 2, "cannot generate 'ring:5'"),
    "result that is wrong": Bad(
        "verify @good.gr @wrong.npz", 3, "vertex 3 has distance 6, but vertex 2 has 0"
    ),
    "result for another graph": Bad("verify @good.gr @other.npz", 2, "do not belong together"),
    "verified up to what": Bad(
        "verify @good.gr @wrong.npz --cutoff nan", 2, "cutoff must be a number, not NaN"
    ),
    "not a result": Bad("verify @good.gr @noise.gr", 2, "not a saved result"),
    "result without a source": Bad("verify @good.gr @some.npz", 2, "it lacks source"),
    "distances only": Bad("verify @good.gr @plain.npy", 2, "an .npy file has no source"),
    "no result": Bad("verify @good.gr @absent.npz", 2, "absent.npz: cannot be read: No such file"),
    "no coordinates": Bad("sssp @good.gr --coordinates @absent.co", 2, "no such file of coord"),
    "cache without a name": Bad("sssp @good.gr --cache=", 2, "names no folder"),
    "two caches": Bad("info @good.gr --cache @folder --no-cache", 2, "give one of them"),
    "no cache, and one": Bad("sssp @good.gr --no-cache --cache @folder", 2, "give one of them"),
    "paths to nowhere": Bad("apsp @good.gr --paths", 2, "name an --output, or drop it"),
    "paths that are reduced": Bad("apsp @good.gr --reduce sum --paths", 2, "name an --output"),
    "a result's weights": Bad(
        "plot @wrong.npz -o @out.svg --weight toll", 2, "wrong.npz is no graph; drop --undirected"
    ),
    "a result that no cache keeps": Bad("plot @wrong.npz -o @out.svg --no-cache", 2, "is no graph"),
    "a partition without parts": Bad(
        "plot @good.gr -o @out.svg --partition vertices", 2, "say how many parts"
    ),
    "a plan for nothing": Bad("plan @good.gr --job matrix:0x4", 2, "a job is matrix:KxT, nearest"),
    "too many parts": Bad("info @good.gr --parts 99999999999999999999", 2, "is not in the range"),
    "rows where none can be": Bad("apsp @good.gr -o /proc/x.npy", 2, "cannot be written"),
    "tasks of no array": Bad("launch slurm --at-once 3 -- sssp x", 2, "--at-once is of the tasks"),
    "launch of nothing known": Bad("launch slurm -- ssps x", 2, "there is no command 'ssps'"),
    "host without a name": Bad(
        "launch mpirun --ntasks-per-node 2 --hosts a,,b -- sssp x", 2, "--hosts: expected a name"
    ),
    "hosts with another separator": Bad(
        "launch mpirun --ntasks-per-node 2 --hosts a;b -- sssp x", 2, "names of hosts, got 'a;b'"
    ),
    "host in quotes": Bad(
        "launch mpirun --ntasks-per-node 2 --hosts '' -- sssp x", 2, "names of hosts, got \"''\""
    ),
    "host that is an option": Bad(
        "launch mpirun --ntasks-per-node 2 --hosts=a,-x -- sssp x", 2, "got '-x'"
    ),
}


def bad_files() -> dict[str, bytes]:
    """The graph files of the table."""
    packed = bytearray(gzip.compress(GOOD.encode() + b"c more\n" * 50, mtime=0))
    whole = bytes(packed)
    packed[len(packed) // 2] ^= 0xFF
    text = {
        "good.gr": GOOD,
        "noise.gr": "what is this\n",
        "fewer.gr": GOOD.replace("p sp 4 4", "p sp 4 5"),
        "more.gr": GOOD.replace("p sp 4 4", "p sp 4 3"),
        "zero.gr": GOOD.replace("a 1 2", "a 0 2"),
        "beyond.gr": GOOD.replace("a 3 4", "a 3 5"),
        "headless.gr": GOOD.removeprefix("p sp 4 4\n"),
        "garbage.gr": GOOD.replace("a 2 3 5", "!! 2 3 5"),
        "nan.gr": GOOD.replace("a 1 2 1", "a 1 2 nan"),
        "inf.gr": GOOD.replace("a 1 2 1", "a 1 2 inf"),
        "token.gr": GOOD.replace("a 2 3 5", "a 2 3 9223372036854775808"),
        "nobody.gr": "p sp 0 0\n",
        "negative.gr": GOOD.replace("a 3 4 2", "a 3 4 -2"),
        "cycle.gr": GOOD.replace("a 2 3 5", "a 2 3 -5"),
        "sums.gr": GOOD.replace("a 2 3 5", f"a 2 3 {2**63 - 2}"),
    }
    return {name: lines.encode() for name, lines in text.items()} | {
        "empty.gr": b"",
        "truncated.gr.gz": whole[:-12],
        "corrupt.gr.gz": bytes(packed),
        "damaged.csr": b"groute-py",
        "complex.mtx": b"%%MatrixMarket matrix coordinate complex general\n1 1 0\n",
        "nan.csv": b"tail,head,weight\n1,2,3\n2,3,nan\n",
        "few.graph": b"3 1\n2\n1\n",
        "word.mat": b"2\n0 1\nx 0\n",
        "cut.galois": np.array([1, 4, 1, 2, 2], "<u8").tobytes(),
        "cut.gr.xz": lzma.compress(GOOD.encode())[:-9],
        "none.npz": b"PK\3\4" + bytes(26) + b"data.npy",
    }


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that ``@`` stands for."""
    folder = tmp_path_factory.mktemp("inputs")
    for name, content in bad_files().items():
        (folder / name).write_bytes(content)
    for name in ("folder", "folder.npz"):
        (folder / name).mkdir()
    (folder / "loop.gr").symlink_to(folder / "loop.gr")
    good = {"source": 0, "distances": np.array([0, 1, 6, 8])}
    np.savez(folder / "wrong.npz", **{**good, "distances": np.array([0, 0, 6, 8])})
    np.savez(folder / "other.npz", **{**good, "distances": np.arange(3)})
    np.savez(folder / "some.npz", distances=good["distances"])
    np.save(folder / "plain.npy", good["distances"])
    import groute_py

    graph = groute_py.read_graph(folder / "good.gr")
    groute_py.write_graph(graph, folder / "damaged.csr")
    with open(folder / "damaged.csr", "r+b") as file:
        file.truncate(300)
    return folder


def words_of(bad: Bad, inputs: Path, output: Path) -> list[str]:
    """The command line; a solve that names no output gets one that must not appear."""
    words = [re.sub("@(?!@)", f"{inputs}/", word) for word in bad.words.split()]
    if words[0] == "sssp" and "-o" not in words:
        words += ["-o", str(output)]
    return words


Here = Callable[[list[str]], int]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[Here]:
    """Run the command line in this process; returns the exit code."""
    names = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGUSR1)
    before = [(name, signal.getsignal(name)) for name in names]

    def run(words: list[str]) -> int:
        monkeypatch.setattr(sys, "argv", ["groute-py", *words])
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0)

    yield run
    signal.setitimer(signal.ITIMER_REAL, 0)
    for name, handler in before:
        signal.signal(name, handler)


@pytest.mark.parametrize("name", TABLE)
def test_on_one_rank(
    name: str, inputs: Path, tmp_path: Path, here: Here, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(inputs.rglob("*"))
    with quick():
        code = here(words_of(TABLE[name], inputs, tmp_path / "out.npz"))
    check(TABLE[name], code, *capsys.readouterr())
    assert not list(tmp_path.iterdir())
    assert sorted(inputs.rglob("*")) == before


ABORTS = {"too little time"}
"""May end by MPI's abort, which ends all that one mpirun runs."""
TOGETHER = {name: bad for name, bad in TABLE.items() if name not in ABORTS}


@pytest.fixture(scope="module")
def on_two_ranks(
    inputs: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Ended], list[Path]]:
    """How each ended, one after another on the ranks of one mpirun; and files that this left."""
    before, output = sorted(inputs.rglob("*")), tmp_path_factory.mktemp("output")
    lines = [words_of(bad, inputs, output / "out.npz") for bad in TOGETHER.values()]
    ended = run_on_ranks(lines, 2, tmp_path_factory.mktemp("ranks"))
    assert sorted(inputs.rglob("*")) == before
    return dict(zip(TOGETHER, ended, strict=True)), sorted(output.iterdir())


@pytest.mark.mpi
@pytest.mark.parametrize("name", TOGETHER)
def test_on_two_ranks(name: str, on_two_ranks: tuple[dict[str, Ended], list[Path]]) -> None:
    ended, left = on_two_ranks
    code, out, err, seconds = ended[name]
    check(TABLE[name], code, out, err)
    assert seconds < WITHIN_S
    assert not left


@pytest.mark.mpi
@pytest.mark.parametrize("name", ["missing file", "no command", "negative cycle", *ABORTS])
def test_under_mpirun(name: str, inputs: Path, tmp_path: Path, groute: Any) -> None:
    with quick():
        done = groute(*words_of(TABLE[name], inputs, tmp_path / "out.npz"), ranks=2)
    check(TABLE[name], done.returncode, done.stdout, done.stderr)
    assert not list(tmp_path.iterdir())


def test_the_table_is_long_enough() -> None:
    assert len(TABLE) >= 25
    assert {bad.code for bad in TABLE.values()} == {1, 2, 3, 4}


@pytest.mark.parametrize("name", ["a b", "a\n#SBATCH --wrap=true", "", "-x"])
def test_names_that_would_be_parted(
    name: str, here: Here, capsys: pytest.CaptureFixture[str]
) -> None:
    code = here(["launch", "slurm", "--account", name, "--", "sssp", "usa.gr"])
    check(Bad("", 2, "--account: expected a name"), code, *capsys.readouterr())


def test_a_word_that_parts_programs(here: Here, capsys: pytest.CaptureFixture[str]) -> None:
    """Not in the table: the mpirun that starts two ranks would take it for its own."""
    words = ["launch", "mpirun", "--ntasks-per-node", "2", "--", "sssp", "x", ":", "sssp", "y"]
    code = here(words)
    check(Bad("", 2, "as ./:"), code, *capsys.readouterr())
