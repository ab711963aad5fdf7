"""What commands write and read: results, graphs, copies."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from support.command import Run, as_json
from support.graphs import random_graph, scipy_distances

import groute_py
from groute_py import UNREACHED, Graph, read_graph, write_graph


class TestOutput:
    """-o in every form."""

    @pytest.fixture
    def saved(self, run: Run, small: Path) -> Callable[..., Path]:
        def save(name: str, *more: str) -> Path:
            target = small.with_name(name)
            done = run("sssp", small, "-o", target, "--device", "cpu", "--json", *more)
            assert as_json(done)["output"] == str(target)
            return target

        return save

    def test_npz(self, saved: Callable[..., Path]) -> None:
        with np.load(saved("out.npz")) as result:
            assert sorted(result.files) == ["distances", "first_id", "predecessors", "source"]
            assert {result[name].dtype.name for name in result.files} == {"int64"}
            assert result["source"] == 0
            assert result["distances"].tolist() == [0, 4, 7, UNREACHED]
            assert result["predecessors"].tolist() == [-1, 0, 1, -1]

    def test_npz_without_predecessors(self, saved: Callable[..., Path]) -> None:
        with np.load(saved("out.npz", "--no-predecessors")) as result:
            assert sorted(result.files) == ["distances", "first_id", "source"]

    def test_npy(self, saved: Callable[..., Path]) -> None:
        assert np.load(saved("out.npy")).tolist() == [0, 4, 7, UNREACHED]

    def test_csv(self, saved: Callable[..., Path]) -> None:
        lines = saved("out.csv").read_text().splitlines()
        assert lines == ["vertex,distance,predecessor", "1,0,", "2,4,1", "3,7,2", "4,inf,"]

    def test_txt(self, saved: Callable[..., Path]) -> None:
        assert saved("out.txt").read_text().splitlines() == ["1 0", "2 4", "3 7", "4 inf"]

    def test_what_does_not_verify_is_not_saved(
        self, run: Run, small: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from groute_py.device.cpu.device import CpuDevice

        right = CpuDevice.public_distances
        monkeypatch.setattr(CpuDevice, "public_distances", lambda self: right(self) // 2)
        with pytest.raises(groute_py.VerificationError):
            run("sssp", small, "-o", small.with_name("out.npz"), "--verify", "--device", "cpu")
        assert not small.with_name("out.npz").exists()


class TestVerify:
    """A saved result against a graph."""

    def test_good(self, run: Run, small: Path) -> None:
        target = small.with_name("out.npz")
        run("sssp", small, "-s", 4, "-o", target, "--device", "cpu")
        result = as_json(run("verify", small, target, "--json"))
        assert result["verified"] is True
        assert result["predecessors_checked"] is True
        assert (result["source"], result["reached"]) == (4, 4)
        assert "yes" in run("verify", small, target).stdout

    def test_without_predecessors(self, run: Run, small: Path) -> None:
        target = small.with_name("out.npz")
        run("sssp", small, "-o", target, "--no-predecessors", "--device", "cpu")
        assert as_json(run("verify", small, target, "--json"))["predecessors_checked"] is False

    def test_hops(self, run: Run, small: Path) -> None:
        target = small.with_name("out.npz")
        run("bfs", small, "-o", target, "--device", "cpu")
        assert as_json(run("verify", small, target, "--hops", "--json"))["verified"] is True
        with pytest.raises(groute_py.VerificationError):
            run("verify", small, target)

    def test_objective(self, run: Run, small: Path) -> None:
        target = small.with_name("out.npz")
        run("sssp", small, "-o", target, "--objective", "widest", "--device", "cpu")
        assert run("verify", small, target, "--objective", "widest").exit_code == 0
        with pytest.raises(groute_py.VerificationError, match="an objective --objective"):
            run("verify", small, target)

    def test_cutoff(self, run: Run, small: Path) -> None:
        target = small.with_name("out.npz")
        run("sssp", small, "-o", target, "--cutoff", 4, "--device", "cpu")
        assert run("verify", small, target, "--cutoff", 4).exit_code == 0
        with pytest.raises(groute_py.VerificationError):
            run("verify", small, target)


class TestFiles:
    """info, generate and convert."""

    def test_info(self, run: Run, small: Path) -> None:
        result = as_json(run("info", small, "--json"))
        assert (result["vertices"], result["arcs"], result["first_id"]) == (4, 4, 1)
        assert (result["least_weight"], result["greatest_weight"]) == (1, 9)
        assert (result["greatest_degree"], result["vertices_without_arcs_out"]) == (2, 1)
        assert re.search(r"greatest weight +9\n", run("info", small).stdout)

    def test_info_of_parts(self, run: Run) -> None:
        result = as_json(run("info", "road:20x20", "--parts", 3, "--json"))
        assert {"cut_by_arcs", "cut_by_vertices", "imbalance_by_arcs"} <= result.keys()
        one = as_json(run("info", "road:20x20", "--parts", 1, "--json"))
        assert (one["cut_by_arcs"], one["imbalance_by_arcs"]) == (0, 1.0)

    def test_info_of_nothing(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "none.gr").write_text("p sp 0 0\n")
        result = as_json(run("info", tmp_path / "none.gr", "--json", "--parts", 2))
        assert (result["vertices"], result["greatest_degree"]) == (0, 0)

    @pytest.mark.parametrize("suffix", [".csr", ".gr", ".gr.gz"])
    def test_generate(self, run: Run, tmp_path: Path, suffix: str) -> None:
        target = tmp_path / f"out{suffix}"
        done = run("generate", "road:9x7", "-o", target, "--seed", 5)
        assert done.stdout == ""
        assert "63 vertices" in done.stderr
        same(read_graph(target), groute_py.generate("road:9x7", seed=5))

    def test_convert_there_and_back(self, run: Run, tmp_path: Path) -> None:
        whole = random_graph(40, 200, seed=1, greatest=99)
        names = ["a.gr", "b.csr", "c.gr.gz", "d.csr", "e.gr"]
        paths = [tmp_path / name for name in names]
        write_graph(whole, paths[0])
        for before, after in pairwise(paths):
            assert run("convert", before, after).stdout == ""
            same(read_graph(after), whole)
            assert read_graph(after).first_id == 1
        assert paths[0].read_bytes() == paths[-1].read_bytes()

    @pytest.mark.parametrize("weights", ["int64", "float32", "float64"])
    def test_convert_keeps_weights(self, run: Run, tmp_path: Path, weights: str) -> None:
        plain = random_graph(20, 60, seed=2, greatest=9)
        scaled = plain.weights.astype(weights) * (2**40 if weights == "int64" else 1 / 3)
        whole = Graph(plain.offsets, plain.heads, scaled.astype(weights))
        write_graph(whole, tmp_path / "a.csr")
        run("convert", tmp_path / "a.csr", tmp_path / "b.gr")
        run("convert", tmp_path / "b.gr", tmp_path / "c.csr")
        same(read_graph(tmp_path / "c.csr"), whole)

    def test_a_solve_is_the_same_from_every_form(self, run: Run, tmp_path: Path) -> None:
        expected = scipy_distances(groute_py.generate("random:90,400"), 0)
        for name in ("a.csr", "a.gr", "a.gr.gz"):
            run("generate", "random:90,400", "-o", tmp_path / name)
            run("sssp", tmp_path / name, "-o", tmp_path / "out.npy", "--device", "cpu")
            np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), expected)

    def test_cache(self, run: Run, small: Path, tmp_path: Path) -> None:
        folder = tmp_path / "copies"
        run("info", small, "--cache", folder)
        assert len(list(folder.iterdir())) == 1
        run("info", small, "--no-cache")
        run("sssp", small, "--cache", folder, "--device", "cpu")
        assert len(list(folder.iterdir())) == 1


def same(result: Graph, expected: Graph) -> None:
    np.testing.assert_array_equal(result.offsets, expected.offsets)
    np.testing.assert_array_equal(result.heads, expected.heads)
    np.testing.assert_array_equal(result.weights, expected.weights)
