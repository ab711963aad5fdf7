"""``python -m soak``: random solves until there are enough, or time is over."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from soak.case import drawn
from soak.ending import Ended, ended, turn
from soak.weights import KINDS

CASES_A_TURN = 8
"""What a process takes at once."""

CASES_A_LINE = 1000
"""After so many it is said how many solves there were."""

CASES_A_SEED = 10**8


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    parser.add_argument("--solves", type=int, default=sys.maxsize, help="end after so many")
    parser.add_argument("--seconds", type=float, default=None, help="or after so long (120)")
    parser.add_argument("--seed", type=int, default=0, help="of the first case (0)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="(cpu)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--weights", choices=KINDS, action="append", help="of these kinds alone")
    parser.add_argument("--case", type=int, default=None, help="run this one alone")
    options = parser.parse_args(words)
    options.weights = options.weights or list(KINDS)
    if options.seconds is None:
        options.seconds = 120.0 if options.solves == sys.maxsize else float("inf")
    return options


def soak(options: argparse.Namespace) -> Iterator[Ended]:
    """Cases as they end, until enough are begun."""
    first, end, begun = options.seed * CASES_A_SEED, time.monotonic() + options.seconds, 0
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, mp_context=context) as pool:
        running: dict[Future[list[Ended]], range] = {}
        solves = 0
        while True:
            is_open = solves < options.solves and time.monotonic() < end
            while is_open and len(running) <= options.jobs:
                numbers = range(first + begun, first + begun + CASES_A_TURN)
                future = pool.submit(turn, numbers, options.device, options.weights, end)
                running[future] = numbers
                begun += CASES_A_TURN
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                for case in _results(future, running.pop(future)):
                    solves += case.solves
                    yield case


def _results(future: Future[list[Ended]], numbers: range) -> list[Ended]:
    try:
        return future.result()
    except BrokenProcessPool as error:
        many = f"cases {numbers.start} to {numbers.stop - 1}, or in others at that time"
        raise SystemExit(f"a process died in {many}; run each with --case") from error


def report(groups: Counter[tuple[str, str]], solves: int, cases: int) -> None:
    """Print the counts by each group."""
    print(f"\n{solves:,} solves in {cases:,} cases")
    for title in dict.fromkeys(title for title, _ in groups):
        counts = sorted((name, count) for (of, name), count in groups.items() if of == title)
        print(f"{title}: " + ", ".join(f"{name} {count:,}" for name, count in counts))


def _command(number: int, options: argparse.Namespace) -> str:
    """What runs a case again."""
    kinds = [] if options.weights == list(KINDS) else options.weights
    chosen = "".join(f" --weights {kind}" for kind in kinds)
    return f"python -m soak --case {number} --device {options.device}{chosen}"


def main() -> None:
    """End with code 1 where a case failed."""
    options = arguments()
    if options.case is not None:
        print(drawn(options.case, options.device, options.weights))
        result = ended(options.case, options.device, options.weights)
        print(result.failure or result.groups["outcome"])
        sys.exit(1 if result.failure else 0)
    print(f"seed {options.seed}, {options.jobs} jobs, {options.device}", flush=True)
    groups: Counter[tuple[str, str]] = Counter()
    solves = cases = failures = 0
    for case in soak(options):
        solves, cases = solves + case.solves, cases + 1
        groups.update(dict.fromkeys(case.groups.items(), case.solves))
        if cases % CASES_A_LINE == 0:
            print(f"{solves:,} solves", flush=True)
        if case.failure:
            failures += 1
            print(f"FAILED: {_command(case.number, options)}\n{case.failure}", flush=True)
    report(groups, solves, cases)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
