"""What the cache keeps of prepared graphs."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.command import as_json, run_command
from support.keeping import failing
from support.prepared_town import ROAD, method

from groute_py import InputError, prepare, write_graph
from groute_py.errors import CacheWarning
from groute_py.io import cache, cache_folder


class TestCache:
    """What ``--prepare`` made of a file is there for the next run."""

    def test_the_next_run_finds_it(self, text: Path, kept: Path) -> None:
        one, two = (method(text, "--prepare", "--cache", kept) for _ in range(2))
        assert one[:2] == ("contraction", "contracted, since its vertices have few arcs")
        assert two[:2] == ("contraction", "its hierarchy was there")
        assert one[2]["sum_of_distances"] == two[2]["sum_of_distances"]
        assert {path.suffix for path in kept.iterdir()} == {".csr", ".prepared"}
        assert method(text, "--cache", kept)[0] == "delta-stepping"  # it did not ask

    def test_in_python(self, text: Path, kept: Path) -> None:
        made = prepare(text, device="cpu", cache=kept)
        assert {path.suffix for path in kept.iterdir()} == {".csr", ".prepared"}
        again = prepare(text, device="cpu", cache=str(kept))
        assert made is not None
        assert again is not None
        assert again.file is not None
        assert again.file == made.file
        assert again.file.path.parent == kept.resolve()
        np.testing.assert_array_equal(again.hierarchy.down, made.hierarchy.down)
        apart = prepare(text, device="cpu", cache=False)
        assert apart is not None
        assert apart.file is None
        with pytest.raises(InputError, match="cache must be a path, not 3"):
            prepare(text, device="cpu", cache=3)  # type: ignore[arg-type]

    def test_a_small_file_is_not_kept_without_being_asked(
        self, text: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = Path(os.environ["GROUTE_PY_CACHE"]) / "graphs"
        before = cache_folder.copies_in(folder)
        method(text, "--prepare")
        assert cache_folder.copies_in(folder) == before
        monkeypatch.setattr("groute_py.io.cache.LARGE_PREPARED", 1)
        method(text, "--prepare", "--no-cache")
        assert cache_folder.copies_in(folder) == before
        method(text, "--prepare")
        after = cache_folder.copies_in(folder)
        assert len(after) == len(before) + 1
        cache_folder.remove(after[0])

    def test_a_native_file_has_one_too(self, kept: Path, tmp_path: Path) -> None:
        write_graph(ROAD, tmp_path / "town.csr")
        for said in ("contracted, since its vertices have few arcs", "its hierarchy was there"):
            assert method(tmp_path / "town.csr", "--prepare", "--cache", kept)[1] == said

    def test_points_on_roads_take_it(self, kept: Path, tmp_path: Path) -> None:
        pytest.importorskip("scipy")
        places = np.stack(np.divmod(np.arange(400), 20), axis=1) * 1e-3
        write_graph(ROAD.changed(coordinates=places), tmp_path / "town.csr")
        words = (tmp_path / "town.csr", "--from", "0.0005,0.001;0.01,0.0133", "--to", "17,300")
        how = ("--snap", "arc", "--prepare", "--cache", kept, "--device", "cpu")
        method(tmp_path / "town.csr", "--prepare", "--cache", kept)
        copies = {path.name: path.read_bytes() for path in kept.glob("*.prepared")}
        run_command("matrix", *words, *how, "--algorithm", "sweep", "-o", tmp_path / "a.npy")
        result = as_json(run_command("matrix", *words, *how, "-o", tmp_path / "b.npy", "--json"))
        assert "its hierarchy was there" in result["reason"] or result["algorithm"] != "sweep"
        run_command("matrix", *words, *how[:2], *how[-2:], "-o", tmp_path / "c.npy")
        wanted = (tmp_path / "c.npy").read_bytes()
        assert [(tmp_path / name).read_bytes() for name in ("a.npy", "b.npy")] == [wanted] * 2
        assert {path.name: path.read_bytes() for path in kept.glob("*.prepared")} == copies

    @pytest.mark.parametrize("first", [(), ("--reverse",)])
    def test_both_directions_share_it(self, text: Path, kept: Path, first: tuple[str, ...]) -> None:
        random = np.random.default_rng(5)
        write_graph(ROAD.with_weights(random.integers(0, 50, ROAD.arc_count)), text)
        how = ("--prepare", "--cache", kept)
        assert method(text, *how, *first)[1].startswith("contracted")
        for way in ((), ("--reverse",)):
            said, result = method(text, *how, *way)[1:]
            assert said == "its hierarchy was there"
            wanted = method(text, *way, "--no-cache")[2]["sum_of_distances"]
            assert result["sum_of_distances"] == wanted

    def test_a_changed_file_is_prepared_anew(self, text: Path, kept: Path) -> None:
        method(text, "--prepare", "--cache", kept)
        write_graph(ROAD.changed(weights=ROAD.weights + np.int32(1)), text)
        _, choice, result = method(text, "--prepare", "--cache", kept)
        assert choice.startswith("contracted")
        assert result["sum_of_distances"] == method(text, "--no-cache")[2]["sum_of_distances"]

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

    @pytest.mark.parametrize("damage", ["cut", "bit"])
    def test_a_damaged_copy_is_prepared_anew_with_a_line(
        self, text: Path, kept: Path, damage: str
    ) -> None:
        """Digests find damage, though the hierarchy of a copy is not checked."""
        method(text, "--prepare", "--cache", kept)
        (copy,) = kept.glob("*.prepared")
        whole = copy.read_bytes()
        arcs = whole.index(prepare(ROAD, device="cpu").hierarchy.down.tobytes())
        bit = whole[:arcs] + bytes([whole[arcs] ^ 1]) + whole[arcs + 1 :]
        copy.write_bytes(whole[:-640] if damage == "cut" else bit)
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
        monkeypatch.setattr(cache, "write_arrays", failing(errno.EDQUOT))
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
