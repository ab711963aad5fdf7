"""Which tests run in one worker of pytest-xdist, and which workers begin with."""

from __future__ import annotations

from typing import Any

from xdist.scheduler import LoadFileScheduling

APART = ("tests/emulation/test_emulated_gpu.py",)
"""Files of few tests that take long, and share nothing in their process."""


class Spread(LoadFileScheduling):  # type: ignore[misc]
    """A file to a worker, but the tests of `APART` one by one and first, so that none ends late."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return nodeid if file in APART else file

    def _assign_work_unit(self, node: Any) -> None:
        first = next((scope for scope in self.workqueue if scope.startswith(APART)), None)
        if first is not None:
            self.workqueue.move_to_end(first, last=False)
        super()._assign_work_unit(node)
