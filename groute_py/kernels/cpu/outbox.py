"""The outbox: dirty halo vertices grouped by owner."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.near_far import NOT_DIRTY


@kernel
def group_by_owner(
    dirty: Any, count: Any, own: Any, halo_starts: Any, flags: Any, boxes: Any, box_counts: Any
) -> None:
    """Empty the first ``count`` entries (uint32) of ``dirty`` into the owners' boxes.

    The box of owner p is ``boxes[halo_starts[p]:halo_starts[p + 1]]``: a halo vertex is dirty at
    most once, so it never overflows. ``box_counts`` (int64) are zeroed here.
    """
    box_counts[:] = 0
    for i in range(count):
        vertex = dirty[i]
        flags[vertex] &= NOT_DIRTY
        place = np.int64(vertex) - own
        low, high = 0, len(halo_starts) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if halo_starts[middle] <= place:
                low = middle
            else:
                high = middle
        boxes[halo_starts[low] + box_counts[low]] = place
        box_counts[low] += 1
