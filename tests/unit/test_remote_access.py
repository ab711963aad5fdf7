"""Only one file of the kernels dereferences pointers into the memory of peers."""

from __future__ import annotations

import re
from pathlib import Path

import groute_py.kernels

KERNELS = Path(groute_py.kernels.__file__).parent

REMOTE = re.compile(
    r"\bmailbox\[(?!peers\.me\]|MAX_PEERS\])|\boutbox\[(?!MAX_PEERS\])|peers\.distances\["
)
"""Words of a rank's own mailbox, which any file may read."""


def test_one_file_has_all_access_to_peers() -> None:
    files = [*KERNELS.rglob("*.cu"), *KERNELS.rglob("*.cuh")]
    result = {str(path.relative_to(KERNELS)) for path in files if REMOTE.search(path.read_text())}
    assert result == {"exchange/remote.cuh"}
