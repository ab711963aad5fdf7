"""``python -m fuzz``: mutate, read and judge for as long as is asked for."""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from random import Random

from fuzz.containers import mutated_within
from fuzz.findings import Findings
from fuzz.judge import Judge
from fuzz.seeds import formats


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long (60)")
    parser.add_argument("--inputs", type=int, default=None, help="end after so many inputs")
    parser.add_argument("--seed", type=int, default=0, help="of all that is drawn (0)")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes (2)")
    parser.add_argument("--only", metavar="FORMAT", help="formats whose names hold this")
    parser.add_argument("--memory", type=int, default=1024, help="megabytes for an input (1024)")
    parser.add_argument("--limit", type=float, default=20, help="seconds for an input (20)")
    parser.add_argument("--found", type=Path, default=Path("fuzz-found"), help="what faults go to")
    parser.add_argument("--preload", default="", help=argparse.SUPPRESS)
    return parser.parse_args(words)


def input_of(seed: int, number: int, names: list[str]) -> tuple[str, bytes]:
    """The format and content of an input; the same for the same seed, number and formats."""
    name = names[number % len(names)]
    random = Random(f"{seed}/{name}/{number // len(names)}")
    seeds = formats()[name].seeds
    return name, mutated_within(random.choice(seeds), random, seeds)


def fuzz(options: argparse.Namespace) -> Findings:
    """Run all jobs to their end."""
    names = [name for name in formats() if (options.only or "").lower() in name.lower()]
    if not names:
        sys.exit(f"no format {options.only!r}; there are {', '.join(formats())}")
    findings, end = Findings(options.found), time.monotonic() + options.seconds
    errors: list[BaseException] = []

    def work(job: int) -> None:
        try:
            with Judge(options.memory, options.limit, options.preload) as judge:
                number = job
                while time.monotonic() < end and number < (options.inputs or sys.maxsize):
                    name, content = input_of(options.seed, number, names)
                    findings.take(name, content, judge.verdict(name, content), judge)
                    number += options.jobs
        except BaseException as error:  # noqa: BLE001 - raised again below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(job,)) for job in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return findings


def report(findings: Findings) -> None:
    """Print counts by format and by fault."""
    print(f"\n{'format':<20}{'read':>10}{'refused':>10}{'faults':>10}")
    total: Counter[str] = Counter()
    for name in dict.fromkeys(name for name, _ in findings.ends):
        counts = {end: findings.ends[name, end] for end in ("read", "refused", "fault")}
        total.update(counts)
        print(f"{name:<20}" + "".join(f"{count:>10,}" for count in counts.values()))
    print(f"{'all':<20}" + "".join(f"{total[e]:>10,}" for e in ("read", "refused", "fault")))
    for what, count in findings.faults.most_common():
        print(f"{count:>8,} × {what}")


def main() -> None:
    """End with code 1 where a fault was found."""
    options = arguments()
    print(f"seed {options.seed}, {options.jobs} jobs, {options.seconds:g} s", flush=True)
    findings = fuzz(options)
    report(findings)
    sys.exit(1 if findings.faults else 0)


if __name__ == "__main__":
    main()
