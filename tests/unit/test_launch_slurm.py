"""Plans to Slurm scripts; no Slurm is needed, but for a stand-in of sbatch."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from groute_py.cli.main import commands
from groute_py.errors import InputError, SetupError
from groute_py.launch.slurm import TEMPLATE, BatchJob, script, submit, summary

FULL = BatchJob(
    ("sssp", "my usa.gr", "-o", "{}.npz", "--cutoff", "{}"),
    nodes=2,
    gpus_per_node=8,
    time="1-12:30:00",
    account="physics",
    partition="gpu",
    modules=("cuda/12", "openmpi/5"),
    venv="/home/me/my venv",
    container="groute.sif",
    mpi="pmi2",
    items=("10", "20; rm -rf /"),
    at_once=1,
    requeue=True,
)


def directives(text: str) -> dict[str, str]:
    return dict(re.findall(r"^#SBATCH --([a-z-]+)=?(.*)$", text, re.MULTILINE))


def what_runs(text: str, folder: Path, **environment: str) -> list[str]:
    """Run a script with an srun that prints its arguments, and programs that do nothing."""
    bodies = {"srun": 'printf "%s\\n" "$@"', "groute-py": "", "apptainer": ""}
    bodies["mpirun"] = 'echo mpirun ${SLURM_MPI_TYPE:-without a type} "$@"'
    for name, body in bodies.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    done = subprocess.run(
        ["/usr/bin/env", "bash", "-euo", "pipefail"],
        input=text,
        env={"PATH": f"{folder}:/usr/bin:/bin", "SLURM_JOB_ID": "1", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_the_plan_is_in_the_directives() -> None:
    assert directives(script(FULL)) == {
        "job-name": "groute-sssp",
        "output": "%x-%A_%a.out",
        "open-mode": "append",
        "time": "1-12:30:00",
        "nodes": "2",
        "ntasks-per-node": "8",
        "gpus-per-node": "8",
        "gpu-bind": "none",
        "signal": "USR1@60",
        "account": "physics",
        "partition": "gpu",
        "array": "0-1%1",
        "requeue": "",
    }


def test_a_plan_of_the_defaults_is_the_template() -> None:
    job = BatchJob(("sssp", "usa.gr"))
    assert directives(script(job)) == directives(TEMPLATE.read_text())
    own = set(script(job).splitlines()) - set(TEMPLATE.read_text().splitlines())
    usage = '    echo "usage: sbatch [SBATCH OPTIONS] ${0##*/}" >&2'
    assert own == {f"# {summary(job)}.", "set -- sssp usa.gr", usage}


def test_directives_come_before_the_first_command() -> None:
    """Where sbatch stops to look for them."""
    lines = script(FULL).splitlines()
    first = next(i for i, line in enumerate(lines) if line and not line.startswith("#"))
    assert not any(line.startswith("#SBATCH") for line in lines[first:])


def test_the_command_is_run_word_by_word(tmp_path: Path) -> None:
    job = BatchJob(("sssp", "my $HOME.gr", "-t", "*", ""), mpi="pmi2")
    words = what_runs(script(job), tmp_path)
    assert words[0] == "--mpi=pmi2"
    assert words[-6:] == ["groute-py", *job.argv]


def test_mpirun_in_place_of_srun(tmp_path: Path) -> None:
    """By the plan or by the variable, which mpirun's own srun must not see."""
    words = ["mpirun without a type -n 6 groute-py sssp usa.gr"]
    job = BatchJob(("sssp", "usa.gr"), mpi="mpirun")
    assert what_runs(script(job), tmp_path, SLURM_NTASKS="6") == words
    environment = {"SLURM_MPI_TYPE": "mpirun", "SLURM_NTASKS": "6"}
    assert what_runs(script(BatchJob(job.argv)), tmp_path, **environment) == words


@pytest.mark.parametrize("number", [0, 1])
def test_an_array_runs_its_items(tmp_path: Path, number: int) -> None:
    job = BatchJob(FULL.argv, items=FULL.items, container="my image.sif")
    words = what_runs(script(job), tmp_path, SLURM_ARRAY_TASK_ID=str(number))
    item = FULL.items[number]
    command = ["sssp", "my usa.gr", "-o", f"{item}.npz", "--cutoff", item]
    assert words[-len(command) - 5 :] == [
        *("apptainer", "exec", "--nv", "my image.sif", "groute-py"),
        *command,
    ]


def test_the_environment_is_set_up(tmp_path: Path) -> None:
    (tmp_path / "my venv" / "bin").mkdir(parents=True)
    (tmp_path / "my venv" / "bin" / "activate").write_text("export SLURM_MPI_TYPE=of-the-venv\n")
    job = BatchJob(("info", "usa.gr"), venv=str(tmp_path / "my venv"), modules=("cuda/12", "mpi"))
    text = "module() { echo module $*; }\n" + script(job)
    words = what_runs(text, tmp_path)
    assert words[:2] == ["module load cuda/12 mpi", "--mpi=of-the-venv"]


def test_on_the_cpu_no_gpus_are_asked_for() -> None:
    result = directives(script(BatchJob(("sssp", "a.gr"), gpus_per_node=0, ranks_per_node=3)))
    assert result["ntasks-per-node"] == "3"
    assert not {"gpus-per-node", "gpu-bind"} & set(result)


def test_usage_of_a_script_that_is_no_template(tmp_path: Path) -> None:
    path = tmp_path / "usa.sbatch"
    path.write_text(script(BatchJob(("sssp", "usa.gr"))))
    environment = {k: v for k, v in os.environ.items() if k != "SLURM_JOB_ID"}
    done = subprocess.run(
        ["bash", str(path)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "usage: sbatch [SBATCH OPTIONS] usa.sbatch\n"


def test_cores_of_each_rank() -> None:
    job = BatchJob(("apsp", "a.gr"), gpus_per_node=0, ranks_per_node=2, cpus_per_task=8)
    assert directives(script(job))["cpus-per-task"] == "8"
    assert "cpus-per-task" not in directives(script(BatchJob(job.argv)))
    assert "1 node, 0 GPUs, 2 ranks of 8 cores, for at most" in summary(job)


@pytest.mark.parametrize(
    "word",
    [
        "a\ntouch it\n.gr",
        "x\n#SBATCH --nodes=99\n",
        "#SBATCH",
        "${SLURM_MPI_TYPE:-pmix}",
        "program=(groute-py)\n",
        'set -- sssp "$@"\n',
    ],
)
def test_words_of_the_command_stay_words(tmp_path: Path, word: str) -> None:
    plain = script(BatchJob(("sssp", "usa.gr"), mpi="pmi2"))
    text = script(BatchJob(("sssp", word), mpi="pmi2"))
    # Slurm reads no further than the first command
    assert directives(text.partition("\nset -- ")[0]) == directives(plain)
    expected = [*what_runs(plain, tmp_path)[:-1], *word.split("\n")]
    assert "\n".join(what_runs(text, tmp_path)) + "\n" == "\n".join(expected) + "\n"
    assert not Path("it").exists()


def test_summary() -> None:
    job = BatchJob(("sssp", "usa.gr"), nodes=2, time="00:30:00", partition="gpu", account="me")
    assert summary(job) == (
        "groute-py sssp usa.gr: 2 nodes, 8 GPUs, 8 ranks, for at most 00:30:00 (4 GPU hours), "
        "partition gpu, account me"
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"gpus_per_node": 0}, "--ntasks-per-node"),
        ({"time": "soon"}, "time 'soon'"),
        ({"time": "0:00"}, "time '0:00': to Slurm that is no limit at all"),
        ({"mpi": "$(touch it)"}, "mpi '"),
        ({"items": ("1",)}, "says nowhere {}"),
        ({"argv": ("sssp", "{}")}, "no items"),
    ],
)
def test_a_plan_that_cannot_run(change: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        script(BatchJob(**{"argv": ("sssp", "a.gr"), **change}))


@pytest.fixture
def sbatch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in that keeps the script and gives it number 42, or refuses one of many nodes."""
    program = tmp_path / "sbatch"
    program.write_text(
        f"#!/bin/sh\ncat > {tmp_path}/script\n"
        f'grep -q nodes=9 {tmp_path}/script && echo "too many nodes" >&2 && exit 1\n'
        'echo "42;cluster"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return program


def test_submit(sbatch: Path) -> None:
    words = ["launch", "slurm", "--mpi", "pmix", "--submit", "--", "sssp", "usa.gr", "-o", "a.npz"]
    apart: Any = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
    done = CliRunner(**apart).invoke(commands, words)  # click 8.2 keeps the streams apart by itself
    assert (done.exit_code, done.stdout) == (0, "42\n")
    assert "4 GPUs, 4 ranks" in done.stderr
    assert sbatch.with_name("script").read_text() == script(
        BatchJob(("sssp", "usa.gr", "-o", "a.npz"), mpi="pmix")
    )


@pytest.mark.usefixtures("sbatch")
def test_a_refused_job() -> None:
    with pytest.raises(SetupError, match="sbatch refused the job: too many nodes"):
        submit(script(BatchJob(("sssp", "a.gr"), nodes=9)))


def test_no_sbatch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match="login node"):
        submit("")


def test_items_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "sources").write_text("3\n\n 14 \n")
    words = ["launch", "slurm", "--each", str(tmp_path / "sources"), "--", "sssp", "-s", "{}"]
    done = CliRunner().invoke(commands, words)
    assert "items=(3 14)\n" in done.stdout
    assert "#SBATCH --array=0-1\n" in done.stdout
    (tmp_path / "sources").write_text("\n")
    assert isinstance(CliRunner().invoke(commands, words).exception, InputError)


def test_items_are_lines_and_nothing_else(tmp_path: Path) -> None:
    """Other marks at which Python parts lines may be in a name."""
    names = ["a\u2028b", "c\x85d", "e\x0bf", "g\x1eh"]
    (tmp_path / "names").write_text("\r\n".join(names))
    words = ["launch", "slurm", "--each", str(tmp_path / "names"), "--", "sssp", "{}"]
    done = CliRunner().invoke(commands, words)
    assert f"items=({' '.join(map(shlex.quote, names))})\n" in done.stdout
    (tmp_path / "names").write_text("a\0b\n")
    with pytest.raises(InputError, match="names: has a null character"):
        CliRunner().invoke(commands, words, standalone_mode=False, catch_exceptions=False)


def test_a_home_is_found_where_the_shell_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    words = ["launch", "slurm", "--mpi", "pmix", "--venv=~/groute", "--", "sssp", "usa.gr"]
    done = CliRunner().invoke(commands, words)
    assert "source /home/me/groute/bin/activate\n" in done.stdout


@pytest.mark.parametrize("ranks", ["--gpus-per-node", "-n"])
def test_mpirun_is_printed(ranks: str) -> None:
    done = CliRunner().invoke(commands, ["launch", "mpirun", ranks, "2", "--", "sssp", "a b.gr"])
    assert done.exit_code == 0, done.output
    assert " -n 2 " in done.stdout
    assert done.stdout.endswith(" -m groute_py sssp 'a b.gr'\n")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("", "how many ranks"),
        ("-n 2 --ntasks-per-node 2", "give one of them"),
        ("-n 3 --hosts a,b", "each of 2 hosts gets equally many"),
    ],
)
def test_a_number_of_ranks_that_is_none(words: str, says: str) -> None:
    done = CliRunner().invoke(commands, ["launch", "mpirun", *words.split(), "--", "sssp", "a.gr"])
    assert isinstance(done.exception, InputError)
    assert says in str(done.exception)


def test_an_error_is_one_of_all_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that only one of them shows it, under mpirun."""
    monkeypatch.setattr("sys.argv", ["groute-py"])
    words = ["launch", "slurm", "--time", "soon", "--", "sssp", "road:9x9"]
    with pytest.raises(InputError, match="time 'soon'") as caught:
        commands.main(words, standalone_mode=False)
    assert caught.value.on_all_ranks


@pytest.mark.parametrize(
    ("says", "place", "start"),
    [
        ("HYDRA build details", "bin", "mpirun"),  # which pip has installed
        ("HYDRA build details", "site", "pmi2"),
        ("mpirun (Open MPI) 5.0.8", "bin", "pmix"),
        ("something else", "bin", "pmix"),
        ("", "", "pmix"),
    ],
)
def test_how_ranks_are_started(
    says: str, place: str, start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("bin", "site"):
        (tmp_path / folder).mkdir()
    if place:
        program = tmp_path / place / "mpirun"
        program.write_text(f"#!/bin/sh\necho '{says}'\n")
        program.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(tmp_path / "bin" / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "site"))
    done = CliRunner().invoke(commands, ["launch", "slurm", "--", "sssp", "usa.gr"])
    assert f"mpi=${{SLURM_MPI_TYPE:-{start}}}\n" in done.stdout
