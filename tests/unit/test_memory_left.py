"""How much memory a process can have: by its machine, and by the control groups that it is in."""

from __future__ import annotations

from pathlib import Path

import pytest

from groute_py.system import memory_limits

MB = 1 << 20


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """On a machine with 900 MB left; a folder for control groups."""
    monkeypatch.setattr(memory_limits, "MEMBERSHIP", tmp_path / "membership")
    monkeypatch.setattr(memory_limits, "GROUPS", tmp_path / "groups")
    monkeypatch.setattr(memory_limits, "_left_on_machine", lambda: 900 * MB)
    (tmp_path / "groups").mkdir()
    return tmp_path / "groups"


def group(folder: Path, names: tuple[str, str], limit: str, used: int, stat: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in zip((*names, "memory.stat"), (limit, str(used), stat), strict=True):
        (folder / name).write_text(f"{text}\n")


V2 = ("memory.max", "memory.current")
V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes")


def test_of_a_job(groups: Path) -> None:
    """Version 2, as Slurm uses it: the step has no limit, the job has; the files read count as
    free."""
    groups.with_name("membership").write_text("0::/slurm/job_7/step_0\n")
    files = f"anon 5\ninactive_file {30 * MB}\nactive_file {20 * MB}"
    group(groups / "slurm" / "job_7" / "step_0", V2, "max", 90 * MB, files)
    group(groups / "slurm" / "job_7", V2, str(400 * MB), 100 * MB, files)
    assert memory_limits.available_bytes() == 350 * MB


def test_of_a_container(groups: Path) -> None:
    """Version 1, whose names the container does not see: its own group is the root."""
    groups.with_name("membership").write_text("9:name=systemd:/x\n4:cpu,memory:/docker/3f\n0::/\n")
    files = f"inactive_file 7\ntotal_inactive_file {MB}\ntotal_active_file {MB}"
    group(groups / "memory", V1, str(64 * MB), 16 * MB, files)
    assert memory_limits.available_bytes() == 50 * MB


def test_more_than_there_is(groups: Path) -> None:
    groups.with_name("membership").write_text("0::/\n")
    group(groups, V2, str(1 << 60), 0, "anon 5")
    assert memory_limits.available_bytes() == 900 * MB


def test_all_used(groups: Path) -> None:
    groups.with_name("membership").write_text("0::/\n")
    group(groups, V2, str(MB), 2 * MB, "anon 5")
    assert memory_limits.available_bytes() == 0


@pytest.mark.parametrize("text", [None, "0::/nowhere\n", ""])
def test_without_limits(groups: Path, text: str | None) -> None:
    if text is not None:
        groups.with_name("membership").write_text(text)
    assert memory_limits.available_bytes() == 900 * MB


def test_where_nothing_is_known(groups: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert groups.exists()
    monkeypatch.setattr(memory_limits, "_left_on_machine", lambda: None)
    assert memory_limits.available_bytes() is None
