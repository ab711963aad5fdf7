"""Collection of the answer of all ranks on rank 0."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Channel
from groute_py.device.base import Device
from groute_py.partition.order import Order
from groute_py.results.result import public_distances


def collect(
    channel: Channel, device: Device, order: Order, *, predecessors: bool
) -> tuple[NDArray[Any], NDArray[np.int64] | None] | None:
    """Distances and predecessors of the whole graph as a `Result` has them; collective.

    Args:
        channel: connects the ranks.
        device: this rank's.
        order: of the vertices, which is undone.
        predecessors: whether they are wanted.

    Returns:
        On rank 0 both, the second None if it is not wanted; None on the others.
    """
    distances = channel.collect(device.distances())
    parents = channel.collect(device.predecessors()) if predecessors else None
    if distances is None:
        return None
    found, tree = order.by_input(_joined(distances)), None
    if parents is not None:
        tree = order.by_input(order.in_input(_joined(parents)))
    return public_distances(found), tree


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """The parts, concatenated; a single part without a copy."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
