"""``groute-py query`` at a signal, and where nobody reads any more."""

from __future__ import annotations

import fcntl
import io
import json
import os
import signal
import sys
import termios
from pathlib import Path
from typing import TextIO

import pytest
from click.testing import CliRunner
from support.querying import answer_of, running

import groute_py
from groute_py.cli.main import commands

QUESTION, ANSWER = {"source": "home", "target": "pub"}, {"distance": 7}


@pytest.fixture
def town(tmp_path: Path) -> Path:
    (tmp_path / "town.csv").write_text("from,to,weight\nhome,work,5\nwork,pub,2\n")
    return tmp_path / "town.csv"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_it_waits(town: Path, number: signal.Signals) -> None:
    with running(town) as process:
        assert answer_of(process, QUESTION) == ANSWER
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == ""
    assert f"ended by {number.name} after 1 questions" in err


def test_a_signal_during_a_question(tmp_path: Path) -> None:
    """The line at hand is answered, and no other."""
    groute_py.write_graph(groute_py.generate("road:1500x1500"), tmp_path / "large.csr")
    line = json.dumps({"sources": list(range(40)), "targets": [5]})
    with running(tmp_path / "large.csr") as process:
        assert process.stdin is not None
        process.stdin.write(f"{line}\n{line}\n")
        process.stdin.flush()
        wait_until_read(process.stdin)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=240)
    assert process.returncode == 130
    assert "ended by SIGTERM after 1 questions" in err
    (answer,) = map(json.loads, out.splitlines())
    assert len(answer["distances"]) == 40


class SignalledAfterReading(io.BufferedReader):
    """A signal arrives as soon as bytes have been read, and before they are looked at."""

    def read1(self, size: int = -1, /) -> bytes:
        read = super().read1(size)
        signal.raise_signal(signal.SIGTERM)
        return read


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Click's own stdin
def test_a_signal_loses_no_line_that_has_been_read(town: Path) -> None:
    question = json.dumps(QUESTION).encode()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    reading, writing = os.pipe()
    try:
        os.write(writing, question + b"\n" + question + b"\n")  # and it stays open
        with SignalledAfterReading(io.FileIO(reading)) as stream:
            words = ["query", str(town), "--device", "cpu"]
            done = CliRunner().invoke(commands, words, stream)
    finally:
        os.close(writing)
        for number, handler in before.items():
            signal.signal(number, handler)
    assert "ended by SIGTERM after 1 questions" in str(done.exception)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [ANSWER]


def wait_until_read(pipe: TextIO) -> None:
    """Until nothing is left in the pipe."""
    while int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder):
        pass


def test_a_reader_that_has_gone(town: Path) -> None:
    with running(town) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.write("{}\n")
        process.stdin.close()
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
        assert process.wait(30) == 1
