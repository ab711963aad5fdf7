"""``--prepare`` of commands with many sources, and ``groute-py prepare``: from the cache or new."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import as_json, run_command
from support.keeping import failing
from support.prepared_town import ROAD, method

import groute_py
from groute_py import PreparedGraph, read_graph, write_graph
from groute_py.device.cpu import contraction
from groute_py.errors import CacheWarning
from groute_py.io import cache

THERE, NOW = "its hierarchy was there", "contracted, since its vertices have few arcs"


def rows(graph: object, *words: object) -> dict[str, Any]:
    """The answer of ``apsp`` with sums from four sources."""
    options = ("--sources", "1,2,3,4", "--reduce", "sum", "--device", "cpu", "--json")
    return as_json(run_command("apsp", graph, *options, *words))


CONTRACT = contraction.contract


def refuse_contraction(offsets: Any, *rest: Any, **more: Any) -> Any:
    """Takes the tiny graph that compiles the kernels, and no other."""
    if len(offsets) > contraction.SMALL + 1:
        raise AssertionError("contracted anew")
    return CONTRACT(offsets, *rest, **more)


class TestRows:
    """``apsp --prepare`` and ``matrix --prepare``."""

    def test_the_next_run_finds_it(
        self, text: Path, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        words = ("--prepare", "--cache", kept)
        first = rows(text, *words)
        assert first["reason"].endswith(f"; {NOW}")
        assert len(list(kept.glob("*.prepared"))) == 1
        monkeypatch.setattr(contraction, "contract", refuse_contraction)
        second = rows(text, *words, "--algorithm", "sweep")
        assert (second["algorithm"], second["reason"]) == ("sweep", f"asked for; {THERE}")
        assert first["sum_of_distances"] == second["sum_of_distances"]
        assert second["sum_of_distances"] == rows(text, "--no-cache")["sum_of_distances"]
        out = tmp_path / "m.npy"
        ends = ("--from", "1,9", "--to", "5,7", "--device", "cpu", "--json", "-o", out)
        result = as_json(run_command("matrix", text, *ends, *words))
        assert result["reason"].endswith(f"; {THERE}")
        wanted = groute_py.matrix(ROAD, [0, 8], [4, 6], device="cpu")
        assert wanted is not None
        np.testing.assert_array_equal(np.load(out), wanted.distances)

    def test_sssp_and_apsp_share_it(self, text: Path, kept: Path) -> None:
        words = ("--prepare", "--cache", kept)
        assert method(text, *words)[1] == NOW
        assert rows(text, *words, "--reverse")["reason"].endswith(f"; {THERE}")

    def test_another_method_contracts_nothing(self, text: Path, kept: Path) -> None:
        result = rows(text, "--prepare", "--cache", kept, "--algorithm", "heap")
        assert result["reason"] == "asked for"
        assert not list(kept.glob("*.prepared"))

    def test_what_does_not_suit_goes_on(self, tmp_path: Path, kept: Path) -> None:
        write_graph(groute_py.generate("random:60,900"), tmp_path / "g.gr")
        result = rows(tmp_path / "g.gr", "--prepare", "--cache", kept)
        assert "; not contracted: its vertices have" in result["reason"]

    def test_a_full_quota_is_a_note(
        self, text: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cache, "write_arrays", failing(errno.EDQUOT))
        with pytest.warns(CacheWarning, match="is not kept: Disk quota exceeded"):
            assert rows(text, "--prepare", "--cache", kept)["reason"].endswith(NOW)

    def test_in_python(self) -> None:
        result = groute_py.apsp(ROAD, sources=[3], prepare=True, device="cpu")
        assert result is not None
        assert result.statistics["reason"].endswith(f"; {NOW}")
        plain = groute_py.apsp(ROAD, sources=[3], device="cpu")
        assert plain is not None
        np.testing.assert_array_equal(result.distances, plain.distances)


class TestPrepare:
    """``groute-py prepare`` and `groute_py.prepare`."""

    def test_the_command_uses_and_fills_the_cache(
        self, text: Path, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        words = ("prepare", text, "--cache", kept, "--device", "cpu", "--json", "-o")
        first = as_json(run_command(*words, tmp_path / "a.prepared"))
        assert "stayed sparse" in first["reason"]
        monkeypatch.setattr(contraction, "contract", refuse_contraction)
        second = as_json(run_command(*words, tmp_path / "b.prepared"))
        assert second["reason"] == THERE
        assert (tmp_path / "a.prepared").read_bytes() == (tmp_path / "b.prepared").read_bytes()
        assert method(text, "--prepare", "--cache", kept)[1] == THERE

    def test_the_function_finds_what_it_kept(
        self, text: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("GROUTE_PY_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr("groute_py.io.cache.LARGE_PREPARED", 1)
        one = groute_py.prepare(text, device="cpu")
        monkeypatch.setattr(contraction, "contract", refuse_contraction)
        two = groute_py.prepare(str(text), device="cpu")
        assert isinstance(one, PreparedGraph)
        assert isinstance(two, PreparedGraph)
        assert one.hierarchy.levels == two.hierarchy.levels
        np.testing.assert_array_equal(one.hierarchy.down, two.hierarchy.down)

    def test_a_prepared_file_is_not_contracted_anew(
        self, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        groute_py.write_graph(groute_py.prepare(text, device="cpu"), tmp_path / "a.prepared")
        monkeypatch.setattr(contraction, "contract", refuse_contraction)
        result = groute_py.prepare(tmp_path / "a.prepared", device="cpu")
        kept = read_graph(tmp_path / "a.prepared")
        assert isinstance(result, PreparedGraph)
        assert isinstance(kept, PreparedGraph)
        assert result.hierarchy.levels == kept.hierarchy.levels
