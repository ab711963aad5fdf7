"""Rows of distances from many sources, reduced on the device, over all ranks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from groute_py.centrality.bounds import bounded_rows, is_bounded
from groute_py.comm.agree import collective, on_root
from groute_py.device.summary import Wanted
from groute_py.engine.memory.host import bytes_of, refuse_beyond
from groute_py.errors import InputError, RunError, quoted
from groute_py.graph.facts import Size
from groute_py.many.apsp import Ends, ManySources
from groute_py.many.opened import NO_WORK, Opened, Work
from groute_py.many.reduce import Reduction, reduce
from groute_py.many.sources import Vertices, indices_in
from groute_py.system.threads import core_count

WANTED = {
    "closeness": Wanted(),
    "mean": Wanted(),
    "harmonic": Wanted(sums=False, reciprocals=True),
    **dict.fromkeys(("eccentricity", "diameter", "radius"), Wanted(sums=False)),
}
"""The numbers of each row that a measure is made of."""

BOUNDED = ("diameter", "radius")  # measures that bounds may find from some rows


@dataclass(frozen=True, eq=False)
class Reduced:
    """Reduced rows of k sources, on rank 0."""

    job: ManySources
    rows: Reduction
    label: str  # of the device
    sources: NDArray[np.int64]  # (k,), all that were asked for, or those that bounds left

    @property
    def count(self) -> int:
        """Vertices of the graph, n."""
        return self.job.graph.vertex_count

    @property
    def pairs(self) -> int:
        """Ordered pairs of a source and another vertex that a path leads to."""
        return int(self.rows.reached.sum()) - len(self.rows.reached)

    @property
    def complete(self) -> bool:
        """Return whether a path leads from each source to every vertex."""
        return bool((self.rows.reached == self.count).all())

    def closeness(self, normalized: bool) -> NDArray[np.float64]:
        """Return (r − 1) / (sum of distances), shape (k,), with r the reached vertices.

        It is 0 unless the sum is more than 0, as in NetworkX.
        With ``normalized`` it is multiplied by (r − 1) / (n − 1) (Wasserman and Faust, 1994).
        """
        others = self.rows.reached - 1
        sums = self.rows.sums.astype(np.float64)
        with np.errstate(over="ignore"):  # of sums below 1e-308 it is infinite
            result = np.divide(others, sums, out=np.zeros(len(sums)), where=sums > 0)
        return result * (others / max(self.count - 1, 1)) if normalized else result

    def harmonic(self, normalized: bool) -> NDArray[np.float64]:
        """Return the sums of 1 / distance, shape (k,), divided by n − 1 with ``normalized``."""
        result = self.rows.reciprocals
        return result / max(self.count - 1, 1) if normalized else result

    @property
    def farthest(self) -> int:
        """The position of the source with the greatest distance."""
        return int(self.rows.greatest.argmax())

    @property
    def most_central(self) -> int:
        """The position of the source with the least eccentricity, if it reaches all vertices."""
        (central,) = np.nonzero(self.rows.reached == self.count)
        if not len(central):
            name = quoted(self.job.facts.name)
            raise InputError(
                f"no source reaches every vertex of {name}, so its radius is "
                "infinite; ask for the eccentricity of each vertex, or take its largest component"
            )
        return int(central[self.rows.greatest[central].argmin()])

    def mean(self) -> tuple[float, float]:
        """The mean of the distances of all `pairs`, and its standard error if sources were drawn.

        The mean is NaN if there are no pairs, and the error 0 if all vertices are sources.
        """
        if not self.pairs:
            return math.nan, math.nan
        sums = self.rows.sums
        if sums.dtype.kind == "i":
            mean = sum(sums.tolist()) / self.pairs
            return mean, self._error_of_mean(sums.astype(np.float64), mean)
        _, exponent = math.frexp(np.abs(sums).max())
        if not np.isfinite(sums).all():
            raise RunError(
                f"a sum of distances in {quoted(self.job.facts.name)} is beyond 1.8e308; scale "
                "the weights down"
            )
        small = np.ldexp(sums, -exponent)  # whose sum and squares are within range
        mean = float(small.sum()) / self.pairs
        error = self._error_of_mean(small, mean)
        return math.ldexp(mean, exponent), math.ldexp(error, exponent)

    def _error_of_mean(self, sums: NDArray[np.float64], mean: float) -> float:
        """Return the error of a ratio of two means (Cochran, Sampling Techniques, 1977, 2.11)."""
        sample_size = len(self.rows.reached)
        if sample_size >= self.count:
            return 0.0
        if sample_size == 1:
            return math.nan
        others = (self.rows.reached - 1).astype(np.float64)
        apart = sums - mean * others
        variance = float((apart**2).sum()) / (sample_size - 1)
        spread = math.sqrt((1 - sample_size / self.count) * variance / sample_size)
        return spread / float(others.mean())


def reduced(
    opened: Opened, sources: Vertices | None, measure: str, work: Work = NO_WORK
) -> Reduced | None:
    """Return what a measure needs of the rows of all sources; None elsewhere than on rank 0.

    Collective. For ``diameter`` and ``radius`` only some of the sources may be left.
    """
    channel, _ = opened.channel, opened.supply()
    request, progress = WANTED[measure], opened.rank_watch(work.progress)

    def ends() -> Ends:
        graph = opened.graph(opened.supply_direction)
        if request.reciprocals and graph.arc_count and graph.weights.min() < 0:
            raise InputError(
                f"{quoted(graph.name)} has a negative weight, with which harmonic centrality is "
                "not defined"
            )
        return Ends(None if sources is None else indices_in(graph, sources))

    options = replace(opened.options, algorithm="auto", predecessors=False)
    job = opened.many_sources(ends, options, destination="sums")
    has_bounds = measure in BOUNDED and on_root(channel, lambda: is_bounded(job))
    if not has_bounds:
        with collective(channel):
            _refuse_memory(job, -(-len(job.sources) // channel.size))
    store = work.keep
    if store is not None:
        store.begin(channel, job.run, len(job.sources))
    if has_bounds:
        rows = bounded_rows(channel, job, measure, progress, store)
        return None if rows is None else Reduced(job, *rows[1:], rows[0])
    result = reduce(channel, job, request, progress=progress, store=store)
    return None if result is None else Reduced(job, *result, job.sources)


def _refuse_memory(job: ManySources, sources: int) -> None:
    """Refuse rows that this rank's cores have no room for.

    A GPU takes as many rows at once as fit, and sweeps take as many threads.
    """
    if job.choice.device != "cpu":
        return
    size = Size.of(job.graph)
    threads = 1 if job.choice.algorithm == "sweep" else core_count()
    method, solving = f"rows by {job.choice.algorithm}", min(threads, sources)
    needed = bytes_of(method, size, sources, threads=solving)
    what = f"rows of {quoted(job.facts.name)} by {threads} threads"
    refuse_beyond(needed, what, "allow fewer threads, by --threads or threads=")
