"""Where a signal's error is raised, and where it is put off."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest


def executed(code: str, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Python's end, with what it has written."""
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        cwd=cwd,
    )


IMPORTING = """
import os, signal, sys

class Finder:
    def find_spec(self, name, *_):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
from groute_py.__main__ import run
run()
"""

LAUNCHING = """
import os, runpy, signal, subprocess
subprocess.run = lambda *_, **__: os.kill(os.getpid(), signal.SIGINT)
runpy.run_module("groute_py.launch", run_name="__main__")
"""


@pytest.mark.parametrize(
    ("code", "words", "ends"),
    [
        (IMPORTING, ["groute_py.system.environment"], -signal.SIGINT),
        (IMPORTING, ["groute_py.cli.main"], 130),
        pytest.param(LAUNCHING, ["-n", "2", "--", "info"], -signal.SIGINT, marks=pytest.mark.mpi),
    ],
)
def test_an_interrupt_before_a_command_begins(code: str, words: list[str], ends: int) -> None:
    """Leave no traceback."""
    done = executed(code, *words)
    assert (done.returncode, done.stderr) == (ends, "")


DROPPED = """
import ctypes, os, signal, sys, time
from groute_py.cli import main

@main.commands.command()
def busy():
    for _ in range(2):  # the second one while the first is raised again
        ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), signal.{name}))()
    {then}
    time.sleep(15)

def acquire():
    end = time.monotonic() + 0.1
    while time.monotonic() < end:
        pass

sys.argv = ["groute-py", "busy"]
main.main()
"""


@pytest.mark.parametrize("then", ["pass", "acquire()"])
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 130), ("SIGUSR1", 1)])
def test_a_signal_within_a_callback_is_heard(name: str, code: int, then: str) -> None:
    """Native code that calls Python, as Numba's compiler does, drops what is raised there."""
    done = executed(DROPPED.format(name=name, then=then))
    assert done.returncode == code
    assert len(done.stderr.splitlines()) == 1
    assert name in done.stderr


CLEARED = """
import os, signal, sys, time
from groute_py.cli import main

@main.commands.command()
def busy():
    try:
        raise KeyError
    except KeyError:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.05)
        main.click.echo("cleared up")
    time.sleep(15)

sys.argv = ["groute-py", "busy"]
main.main()
"""


def test_a_signal_while_an_error_is_cleared_up_after() -> None:
    done = executed(CLEARED)
    said = "groute-py: interrupted by SIGTERM; nothing was written\n"
    assert (done.returncode, done.stdout, done.stderr) == (130, "cleared up\n", said)


AT_AN_EDGE = """
import os, signal, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from groute_py.cli import main, ranks
from groute_py.engine import options  # or else imported while a lock is held

def interrupt():
    os.kill(os.getpid(), signal.SIGTERM)

{change}

@main.commands.command()
def busy():
    with ThreadPoolExecutor(2) as pool:
        for _ in range(30):
            list(pool.map(work, range(20)))

sys.argv = ["groute-py", "busy"]
main.main()
"""

SLEEP = "work = lambda _: time.sleep(0.1)"

LOCK = """
class Lock:
    def __init__(self):
        self._lock = threading.RLock()
    def acquire(self):
        self._lock.acquire()
        if threading.current_thread() is threading.main_thread():
            {taken}
    def release(self):
        if threading.current_thread() is threading.main_thread():
            {freed}
        self._lock.release()
    def __enter__(self):
        self.acquire()
    def __exit__(self, *error):
        self.release()

lock = Lock()
def work(_):
    time.sleep(0.1)
    with lock:
        pass
submit = ThreadPoolExecutor.submit
def submit_with_lock(pool, *task):
    future = submit(pool, *task)
    with lock:
        return future
ThreadPoolExecutor.submit = submit_with_lock
"""

EDGES = {
    "a pool's lock is taken": f"""
{SLEEP}
def __enter__(self):
    held = self._lock.__enter__()
    if sys._getframe(1).f_code.co_name == "result":
        interrupt()
    return held
threading.Condition.__enter__ = __enter__
""",
    "a pool's lock is freed": f"""
{SLEEP}
def __exit__(self, *error):
    if sys._getframe(1).f_code.co_name == "acquire" and threading.active_count() > 2:
        interrupt()
    return self._lock.__exit__(*error)
threading.Condition.__exit__ = __exit__
""",
    "a lock such as Numba's is taken": LOCK.format(taken="interrupt()", freed="pass"),
    "a lock such as Numba's is freed": LOCK.format(taken="pass", freed="interrupt()"),
    "two signals at once": LOCK.format(taken="interrupt(); interrupt()", freed="pass"),
    "an alarm is set meanwhile": LOCK.format(
        taken="interrupt(); ranks._set_alarm(100); signal.setitimer(signal.ITIMER_REAL, 0)",
        freed="pass",
    ),
    "a thread has just been started": f"""
{SLEEP}
start = threading._start_new_thread
def start_and_interrupt(*how):
    start(*how)
    interrupt()
threading._start_new_thread = start_and_interrupt
""",
    "a lock is waited for": f"""
{SLEEP}
def acquire():
    interrupt()
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
ThreadPoolExecutor.__enter__ = lambda self: acquire()
""",
}


@pytest.mark.parametrize("edge", EDGES)
def test_a_signal_while_a_lock_changes_hands(edge: str) -> None:
    """An error raised there would leave it locked, and a pool waiting for its threads."""
    code = AT_AN_EDGE.format(change=EDGES[edge])
    done = executed(code)
    assert done.returncode == 130, done.stderr
    assert done.stderr == "groute-py: interrupted by SIGTERM; nothing was written\n"


TEAM = """
import os, sys, threading
from itertools import count
from groute_py.cli.signals import _is_at_edge
from groute_py.device.cpu.team import Threads

def is_interrupted(number):
    steps = count(1)
    def step(frame, event, _):
        if event in ("call", "c_return") and not _is_at_edge(frame) and sys.exc_info()[0] is None:
            if next(steps) == number:
                raise InterruptedError
    team = Threads(3)
    try:
        sys.setprofile(step)
        team.wait()
    except InterruptedError:
        return True
    finally:
        sys.setprofile(None)

for number in count(1):
    go_on = is_interrupted(number)
    for thread in threading.enumerate()[1:]:
        thread.join(10)
        if thread.is_alive():
            os._exit(1)
    if not go_on:
        break
"""


def test_a_signal_while_a_team_starts() -> None:
    """Let no error of a handler, which Python may run after each call, leave a thread waiting."""
    assert executed(TEAM).returncode == 0


BOTH = """
import os, signal, sys, time
from groute_py.cli import main

@main.commands.command()
def busy():
    both = signal.SIGINT, signal.SIGTERM
    signal.pthread_sigmask(signal.SIG_BLOCK, both)
    for number in both:
        os.kill(os.getpid(), number)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, both)
    time.sleep(60)

sys.argv = ["groute-py", "busy"]
main.main()
"""


def test_two_signals_in_one_native_call() -> None:
    """Python has something to say of the second, which is ignored by then; users need not."""
    done = executed(BOTH)
    assert done.returncode == 130
    assert done.stderr == "groute-py: interrupted by SIGINT; nothing was written\n"


CLOSING = """
import atexit, os, signal, sys, time
from contextlib import contextmanager
import click
from groute_py.cli import main

@contextmanager
def late():
    yield
    os.kill(os.getpid(), signal.SIGTERM)

def end():
    time.sleep(0.3)
    click.echo("in order")

@main.commands.command()
def busy():
    click.get_current_context().with_resource(late())
    click.echo("done", err=True)
    atexit.register(end)

sys.argv = ["groute-py", "busy"]
main.main()
"""


ENDING = """
import atexit, os, signal, sys
from groute_py.cli import main

def end():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        os.kill(os.getpid(), number)
    print("in order")

@main.commands.command()
def busy():
    atexit.register(end)

sys.argv = ["groute-py", "busy"]
main.main()
"""


@pytest.mark.parametrize(("code", "said"), [(CLOSING, "done\n"), (ENDING, "")])
def test_a_signal_when_all_is_done(code: str, said: str) -> None:
    """It must not come into what Python does at its end, be it deferred or sent there."""
    done = executed(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "in order\n", said)


WRITTEN = """
import os, signal, sys, time
from pathlib import Path
from groute_py.cli import main
from groute_py.system.atomic_file import replacing

@main.commands.command()
def busy():
    for name in sys.argv[2:]:
        with replacing(Path(name)) as file:
            file.write(b"new")
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)

@main.commands.command()
def meanwhile():
    with replacing(Path("out.npz")) as file:
        file.write(b"new")
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)

busy.params.append(main.click.Argument(["names"], nargs=-1, expose_value=False))
sys.argv[0] = "groute-py"
main.main()
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["busy", "out.npz"], "out.npz is complete"),
        (["busy", "out.npz", "trace.json"], "out.npz and trace.json are complete"),
        (["meanwhile"], "nothing was written"),
    ],
)
def test_an_interrupt_says_what_is_complete(tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "out.npz").write_bytes(b"old")
    done = executed(WRITTEN, *words, cwd=tmp_path)
    assert done.returncode == 130
    assert done.stderr == f"groute-py: interrupted by SIGINT; {said}\n"
    assert (tmp_path / "out.npz").read_bytes() == (b"old" if words == ["meanwhile"] else b"new")
