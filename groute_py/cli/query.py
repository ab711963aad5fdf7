"""``groute-py query``: a graph that stays loaded, and a JSON line as the answer to each line."""

from __future__ import annotations

import json
import select
import signal
import sys
from collections.abc import Callable, Iterator
from io import BufferedIOBase
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

import click

from groute_py.cli import show
from groute_py.cli.options import arc_weights_option, graph_argument, options_from, source_options
from groute_py.cli.ranks import alike
from groute_py.cli.runner import Runner
from groute_py.errors import InputError, InterruptedRun
from groute_py.system.environment import place

if TYPE_CHECKING:
    from groute_py.jobs.questions import Questions
    from groute_py.many.opened import Opened

LONGEST_LINE, AT_ONCE = 1 << 20, 1 << 16  # bytes of a question, and of a read


@click.command()
@graph_argument
@options_from("query")
@click.option(
    "--limit-per-question",
    "time_limit_s",
    type=float,
    metavar="SECONDS",
    help="Give up a question after so many seconds.  [no limit]",
)
@arc_weights_option
@source_options
@alike
def query(graph: str, **arguments: Any) -> None:
    """Answer questions about GRAPH: a JSON object on stdin a line, one on stdout for each.

    Answers come in the order of the questions, until the end of the input. A question is, for
    example, {"source": 3, "target": 9, "path": true}. SIGTERM ends after the line at hand.
    """
    if place().size > 1:
        raise InputError("query runs on one rank; start it without mpirun")
    run = Runner("query", graph, arguments | {"as_json": True})
    from groute_py.comm.base import SoloChannel
    from groute_py.graph.direction import Direction
    from groute_py.jobs.questions import Questions
    from groute_py.jobs.solver import Solver

    run.channel, options = SoloChannel(), run.options
    options.check("query")
    run.read(Direction(options.reverse), whole=False)
    with Solver(run.opened) as solver, Ending() as ending:
        show.note(f"{solver.facts.name} is ready")
        _answer_all(Questions(solver, options.time_limit_s, graph), ending, run.opened)


def _answer_all(questions: Questions, ending: Ending, opened: Opened) -> None:
    """Answer until the input ends, a signal comes, or the file is found changed."""
    from groute_py.jobs.questions import problem

    too_long = problem(InputError(f"a line of more than {LONGEST_LINE:,} bytes"))
    answered = 0
    stdin = sys.stdin and cast(BufferedIOBase, sys.stdin.buffer)  # None if a shell has closed it
    for line in lines_of(stdin, LONGEST_LINE, ending.lets) if stdin else ():
        answer = too_long if len(line) > LONGEST_LINE else questions.answer(line)
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()
        answered += 1
        if opened.change_error is not None:
            raise opened.change_error
        if ending.signal is not None:
            break
    if ending.signal is not None:
        raise InterruptedRun(f"ended by {ending.signal} after {answered:,} questions")


class _Ended(Exception):
    """A signal has come while nothing was at hand."""


class Ending:
    """Ends the command at SIGINT or SIGTERM, after the line at hand if there is one."""

    def __init__(self) -> None:
        self.signal: str | None = None  # the name of the one that has come
        self._waiting = False

    def __enter__(self) -> Ending:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        """The handlers stay: the command is about to end."""

    def lets(self, wait: Callable[[], object]) -> bool:
        """Return whether a wait ends before a signal comes; it may do nothing but wait."""
        try:
            self._waiting = True
            if self.signal is not None:
                self._waiting = False
                return False
            wait()
            self._waiting = False
        except _Ended:
            return False
        return True

    def _note(self, number: int, _: FrameType | None) -> None:
        self.signal = signal.Signals(number).name
        if self._waiting:
            self._waiting = False
            raise _Ended


def lines_of(
    stream: BufferedIOBase, longest: int, wait: Callable[[Callable[[], object]], bool]
) -> Iterator[bytes]:
    """Yield the lines of an input that may wait for its writer, without their ends.

    It waits for bytes before it reads them, and only the wait can be interrupted. So no line is
    lost that has been read. Of one that is too long ``longest`` + 1 bytes come. ``wait`` calls its
    argument, which returns when there is something to read, and gives False at the end.
    """
    arrive, begun = _arrival(stream), b""
    while wait(arrive):
        read = stream.read1(AT_ONCE)
        if not read:
            if begun:
                yield begun
            return
        *whole, rest = read.split(b"\n")
        for line in whole:
            yield (begun + line)[: longest + 1]
            begun = b""
        begun = (begun + rest)[: longest + 1]


def _arrival(stream: BufferedIOBase) -> Callable[[], object]:
    """Return a function that returns when bytes, or the end, have arrived."""
    try:
        number = stream.fileno()
    except OSError:  # it is in memory
        return lambda: None
    poll = select.poll()
    poll.register(number, select.POLLIN)
    return poll.poll
