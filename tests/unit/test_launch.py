"""The launcher: plans to command lines, finding mpirun, the batch script."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.processes import run_python

import groute_py.launch
from groute_py.errors import SetupError
from groute_py.launch import __main__ as launcher
from groute_py.launch import mpirun
from groute_py.launch.mpirun import Plan, command, cores, find_mpirun, flavour, flavour_of

SBATCH = Path(groute_py.launch.__file__).with_name("sssp.sbatch")

ROOT = ["--allow-run-as-root"]
FREE = ["--bind-to", "none"]
MANY = ["--map-by", ":OVERSUBSCRIBE"]

VERSIONS = {
    "mpirun (Open MPI) 5.0.11\n\nReport bugs to https://www.open-mpi.org/\n": "openmpi",
    "mpirun (Open MPI) 4.1.6\n": "openmpi",
    "prterun (PRRTE) 3.0.13\n": "openmpi",
    "HYDRA build details:\n    Version:    5.0.2\n    Launchers available:  ssh\n": "mpich",
    "Intel(R) MPI Library for Linux* OS, Version 2021.13 Build 20240701\n": "intel",
    "Some Vendor MPI 1.0\n": "other",
    "": "other",
}


def executable(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def no_job(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in os.environ if n.startswith(("OMPI_", "PMI", "FLUX_", "SLURM_"))]:
        monkeypatch.delenv(name)


@pytest.fixture
def fake_mpirun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An mpirun that says it is Open MPI, else prints its arguments and exits 7."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    return executable(
        tmp_path / "mpirun",
        '#!/bin/sh\n[ "$1" = --version ] && echo "mpirun (Open MPI) 5.0.11" && exit\n'
        'printf "%s\\n" "$@"\nexit 7\n',
    )


@pytest.mark.parametrize(
    ("name", "as_root", "oversubscribe", "options"),
    [
        ("openmpi", False, False, FREE),
        ("openmpi", True, False, ROOT + FREE),
        ("openmpi", False, True, MANY + FREE),
        ("openmpi", True, True, ROOT + MANY + FREE),
        *((n, r, o, []) for n in ("mpich", "intel", "other") for r in (0, 1) for o in (0, 1)),
    ],
)
def test_command(name: str, as_root: bool, oversubscribe: bool, options: list[str]) -> None:
    plan = Plan(
        4, ("sssp", "a b.gr"), Path("/m/mpirun"), name, as_root, oversubscribe, python="/m/python"
    )
    program = ["/m/python", "-m", "groute_py", "sssp", "a b.gr"]
    assert command(plan) == ["/m/mpirun", *options, "-n", "4", *program]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("openmpi", [*FREE, "--host", "a:2,b:2"]),
        ("mpich", ["-hosts", "a,b", "-ppn", "2"]),
        ("intel", ["-hosts", "a,b", "-ppn", "2"]),
    ],
)
def test_several_hosts(name: str, options: list[str]) -> None:
    plan = Plan(4, ("info",), Path("mpirun"), name, hosts=("a", "b"))
    assert command(plan)[1 : 1 + len(options)] == options


@pytest.mark.parametrize(("text", "name"), VERSIONS.items())
def test_flavour_of(text: str, name: str) -> None:
    assert flavour_of(text) == name


def test_flavour_asks_the_program(fake_mpirun: Path) -> None:
    assert flavour(fake_mpirun) == "openmpi"


def test_flavour_of_a_broken_mpirun(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="--version"):
        flavour(tmp_path / "absent")


def test_mpirun_beside_the_interpreter_wins(
    fake_mpirun: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site").mkdir()
    elsewhere = executable(tmp_path / "site" / "mpirun", "#!/bin/sh\n")
    monkeypatch.setenv("PATH", str(tmp_path / "site"))
    assert find_mpirun() == fake_mpirun
    fake_mpirun.unlink()
    assert find_mpirun() == elsewhere
    elsewhere.unlink()
    with pytest.raises(SetupError, match=r"pip install 'groute-py\[mpich\]'"):
        find_mpirun()


def test_plan_looks_at_the_machine(fake_mpirun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpirun, "cores", lambda: 2)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert mpirun.plan(2, ["info"]) == Plan(
        2, ("info",), fake_mpirun, "openmpi", as_root=True, oversubscribe=False
    )
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert mpirun.plan(3, ["info"]) == Plan(
        3, ("info",), fake_mpirun, "openmpi", as_root=False, oversubscribe=True
    )


def test_threads_of_one_core_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1 <= cores() <= len(os.sched_getaffinity(0))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr(mpirun, "_siblings", lambda cpu: f"{cpu % 2},{cpu % 2 + 2}")
    assert cores() == 2


@pytest.mark.usefixtures("no_job", "fake_mpirun")
def test_print_starts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert launcher.main(["-n", "3", "--print", "--", "sssp", "a b.gr", "-n", "5", "--json"]) == 0
    assert capsys.readouterr().out.endswith(" -n 3 " + program_text("sssp 'a b.gr' -n 5 --json"))


def program_text(arguments: str) -> str:
    return f"{Plan.python} -m groute_py {arguments}\n"


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["--", "sssp"],
        ["-n", "0", "--", "sssp"],
        ["-n", "two", "--", "sssp"],
        ["-n", "2"],
        ["-n", "2", "--"],
    ],
)
def test_wrong_usage(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        launcher.main(argv)
    assert stop.value.code == 2
    assert "-n" in capsys.readouterr().err


@pytest.mark.usefixtures("no_job")
def test_no_mpirun_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert launcher.main(["-n", "2", "--", "sssp"]) == 2
    assert "groute-py[mpich]" in capsys.readouterr().err


@pytest.mark.usefixtures("no_job", "fake_mpirun")
def test_no_mpirun_inside_a_job(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "4")
    monkeypatch.setenv("SLURM_PROCID", "3")
    assert launcher.main(["-n", "2", "--", "sssp"]) == 2
    assert "one of 4 ranks under Slurm" in capsys.readouterr().err


@pytest.mark.usefixtures("no_job")
def test_the_exit_code_is_passed_on(tmp_path: Path) -> None:
    executable(tmp_path / "mpirun", '#!/bin/sh\n[ "$1" = --version ] && exit\nexit 7\n')
    start = (
        "import sys; from groute_py.launch.__main__ import main; "
        f"sys.executable = {str(tmp_path / 'python')!r}; sys.exit(main(['-n', '2', '--', 'info']))"
    )
    assert run_python(start).returncode == 7


@pytest.mark.mpi
@pytest.mark.usefixtures("no_job")
def test_more_ranks_than_cores_really_start(tmp_path: Path) -> None:
    """The options of the installed mpirun, with a program that stands in for groute-py."""
    program = executable(tmp_path / "program", "#!/bin/sh\necho rank of $*\n")
    plan = mpirun.plan(cores() + 2, ["info"])
    words = [str(program) if word == plan.python else word for word in command(plan)]
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("rank of -m groute_py info") == cores() + 2


def test_batch_script_is_bash() -> None:
    subprocess.run(["bash", "-n", SBATCH], check=True)


def run_batch_script(
    folder: Path, *arguments: str, program: bool = True, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run it with an srun that prints its arguments, one a line, and exits 9."""
    executable(folder / "srun", '#!/bin/sh\nprintf "%s\\n" "$@"\nexit 9\n')
    if program:
        executable(folder / "groute-py", "#!/bin/sh\n")
    return subprocess.run(
        ["/usr/bin/env", "bash", SBATCH, *arguments],
        env={"PATH": f"{folder}:/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("environment", "mpi", "cores"),
    [
        ({}, "pmix", []),
        ({"SLURM_MPI_TYPE": "pmi2"}, "pmi2", []),
        ({"SLURM_CPUS_PER_TASK": "8"}, "pmix", ["--cpus-per-task=8"]),
    ],
)
def test_batch_script_runs_srun(
    tmp_path: Path, environment: dict[str, str], mpi: str, cores: list[str]
) -> None:
    done = run_batch_script(tmp_path, "my usa.gr", "--verify", SLURM_JOB_ID="1", **environment)
    assert done.returncode == 9, done.stderr
    assert done.stdout.splitlines() == [
        f"--mpi={mpi}",
        "--kill-on-bad-exit=1",
        "--gpu-bind=none",
        *cores,
        "groute-py",
        "sssp",
        "my usa.gr",
        "--verify",
    ]


@pytest.mark.parametrize(
    ("arguments", "program", "environment", "says"),
    [
        (["usa.gr"], True, {}, "usage: sbatch"),
        ([], True, {"SLURM_JOB_ID": "1"}, "usage: sbatch"),
        (["usa.gr"], False, {"SLURM_JOB_ID": "1"}, "not on PATH"),
    ],
    ids=["outside Slurm", "no graph", "no groute-py"],
)
def test_batch_script_refuses(
    tmp_path: Path, arguments: list[str], program: bool, environment: dict[str, str], says: str
) -> None:
    done = run_batch_script(tmp_path, *arguments, program=program, **environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


def test_batch_script_keeps_the_peers_visible() -> None:
    asked = [line.split()[1] for line in SBATCH.read_text().splitlines() if line[:7] == "#SBATCH"]
    assert "--gpu-bind=none" in asked
    assert {a.split("=")[0] for a in asked} >= {"--gpus-per-node", "--ntasks-per-node"}
    assert "--gpus-per-task=1" not in asked
