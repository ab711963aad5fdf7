"""The commands matrix, nearest and route: answers, files, what they refuse."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import Run, as_json, run_command
from support.graphs import random_graph
from support.keeping import interrupted_at, row_by_row, write_at_once
from support.kept_rows import listing
from support.reference import nearest_of, rows_from, turned_round

import groute_py
from groute_py import Graph, InputError, RunError, write_graph
from groute_py.errors import InterruptedRun, TimeLimitError
from groute_py.jobs import k_nearest
from groute_py.jobs import pairs as job_pairs
from groute_py.many.storage import row_files

Command = Callable[..., Any]


@pytest.fixture
def graph() -> Graph:
    return random_graph(60, 200, seed=3, greatest=9)


def run(*words: object) -> dict[str, Any]:
    return as_json(run_command(*words, "--device", "cpu", "--json"))


class TestMatrix:
    """``groute-py matrix``."""

    WORDS = ("matrix", "town.csv", "--from", "home,zoo", "--to", "pub,zoo,home")

    def test_a_table(self, place: Path) -> None:
        result = run(*self.WORDS, "-o", "out.csv", "--paths")
        assert (result["sources"], result["targets"], result["solved_now"]) == (2, 3, 2)
        assert (place / "out.csv").read_text() == (
            "source,target,distance_km,predecessor\n"
            "home,pub,7,work\nhome,zoo,inf,\nhome,home,0,\n"
            "zoo,pub,11,work\nzoo,zoo,0,\nzoo,home,4,zoo\n"
        )
        run(*self.WORDS, "-o", "back.csv", "--reverse")
        assert (place / "back.csv").read_text().splitlines()[1:4] == [
            "home,pub,1", "home,zoo,4", "home,home,0",
        ]  # fmt: skip

    def test_parquet(self, place: Path) -> None:
        pq = pytest.importorskip("pyarrow.parquet")
        run(*self.WORDS, "-o", "out.parquet")
        rows = [tuple(row.values()) for row in pq.read_table(place / "out.parquet").to_pylist()]
        assert rows[:2] == [("home", "pub", 7), ("home", "zoo", None)]

    @pytest.mark.parametrize("name", ["out.npy", "out.npz", "out.zarr"])
    def test_arrays(self, place: Path, name: str) -> None:
        wanted = [[7, groute_py.UNREACHED, 0], [11, 0, 4]]
        if name.endswith("zarr"):
            zarr = pytest.importorskip("zarr")
            run(*self.WORDS, "-o", name)
            group = zarr.open_group(str(place / name), mode="r")
            assert group["distances"][:].tolist() == wanted
            assert group.attrs["targets"] == [2, 3, 0]
            return
        run(*self.WORDS, "-o", name)
        if name.endswith("npy"):
            assert np.load(place / name).tolist() == wanted
        else:
            with np.load(place / name) as result:
                assert result["distances"].tolist() == wanted
                assert (result["sources"].tolist(), result["targets"].tolist()) == (
                    [0, 3],
                    [2, 3, 0],
                )
                assert result["ids"].tolist() == ["home", "work", "pub", "zoo"]
        assert listing(place) == sorted([name, "town.csv"])

    @pytest.mark.mpi
    @pytest.mark.parametrize("ranks", [2, 3])
    def test_on_ranks(self, groute: Command, place: Path, graph: Graph, ranks: int) -> None:
        write_graph(graph, place / "it.csr")
        ends = ["--from", "random:20", "--to", "3,5,59"]
        done = groute(
            "matrix", place / "it.csr", *ends, "-o", place / "out.npz", "--device", "cpu",
            ranks=ranks,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        result = np.load(place / "out.npz")
        wanted = rows_from(graph, result["sources"])[:, [3, 5, 59]]
        np.testing.assert_array_equal(result["distances"], wanted)

    def test_a_full_disk_and_going_on(
        self, place: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_graph(graph, place / "it.csr")
        words = ["matrix", "it.csr", "--from", "all", "--to", "3,5", "-o", "out.csv"]
        written, pwrite = 0, os.pwrite

        def full(*arguments: Any) -> int:
            nonlocal written
            written += 1
            if written > 40:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return pwrite(*arguments)

        with monkeypatch.context() as change:
            change.setattr(row_files.os, "pwrite", full)
            with pytest.raises(RunError, match=r"No space left .* --resume"):
                run(*words)
        assert not (place / "out.csv").exists()
        with pytest.raises(InputError, match="a run in which targets differed"):
            run(*words[:4], "--to", "3,6", "-o", "out.csv", "--resume")
        assert run(*words, "--resume")["solved_now"] < 60
        lines = (place / "out.csv").read_text().splitlines()[1:]
        wanted = rows_from(graph, range(60))[:, [3, 5]].reshape(-1).tolist()
        shown = ["inf" if x == groute_py.UNREACHED else str(x) for x in wanted]
        assert [line.split(",")[2] for line in lines] == shown
        assert listing(place) == ["it.csr", "out.csv", "town.csv"]

    @pytest.mark.parametrize(
        ("words", "problem"),
        [
            (["--from", "pier", "--to", "home"], "source pier is not a vertex of town"),
            (["--from", "home", "--to", "pier"], "target pier is not a vertex of town"),
            (["--from", "home", "--to", ","], "',' names no target"),
            (["--from", "home", "--to", "random:9"], "9 targets cannot be drawn from 4"),
            (["--from", "@none.txt", "--to", "home"], "none.txt"),
            (["--from", "home", "--to", "pub", "-o", "out.doc"], "unknown suffix '.doc'"),
            (["--from", "home", "--to", "pub", "-o", "town.csv"], "is both GRAPH and --output"),
            (["--from", "home", "--to", "pub", "-o", "x.npy", "--paths"], "holds one array"),
            (["--from", "home", "--to", "pub", "-o", "no/x.npy"], "does not exist"),
        ],
    )
    def test_bad_input(self, place: Path, words: list[str], problem: str) -> None:
        output = [] if "-o" in words else ["-o", "out.csv"]
        with pytest.raises(InputError, match=problem):
            run("matrix", "town.csv", *words, *output)
        assert listing(place) == ["town.csv"]

    def test_what_is_required(self) -> None:
        for left_out in ("--from", "--to"):
            words = {"--from": "home", "--to": "pub", "-o": "out.npy"}
            del words[left_out]
            done = run_command("matrix", "town.csv", *(x for pair in words.items() for x in pair))
            assert done.exit_code == 2
            assert "Missing option" in done.output


class TestNearest:
    """``groute-py nearest``."""

    def test_two_of_each(self, place: Path) -> None:
        words = ("nearest", "town.csv", "--facilities", "pub,home", "-k", 2)
        result = run(*words, "-o", "two.csv")
        assert (result["facilities"], result["reached"], result["greatest_distance"]) == (2, 3, 7)
        assert (place / "two.csv").read_text().splitlines()[:5] == [
            "vertex,rank,facility,distance_km,next",
            "home,1,home,0,", "home,2,pub,1,pub",
            "work,1,home,5,home", "work,2,pub,6,home",
        ]  # fmt: skip
        with pytest.raises(InputError, match="k must be at least 1"):
            run(*words[:-1], 0, "-o", "two.csv")

    def test_going_on(self, place: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
        """After an interrupt between two blocks of rows; of another graph or options it refuses."""
        write_at_once(monkeypatch)
        monkeypatch.setattr("groute_py.device.cpu.rows.BLOCK_BYTES", 1)
        write_graph(graph, place / "it.csr")
        write_graph(random_graph(60, 200, seed=4, greatest=9), place / "other.csr")
        words = ["nearest", "it.csr", "-o", "out.npz", "-k", "3", "--facilities"]
        run(*words[:3], "wanted.npz", *words[4:], "random:30")
        with interrupted_at(4, k_nearest.Smallest, "take"), pytest.raises(InterruptedRun) as caught:
            run(*words, "random:30")
        assert (state := re.match(r"interrupted; (\d+) of 30 facilities", str(caught.value)))
        assert not (place / "out.npz").exists()
        for other, differs in [
            ([words[0], "other.csr", *words[2:], "random:30"], "graph"),
            ([*words[:5], "2", words[6], "random:30"], "k"),
            ([*words, "random:29"], "facilities"),
            ([*words, "random:30", "--to-facility"], "graph, to_facility"),
            ([*words, "random:30", "--cutoff", "9"], "cutoff"),
        ]:
            with pytest.raises(InputError, match=f"a run in which {differs} differed"):
                run(*other, "--resume")
        assert run(*words, "random:30", "--resume")["solved_now"] == 30 - int(state[1])
        assert (place / "out.npz").read_bytes() == (place / "wanted.npz").read_bytes()
        assert not (place / "out.npz.partial").exists()
        with pytest.raises(InputError, match="--resume: without -k the job is one solve"):
            run(*words[:4], "--facilities", "random:30", "--resume")

    def test_the_time_limit(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The message counts what --resume goes on with, not rows that are solved and not kept."""
        row_by_row(monkeypatch)
        monkeypatch.setattr("groute_py.cli.ranks.GRACE_S", 60)  # kernels may have to be compiled
        words = ("nearest", "town.csv", "--facilities", "pub,home", "-k", "2", "-o", "out.csv")
        with pytest.raises(TimeLimitError) as caught:
            run(*words, "--time-limit", "1e-4")
        reason = "the time limit passed before the answer was complete"
        state = "1 of 2 facilities are complete in out.csv.partial; go on with --resume"
        assert str(caught.value) == f"{reason}; {state}"

    def test_tables(self, place: Path) -> None:
        result = run("nearest", "town.csv", "--facilities", "pub,zoo", "-o", "out.csv")
        assert (result["facilities"], result["reached"], result["greatest_distance"]) == (2, 4, 6)
        assert (place / "out.csv").read_text() == (
            "vertex,facility,distance_km,next\nhome,pub,1,pub\nwork,pub,6,home\npub,pub,0,\nzoo,zoo,0,\n"
        )
        run("nearest", "town.csv", "--facilities", "pub", "-o", "to.csv", "--to-facility")
        assert (place / "to.csv").read_text().splitlines()[-1] == "zoo,pub,11,home"

    @pytest.mark.mpi
    @pytest.mark.parametrize("ranks", [1, 3])
    def test_on_ranks(self, groute: Command, place: Path, graph: Graph, ranks: int) -> None:
        write_graph(graph, place / "it.csr")
        words = ["--facilities", "40,3,5", "--to-facility", "--device", "cpu", "--json"]
        out = place / "out.npz"
        done = groute("nearest", place / "it.csr", *words, "-o", out, ranks=ranks)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["facilities"] == 3
        owners, distances = nearest_of(turned_round(graph), [40, 3, 5])
        result = np.load(out)
        assert result["to_facility"]
        np.testing.assert_array_equal(result["facilities"], owners)
        np.testing.assert_array_equal(result["distances"], distances)

    @pytest.mark.parametrize(
        ("words", "problem"),
        [
            (["--facilities", "pier"], "facility pier is not a vertex of town"),
            (["--facilities", ","], "names no facility"),
            (["--facilities", "random:9"], "9 facilities cannot be drawn from 4"),
            (["--facilities", "pub", "-o", "out.npy"], "unknown suffix '.npy'"),
            (["--facilities", "pub", "--cutoff", "-1"], "cutoff"),
            (["--facilities", "pub", "-o", "town.csv"], "is both GRAPH and --output"),
        ],
    )
    def test_bad_input(self, place: Path, words: list[str], problem: str) -> None:
        output = [] if "-o" in words else ["-o", "out.csv"]
        with pytest.raises(InputError, match=problem):
            run("nearest", "town.csv", *words, *output)
        assert listing(place) == ["town.csv"]


class TestRoute:
    """``groute-py route``."""

    def test_the_k_shortest(self, place: Path) -> None:
        with (place / "town.csv").open("a") as file:
            file.write("home,pub,2\n")
        words = ("route", "town.csv", "--from", "zoo,pub", "--to", "pub", "-o", "out.csv")
        result = run(*words, "-k", "3", "--paths")
        assert (result["pairs"], result["reached_pairs"], result["paths"]) == (2, 2, 3)
        assert (place / "out.csv").read_text() == (
            "source,target,rank,distance_km,path\n"
            'zoo,pub,1,6,"[""zoo"", ""home"", ""pub""]"\n'
            'zoo,pub,2,11,"[""zoo"", ""home"", ""work"", ""pub""]"\n'
            'pub,pub,1,0,"[""pub""]"\n'
        )
        with pytest.raises(InputError, match="--resume: with -k and --alternatives the paths"):
            run(*words, "--k", "2", "--resume")
        with pytest.raises(InputError, match="k must be at least 1"):
            run(*words, "-k", "0")
        assert run(*words, "-k", "3", "--cutoff", "10km")["paths"] == 2
        assert run(*words, "-k", "3", "--loops")["paths"] == 6
        assert run(*words, "--cutoff", "5")["reached_pairs"] == 1
        for longer, paths in (("300%", 3), ("1", 2)):
            assert run(*words, "--alternatives", "2", "--longer", longer)["paths"] == paths
        with pytest.raises(InputError, match="overlap must be a share"):
            run(*words, "--alternatives", "2", "--overlap", "100%")

    def test_a_table(self, place: Path) -> None:
        (place / "pairs.csv").write_text("source,target\nzoo,pub\nhome,zoo\nzoo,work\n")
        result = run("route", "town.csv", "--pairs", "pairs.csv", "-o", "out.csv", "--paths")
        assert (result["pairs"], result["sources"], result["reached_pairs"]) == (3, 2, 2)
        assert (place / "out.csv").read_text() == (
            "source,target,distance_km,path\n"
            'zoo,pub,11,"[""zoo"", ""home"", ""work"", ""pub""]"\n'
            "home,zoo,inf,[]\n"
            'zoo,work,9,"[""zoo"", ""home"", ""work""]"\n'
        )
        run("route", "town.csv", "--pairs", "pairs.csv", "-o", "back.csv", "--reverse")
        assert (place / "back.csv").read_text().splitlines()[1:] == [
            "zoo,pub,inf", "home,zoo,4", "zoo,work,inf",
        ]  # fmt: skip

    @pytest.mark.mpi
    @pytest.mark.parametrize("ranks", [1, 3])
    def test_on_ranks(self, groute: Command, place: Path, graph: Graph, ranks: int) -> None:
        write_graph(graph, place / "it.gr")
        pairs = np.random.default_rng(1).integers(0, 60, (50, 2))
        lines = [f"q {s + 1} {t + 1}\n" for s, t in pairs.tolist()]
        (place / "pairs.p2p").write_text("p aux sp p2p 50\n" + "".join(lines))
        words = ["--pairs", place / "pairs.p2p", "-o", place / "out.csv", "--device", "cpu"]
        done = groute("route", place / "it.gr", *words, ranks=ranks)
        assert done.returncode == 0, done.stderr
        rows = rows_from(graph, pairs[:, 0])[range(50), pairs[:, 1]].tolist()
        shown = ["inf" if x == groute_py.UNREACHED else str(x) for x in rows]
        result = [line.split(",") for line in (place / "out.csv").read_text().splitlines()[1:]]
        assert [line[2] for line in result] == shown
        assert [[int(s) - 1, int(t) - 1] for s, t, _ in result] == pairs.tolist()

    @pytest.mark.parametrize("paths", [False, True])
    def test_going_on(
        self, place: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch, *, paths: bool
    ) -> None:
        """After an interrupt between two rounds; of another graph, pairs or options it refuses."""
        pairs = np.random.default_rng(1).integers(0, 60, (150, 2)).tolist()
        for name, some in (("pairs.csv", pairs), ("other.csv", pairs[1:])):
            (place / name).write_text("".join(f"{source},{target}\n" for source, target in some))
        write_graph(graph, place / "it.csr")
        write_graph(random_graph(60, 200, seed=4, greatest=9), place / "other.csr")
        more = ["--paths"] if paths else []
        words = ["-o", "out.csv", *more, "--pairs"]
        run("route", "it.csr", "-o", "wanted.csv", *more, "--pairs", "pairs.csv")
        write_at_once(monkeypatch)
        with (
            interrupted_at(2, job_pairs, "_save_round"),
            pytest.raises(InterruptedRun) as caught,
        ):
            run("route", "it.csr", *words, "pairs.csv")
        assert str(caught.value).startswith("interrupted; 16 of 51 sources are complete in")
        assert not (place / "out.csv").exists()
        for graph_name, other, differs in [
            ("other.csr", ["pairs.csv"], "graph"),
            ("it.csr", ["other.csv"], "sources, targets"),
            ("it.csr", ["pairs.csv", "--reverse"], "graph, reverse"),
        ]:
            with pytest.raises(InputError, match=f"a run in which {differs} differed"):
                run("route", graph_name, *words, *other, "--resume")
        assert run("route", "it.csr", *words, "pairs.csv", "--resume")["solved_now"] == 51 - 16
        assert (place / "out.csv").read_bytes() == (place / "wanted.csv").read_bytes()
        assert not (place / "out.csv.partial").exists()

    @pytest.mark.parametrize(
        ("pairs", "words", "problem"),
        [
            ("zoo,pier\n", [], "target pier is not a vertex of town"),
            ("zoo\n", [], "expected a source and a target"),
            ("", [], "has no pairs"),
            ("zoo,pub\n", ["-o", "out.npz"], "unknown suffix '.npz'"),
            ("zoo,pub\n", ["-o", "pairs.csv"], "is both --pairs and --output"),
            ("zoo,pub\n", ["--memory-limit", "much"], "write it as 20G"),
        ],
    )
    def test_bad_input(self, place: Path, pairs: str, words: list[str], problem: str) -> None:
        (place / "pairs.csv").write_text(pairs)
        output = [] if "-o" in words else ["-o", "out.csv"]
        with pytest.raises(InputError, match=problem):
            run("route", "town.csv", "--pairs", "pairs.csv", *words, *output)
        assert listing(place) == ["pairs.csv", "town.csv"]


def test_help_loads_nothing_of_them(run: Run) -> None:
    for command in ("matrix", "nearest", "route", "query"):
        assert run(command, "--help").exit_code == 0
