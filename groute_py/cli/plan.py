"""``groute-py plan``: will a graph fit, and on how many GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import show
from groute_py.cli.amounts import Integer
from groute_py.cli.options import graph_argument, json_option, source_options
from groute_py.cli.ranks import on_rank_0
from groute_py.errors import InputError, SetupError

if TYPE_CHECKING:
    from groute_py.graph.facts import Size
    from groute_py.io.tables.columns import Columns


MOST_GIGABYTES = 1e9  # limit of the memory of a GPU; more is a slip

WORDS = {
    "tight": "as least, with worklists as short as can be",
    "least": "if no arc leads to another part",
    "most": "if as many arcs as can be lead to other parts",
    "fused": "if GPUs exchange inside kernels",
    "sweep": "for a tree of the prepared graph",
    "labels": "for pairs and matrices, on roads, after an order from separators",
}
"""The meaning of rows, by how their names begin."""


@click.command()
@graph_argument
@click.option(
    "--gpus", type=Integer(min=1), default=1, show_default=True, help="The number of GPUs."
)
@click.option(
    "--gpu-memory",
    type=click.FloatRange(min=0, min_open=True),
    metavar="GB",
    help="Free memory of each GPU.  [what NVML says]",
)
@click.option(
    "--bits",
    type=click.Choice(["32", "64"]),
    default="32",
    show_default=True,
    help="The bits of a distance.",
)
@click.option(
    "--mode",
    type=click.Choice(["auto", "fused", "rounds"]),
    default="auto",
    show_default=True,
    help="How the GPUs exchange distances, as for sssp.",
)
@click.option(
    "--job",
    metavar="JOB",
    help="Also the memory of a job: matrix:KxT, nearest[:K], isochrone[:K], route[:K] or "
    "centrality:MEASURE[:K].",
)
@source_options
@json_option
@on_rank_0
def plan(
    graph: str,
    gpus: int,
    gpu_memory: float | None,
    bits: str,
    mode: str,
    job: str | None,
    columns: Columns,
    cache: Any,
    as_json: bool,
) -> None:
    """The memory that GRAPH takes on each GPU and on the host, without loading it.

    Notes say what the words of its rows mean. Ends with code 2 where it cannot fit.
    """
    import numpy as np

    from groute_py.device.cuda.runtime.memory_plan import CONTEXT_BYTES
    from groute_py.engine.memory import gpus as on_gpus
    from groute_py.engine.memory import host
    from groute_py.engine.memory.gpus import prepared_estimate
    from groute_py.many.estimates import label_bytes, order_seconds

    kind = np.dtype(f"int{bits}")
    size = _size(graph, columns, cache)
    estimate, prepared = on_gpus.estimate(size, gpus, kind, mode), prepared_estimate(size, kind)
    parts = {"probably": 1, "probably, in shares": gpus}
    labels = {words: label_bytes(size.vertices, size.arcs, n) for words, n in parts.items()}
    least = {"tight": estimate.tight, "least": estimate.least, "most": estimate.most}
    if gpus > 1:
        least["fused"] = estimate.fused
    rows: dict[str, Any] = {
        "graph": graph,
        "vertices": size.vertices,
        "arcs": size.arcs,
        "gpus": gpus,
        **{f"{name}_gpu_gigabytes": (n + CONTEXT_BYTES) / 1e9 for name, n in least.items()},
        "host_gigabytes": estimate.host / 1e9,
    }
    if prepared is not None:
        rows["contraction_gpu_gigabytes"] = (prepared.contraction + CONTEXT_BYTES) / 1e9
        rows["contraction_host_gigabytes"] = prepared.contraction_on_host / 1e9
        rows["sweep_gpu_gigabytes"] = (prepared.sweep + CONTEXT_BYTES) / 1e9
        rows["labels_gpu_gigabytes"] = (labels["probably"] + CONTEXT_BYTES) / 1e9
        rows["order_seconds"] = order_seconds(size.vertices, size.arcs)
    on_gpu = None
    if job is not None:
        rows["job_host_gigabytes"] = host.job_bytes(job, size) / 1e9
        on_gpu = on_gpus.job_bytes(job, size, kind)
    if on_gpu is not None:
        rows["job_gpu_gigabytes"] = (on_gpu + CONTEXT_BYTES) / 1e9
    free = _free_bytes(gpu_memory)
    if free is None:
        rows["fits"] = "unknown"
        show.note("no GPU was found; --gpu-memory says how much memory each one has free")
    else:
        rows["free_gpu_gigabytes"], free = free / 1e9, free - CONTEXT_BYTES
        rows["fits"] = estimate.verdict(free)
        rows["gpus_that_are_enough"] = on_gpus.fewest(size, free, kind, mode)
        if prepared is not None:
            rows["prepared_fits"] = prepared.verdict(free)
            fitting = (words for words, takes in labels.items() if takes <= free)
            rows["labels_fit"] = next(fitting, "perhaps not")
        if on_gpu is not None:
            rows["job_fits"] = "yes" if on_gpu <= free else "no"
    show.answer(rows, as_json=as_json)
    if not as_json:
        words = (w for w in WORDS if f"{w}_gpu_gigabytes" in rows)
        show.note("; ".join(f"{word}: {WORDS[word]}" for word in words))
        if prepared is None:
            degree = f"with {size.arcs / size.vertices:,.1f} arcs per vertex"
            show.note(f"{degree} it hardly has small separators: no hierarchy and no labels")
    _refuse_what_does_not_fit(graph, job, rows)


def _refuse_what_does_not_fit(graph: str, job: str | None, rows: dict[str, Any]) -> None:
    """Raise `SetupError` if the answer says that it does not fit."""
    from groute_py.engine.memory.gpus import advice

    if rows.get("job_fits") == "no":
        least, there = rows["job_gpu_gigabytes"], rows["free_gpu_gigabytes"]
        raise SetupError(
            f"{job} of {graph} takes at least {least:,.1f} GB on each GPU, and {there:,.1f} GB "
            "are free; each has the whole graph: take larger ones, or --device cpu"
        )
    if rows.get("fits") == "no":
        least, there = rows["tight_gpu_gigabytes"], rows["free_gpu_gigabytes"]
        raise SetupError(
            f"{graph} takes at least {least:,.1f} GB on each of {rows['gpus']} GPUs, and "
            f"{there:,.1f} GB are free; {advice(rows['gpus_that_are_enough'])}"
        )


def _size(graph: str, columns: Columns, cache: Any) -> Size:
    from groute_py.graph.facts import Size
    from groute_py.graph.generate import is_spec, size_of_spec
    from groute_py.source.graph_source import GraphSource

    if is_spec(graph):
        columns.refuse(graph)
        size: Size | None = size_of_spec(graph)
    else:
        file = GraphSource(graph, columns, cache=cache).file
        assert file is not None
        size = file.size()
    if size is None:
        raise InputError(
            f"{graph}: its beginning does not say how large it is; convert it to .csr first "
            "(groute-py convert)"
        )
    return Size(size.vertices, size.arcs << columns.undirected)


def _free_bytes(gpu_memory: float | None) -> int | None:
    """Return what the user says, else the least of this host's GPUs, else None."""
    from groute_py.device.monitoring.telemetry import free_bytes, nvml

    if gpu_memory is not None:
        if not gpu_memory < MOST_GIGABYTES:
            raise InputError(f"--gpu-memory {gpu_memory} is no size in GB")
        return int(gpu_memory * 1e9)
    return min(free_bytes(nvml()), default=None)
