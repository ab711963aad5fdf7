"""Rows of distances as commands save and show them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from groute_py.cli import show, timing
from groute_py.cli.resumable import save_rows

if TYPE_CHECKING:
    from groute_py.cli.runner import Runner
    from groute_py.comm.base import Channel
    from groute_py.many.apsp import Job, Progress


class Answer(NamedTuple):
    """A job on rows, and its outcome by name; the outcome is on rank 0."""

    job: Job
    outcome: dict[str, Any]


def with_bar(
    deliver: Callable[[Channel, Job, Progress | None], dict[str, Any]],
    channel: Channel,
    job: Job,
    _: Progress | None = None,
) -> Answer:
    """Deliver rows while a bar on the terminal shows how many are done. Collective."""
    timing.begin("solve")
    with show.row_progress(f"{job.choice.algorithm}, {len(job.sources):,} sources") as progress:
        return Answer(job, deliver(channel, job, progress))


def save(run: Runner, channel: Channel, job: Job, progress: Progress | None) -> dict[str, Any]:
    """Let rows stream to the output of a command. Collective."""
    path = Path(str(run.output))
    return save_rows(channel, job, path, run.resumes, progress, run.ends.points)


def rows_of(answer: Answer, **more: Any) -> dict[str, Any]:
    """The answer by name; ``more`` stands behind the sources."""
    job, facts = answer.job, answer.job.facts
    return {
        "graph": facts.name,
        "vertices": facts.vertex_count,
        "arcs": facts.arc_count,
        "sources": len(job.sources),
        **more,
        "algorithm": job.choice.algorithm,
        "reason": job.choice.reason,
        **answer.outcome,
        **show.attribution(job.whole.attribution),
    }
