"""What tests run of each package, as a Markdown table; what ``coverage json`` says comes in."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

HEAD = ["| package | statements | branches | covered |", "|---|---:|---:|---:|"]


def by_package(files: Mapping[str, Mapping[str, Any]]) -> dict[str, Counter[str]]:
    """The sums over the files of each folder: statements, branches, and how many of them ran."""
    packages: dict[str, Counter[str]] = {}
    for name, file in sorted(files.items()):
        counts = packages.setdefault(str(PurePosixPath(name).parent), Counter())
        summary = file["summary"]
        counts["statements"] += summary["num_statements"]
        counts["branches"] += summary["num_branches"]
        counts["run"] += summary["covered_lines"] + summary["covered_branches"]
    return packages


def table(files: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The lines of the table: a package each, and the sum of all."""
    packages = by_package(files)
    packages["all"] = sum(packages.values(), Counter())
    yield from HEAD
    for package, counts in packages.items():
        share = counts["run"] / max(1, counts["statements"] + counts["branches"])
        sizes = f"{counts['statements']:,} | {counts['branches']:,}"
        yield f"| {package} | {sizes} | {share:.1%} |"


if __name__ == "__main__":
    print("\n".join(table(json.load(sys.stdin)["files"])))
