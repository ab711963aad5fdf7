"""The GPU of a rank, also where a site binds GPUs to ranks itself.

Rank i of a host takes GPU i and must see every GPU of its host to open the device memory of other
ranks (CUDA IPC). So a setting that gives each task a GPU of its own, such as Slurm's
``--gpus-per-task``, is harmless for exchange in rounds and forbids exchange inside the kernel.
"""

from __future__ import annotations

ADVICE = (
    "let every rank see all GPUs of its node: under Slurm --gpus-per-node with --gpu-bind=none, "
    "elsewhere the same CUDA_VISIBLE_DEVICES for all ranks"
)


def why_hidden(rank: int, peers: list[int], setting: str | None) -> str:
    """Say why a rank that does not see the GPUs of ``peers`` cannot exchange inside the kernel.

    >>> why_hidden(1, [0], "--gpus-per-task=1")[:70]
    'rank 1 does not see the GPU of rank 0, which --gpus-per-task=1 may hid'
    """
    whose = f"rank {peers[0]}" if len(peers) == 1 else f"ranks {', '.join(map(str, peers))}"
    by = f", which {setting} may hide" if setting else ""
    return f"rank {rank} does not see the GPU of {whose}{by}; {ADVICE}"
