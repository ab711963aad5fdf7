"""How much the cache keeps, and ``groute-py cache``."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.command import run_command
from support.kept_rows import listing
from support.prepared_town import method

from groute_py.errors import CacheWarning, InputError
from groute_py.io import cache_folder
from groute_py.system import settings as reading_settings
from groute_py.system.own_files import draft_beside

MAGIC = {"csr": b"groute-py csr 1\n", "prepared": b"groute-py prepared 1\n"}
"""How copies begin."""


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets the limit of the cache."""

    def limit(nbytes: int | None) -> None:
        result = replace(reading_settings.settings(), cache_limit=nbytes)
        monkeypatch.setattr(cache_folder, "settings", lambda: result)

    return limit


class TestLimit:
    """The copies not used for longest go first; other files stay."""

    def copy(self, folder: Path, number: int, size: int = 100, suffix: str = "csr") -> Path:
        path = folder / f"town-{number:020x}.{suffix}"
        path.write_bytes(MAGIC[suffix].ljust(size))
        os.utime(path, (number, number))
        return path

    def test_the_oldest_go_first(self, tmp_path: Path, limited: Any) -> None:
        copies = [self.copy(tmp_path, k, suffix=("csr", "prepared")[k % 2]) for k in range(5)]
        (tmp_path / "mine.csr").write_bytes(b"y" * 1000)
        cache_folder.note_use(copies[0])
        limited(250)
        cache_folder.remove_beyond_limit(tmp_path)
        assert listing(tmp_path) == sorted(["mine.csr", copies[0].name, copies[4].name])
        limited(None)
        cache_folder.remove_beyond_limit(tmp_path)
        assert len(listing(tmp_path)) == 3

    def test_what_a_killed_process_has_left(self, tmp_path: Path, limited: Any) -> None:
        """Unless it is younger than an hour: then a process may still write it."""
        old, young = (draft_beside(tmp_path / "town.csr") for _ in range(2))
        for path in (old, young):
            path.write_bytes(bytes(300))
        os.utime(old, (1, 1))
        (tmp_path / ".groute-py-mine.tmp").write_bytes(bytes(300))
        limited(250)
        cache_folder.remove_beyond_limit(tmp_path)
        assert listing(tmp_path) == sorted([young.name, ".groute-py-mine.tmp"])

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
        (kept / f"torn-{5:020x}.csr").write_bytes(MAGIC["csr"])
        (left := draft_beside(kept / "town.csr")).write_bytes(bytes(300))
        os.utime(left, (time.time() - 7200,) * 2)
        result = json.loads(run_command("cache", "list", "--cache", kept, "--json").stdout)
        copies = {(copy["graph"], copy["kind"]) for copy in result["copies"]}
        assert copies == {
            ("town", "native"),
            ("town", "prepared"),
            ("torn", "native"),
            ("", "unfinished"),
        }
        assert result["bytes"] == sum(copy["bytes"] for copy in result["copies"])
        assert result["limit"] is None
        assert all(0 <= copy["days_since_use"] < 1 for copy in result["copies"])
        shown = run_command("cache", "list", "--cache", kept)
        assert "town" in shown.stdout
        assert "4 copies" in shown.stderr
        done = json.loads(run_command("cache", "clear", "--cache", kept, "--json").stdout)
        assert (done["removed"], done["bytes"], done["left"]) == (4, result["bytes"], 0)
        assert listing(kept) == ["mine.csr"]
        assert "0 copies" in run_command("cache", "list", "--cache", kept).stderr

    def test_what_is_not_ours_stays(self, text: Path, kept: Path, tmp_path: Path) -> None:
        """Files of others in the folder, whatever their names, and what links lead to."""
        method(text, "--prepare", "--cache", kept)
        (real,) = kept.glob("*.prepared")
        elsewhere = tmp_path / "elsewhere.prepared"
        elsewhere.write_bytes(real.read_bytes())
        names = [f"thesis-{k:020x}" for k in range(7)]
        (kept / f"{names[0]}.csr").write_text("offsets,heads\n")
        (kept / f"{names[1]}.prepared").write_bytes(MAGIC["csr"])
        (kept / f"{names[2]}.csr").write_bytes(b"")
        (kept / f"{names[3]}.csr").mkdir()
        (kept / f"{names[4]}.prepared").symlink_to(elsewhere)
        os.mkfifo(kept / f"{names[5]}.csr")
        (kept / f"{names[6]}.txt").write_bytes(MAGIC["csr"])
        (kept / "real.csr").write_bytes(MAGIC["csr"])
        (kept / "inner").symlink_to(tmp_path / "there")
        ours = {path.name for path in (*kept.glob("town-*.csr"), real)}
        before = set(listing(kept))
        done = json.loads(run_command("cache", "clear", "--cache", kept, "--json").stdout)
        assert (done["removed"], done["left"]) == (len(ours), 0) == (2, 0)
        assert set(listing(kept)) == before - ours
        assert elsewhere.exists()
        assert text.exists()

    def test_the_limit_leaves_them_too(self, tmp_path: Path, limited: Any) -> None:
        (tmp_path / f"thesis-{1:020x}.csr").write_text("mine")
        limited(0)
        cache_folder.remove_beyond_limit(tmp_path)
        assert len(listing(tmp_path)) == 1

    def test_the_usual_folder(self) -> None:
        result = json.loads(run_command("cache", "list", "--json").stdout)
        assert result["folder"] == str(Path(os.environ["GROUTE_PY_CACHE"]) / "graphs")

    def test_no_folder(self, tmp_path: Path) -> None:
        for what in ("list", "clear"):
            with pytest.raises(InputError, match="no such folder"):
                run_command("cache", what, "--cache", tmp_path / "absent")
