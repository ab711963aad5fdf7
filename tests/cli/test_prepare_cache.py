"""What the cache keeps of prepared graphs, how much, and ``groute-py cache``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import run_command
from support.kept_rows import listing
from support.prepared_town import ROAD, method, write_town

from groute_py import write_graph
from groute_py.errors import CacheWarning, InputError
from groute_py.io import cache_limit
from groute_py.io.formats import prepared
from groute_py.system import settings as reading_settings


@pytest.fixture
def text(tmp_path: Path) -> Path:
    return write_town(tmp_path)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "copies"


class TestCache:
    """What ``--prepare`` made of a file is there for the next run."""

    def test_the_next_run_finds_it(self, text: Path, kept: Path) -> None:
        one, two = (method(text, "--prepare", "--cache", kept) for _ in range(2))
        assert one[:2] == ("contraction", "contracted, since its vertices have few arcs")
        assert two[:2] == ("contraction", "its hierarchy was there")
        assert one[2]["sum_of_distances"] == two[2]["sum_of_distances"]
        assert {path.suffix for path in kept.iterdir()} == {".csr", ".prepared"}
        assert method(text, "--cache", kept)[0] == "delta-stepping"  # it did not ask

    def test_a_small_file_is_not_kept_without_being_asked(
        self, text: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = Path(os.environ["GROUTE_PY_CACHE"]) / "graphs"
        before = cache_limit.copies_in(folder)
        method(text, "--prepare")
        assert cache_limit.copies_in(folder) == before
        monkeypatch.setattr("groute_py.io.prepared_cache.LARGE", 1)
        method(text, "--prepare", "--no-cache")
        assert cache_limit.copies_in(folder) == before
        method(text, "--prepare")
        after = cache_limit.copies_in(folder)
        assert len(after) == len(before) + 1
        cache_limit.remove(after[0])

    def test_a_native_file_has_one_too(self, kept: Path, tmp_path: Path) -> None:
        write_graph(ROAD, tmp_path / "town.csr")
        for said in ("contracted, since its vertices have few arcs", "its hierarchy was there"):
            assert method(tmp_path / "town.csr", "--prepare", "--cache", kept)[1] == said

    @pytest.mark.parametrize("first", [(), ("--reverse",)])
    def test_both_directions_share_it(self, text: Path, kept: Path, first: tuple[str, ...]) -> None:
        random = np.random.default_rng(5)
        write_graph(ROAD.with_weights(random.integers(0, 50, ROAD.arc_count)), text)
        how = ("--prepare", "--cache", kept)
        assert method(text, *how, *first)[1].startswith("contracted")
        for way in ((), ("--reverse",)):
            said, found = method(text, *how, *way)[1:]
            assert said == "its hierarchy was there"
            wanted = method(text, *way, "--no-cache")[2]["sum_of_distances"]
            assert found["sum_of_distances"] == wanted

    def test_a_changed_file_is_prepared_anew(self, text: Path, kept: Path) -> None:
        method(text, "--prepare", "--cache", kept)
        write_graph(ROAD.changed(weights=ROAD.weights + np.int32(1)), text)
        _, choice, found = method(text, "--prepare", "--cache", kept)
        assert choice.startswith("contracted")
        assert found["sum_of_distances"] == method(text, "--no-cache")[2]["sum_of_distances"]

    def test_edges_and_columns_have_copies_of_their_own(self, tmp_path: Path, kept: Path) -> None:
        table = tmp_path / "t.csv"
        table.write_text("from,to,km,h\n1,2,5,1\n2,3,7,1\n")
        sums = {"--undirected --weight km": 19, "--weight km": 12 + 5, "--weight h": 3}
        for _ in range(2):
            for words, total in sums.items():
                start = ("-s", "3") if "--undirected" in words else ("-s", "1")
                options = (*words.split(), *start, "--prepare", "--cache", kept)
                assert method(table, *options)[2]["sum_of_distances"] == total
        assert len(list(kept.glob("*.prepared"))) == len(sums)

    def test_another_version_is_prepared_anew_with_a_line(self, text: Path, kept: Path) -> None:
        method(text, "--prepare", "--cache", kept)
        (copy,) = kept.glob("*.prepared")
        copy.write_bytes(copy.read_bytes().replace(b"prepared 1\n", b"prepared 9\n"))
        with pytest.warns(CacheWarning, match=r"another version: .*is prepared anew"):
            assert method(text, "--prepare", "--cache", kept)[1].startswith("contracted")
        assert method(text, "--prepare", "--cache", kept)[1] == "its hierarchy was there"

    def test_a_damaged_copy_is_prepared_anew_with_a_line(self, text: Path, kept: Path) -> None:
        method(text, "--prepare", "--cache", kept)
        (copy,) = kept.glob("*.prepared")
        copy.write_bytes(copy.read_bytes()[:-640])
        with pytest.warns(CacheWarning, match=r"damaged prepared graph.*is prepared anew"):
            assert method(text, "--prepare", "--cache", kept)[1].startswith("contracted")

    def test_a_copy_of_others_is_not_believed(self, text: Path, kept: Path) -> None:
        """As of native copies: no links, and nobody may read it who may not read the text."""
        method(text, "--prepare", "--cache", kept)
        (copy,) = kept.glob("*.prepared")
        real = copy.rename(kept / "elsewhere")
        copy.symlink_to(real)
        assert method(text, "--prepare", "--cache", kept)[1].startswith("contracted")
        assert not copy.is_symlink()
        text.chmod(0o600)
        assert method(text, "--prepare", "--cache", kept)[1].startswith("contracted")
        assert copy.stat().st_mode & 0o077 == 0

    def test_a_full_quota_is_a_note(
        self, text: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: object) -> None:
            raise OSError(122, "Disk quota exceeded")

        monkeypatch.setattr(prepared, "write_arrays", full)
        with pytest.warns(CacheWarning, match="is not kept: Disk quota exceeded"):
            assert method(text, "--prepare", "--cache", kept)[0] == "contraction"
        assert not list(kept.glob("*.prepared")) + list(kept.glob(".*"))

    def test_a_folder_that_cannot_be_is_a_note(self, text: Path, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        words = ("--prepare", "--cache", tmp_path / "file" / "sub")
        with pytest.warns(CacheWarning, match="is not kept: Not a directory"):
            assert method(text, *words)[0] == "contraction"

    def test_notes_are_lines(self, text: Path, kept: Path) -> None:
        method(text, "--prepare", "--cache", kept)
        (copy,) = kept.glob("*.prepared")
        copy.write_bytes(copy.read_bytes()[:-640])
        words = ["sssp", str(text), "--prepare", "--cache", str(kept), "--device", "cpu"]
        command = [sys.executable, "-m", "groute_py", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        (line,) = done.stderr.splitlines()
        assert line.startswith("groute-py: ")
        assert line.endswith("is prepared anew")


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets the limit of the cache."""

    def limit(nbytes: int | None) -> None:
        found = replace(reading_settings.settings(), cache_limit=nbytes)
        monkeypatch.setattr(cache_limit, "settings", lambda: found)

    return limit


class TestLimit:
    """The copies not used for longest go first; other files stay."""

    def copy(self, folder: Path, number: int, size: int = 100, suffix: str = "csr") -> Path:
        path = folder / f"town-{number:020x}.{suffix}"
        path.write_bytes(b"x" * size)
        os.utime(path, (number, number))
        return path

    def test_the_oldest_go_first(self, tmp_path: Path, limited: Any) -> None:
        copies = [self.copy(tmp_path, k, suffix=("csr", "prepared")[k % 2]) for k in range(5)]
        (tmp_path / "mine.csr").write_bytes(b"y" * 1000)
        cache_limit.note_use(copies[0])
        limited(250)
        cache_limit.remove_beyond_limit(tmp_path)
        assert listing(tmp_path) == sorted(["mine.csr", copies[0].name, copies[4].name])
        limited(None)
        cache_limit.remove_beyond_limit(tmp_path)
        assert len(listing(tmp_path)) == 3

    def test_after_each_write(self, text: Path, kept: Path, limited: Any) -> None:
        kept.mkdir()
        old = self.copy(kept, 5, size=10_000)
        limited(100_000)
        method(text, "--prepare", "--cache", kept)
        assert old.exists()
        limited(sum(path.stat().st_size for path in kept.iterdir()) - 1)
        text.write_bytes(text.read_bytes() + b"c more\n")
        method(text, "--prepare", "--cache", kept)
        assert not old.exists()
        assert len(list(kept.glob("*.prepared"))) == 1

    def test_one_that_is_larger_is_not_kept(self, text: Path, kept: Path, limited: Any) -> None:
        limited(100)
        with pytest.warns(CacheWarning, match="bytes are beyond the limit"):
            method(text, "--prepare", "--cache", kept)
        assert not kept.exists()

    @pytest.mark.parametrize(
        ("value", "nbytes"), [("", None), ("0", 0), ("20G", 20 * 10**9), ("1.5 KiB", 1536)]
    )
    def test_sizes(self, monkeypatch: pytest.MonkeyPatch, value: str, nbytes: int | None) -> None:
        monkeypatch.setenv("GROUTE_PY_CACHE_LIMIT", value)
        assert reading_settings.settings.__wrapped__().cache_limit == nbytes

    @pytest.mark.parametrize("value", ["much", "-1", "1e9", "5X", "9" * 400, "٣"])
    def test_no_sizes(self, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
        monkeypatch.setenv("GROUTE_PY_CACHE_LIMIT", value)
        with pytest.raises(InputError, match=r"GROUTE_PY_CACHE_LIMIT=.*expected a size, such as"):
            reading_settings.settings.__wrapped__()

    @pytest.mark.parametrize("words", [(), ("--prepare",)], ids=str)
    def test_one_that_is_too_large_is_not_written(
        self, text: Path, kept: Path, limited: Any, words: tuple[str, ...]
    ) -> None:
        kept.mkdir()
        old = self.copy(kept, 5)
        limited(120)
        with pytest.warns(CacheWarning, match="no copy of .* bytes are beyond the limit of 120"):
            method(text, *words, "--cache", kept)
        assert list(kept.iterdir()) == [old]


class TestCacheCommand:
    """``groute-py cache list`` and ``clear``."""

    def test_list_and_clear(self, text: Path, kept: Path) -> None:
        method(text, "--prepare", "--cache", kept)
        (kept / "mine.csr").write_text("not a copy")
        (kept / f"torn-{5:020x}.csr").write_text("torn")
        found = json.loads(run_command("cache", "list", "--cache", kept, "--json").stdout)
        copies = {(copy["graph"], copy["kind"]) for copy in found["copies"]}
        assert copies == {("town", "native"), ("town", "prepared"), ("torn", "native")}
        assert found["bytes"] == sum(copy["bytes"] for copy in found["copies"])
        assert found["limit"] is None
        assert all(0 <= copy["days_since_use"] < 1 for copy in found["copies"])
        shown = run_command("cache", "list", "--cache", kept)
        assert "town" in shown.stdout
        assert "3 copies" in shown.stderr
        done = json.loads(run_command("cache", "clear", "--cache", kept, "--json").stdout)
        assert (done["removed"], done["bytes"], done["left"]) == (3, found["bytes"], 0)
        assert listing(kept) == ["mine.csr"]
        assert "0 copies" in run_command("cache", "list", "--cache", kept).stderr

    def test_the_usual_folder(self) -> None:
        found = json.loads(run_command("cache", "list", "--json").stdout)
        assert found["folder"] == str(Path(os.environ["GROUTE_PY_CACHE"]) / "graphs")

    def test_no_folder(self, tmp_path: Path) -> None:
        for what in ("list", "clear"):
            with pytest.raises(InputError, match="no such folder"):
                run_command("cache", what, "--cache", tmp_path / "absent")
