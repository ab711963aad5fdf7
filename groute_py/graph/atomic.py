"""Files that are complete or absent."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A new file in the folder of `path` that takes its place when the block ends well."""
    draft = path.parent / f".groute-py-{os.getpid()}-{secrets.token_hex(4)}.tmp"
    try:
        with open(draft, "xb") as file:
            yield file
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
