"""The meeting of two upward searches in a contraction hierarchy (Geisberger et al., 2012)."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel


@kernel
def meet(ahead: Any, back: Any, found: Any, nothing: Any) -> Any:
    """The shortest path over a place of both searches, or ``nothing``; clears ``back`` there.

    ``ahead`` leads from the source, upward and through the core, ``back`` upward to the target.
    """
    best = np.uint64(nothing)
    for place in found:
        if ahead[place] != nothing:
            best = min(best, np.uint64(ahead[place]) + np.uint64(back[place]))
        back[place] = nothing
    return best
