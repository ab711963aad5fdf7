"""Contents of .npy files, right ones and such as lie."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np


def npy(values: Any) -> bytes:
    """A file of an array."""
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(values))
    return file.getvalue()


def header(shape: str, descr: str = "<i8") -> bytes:
    """The beginning of a file that promises an array of this shape and type, as text."""
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", 118) + text.ljust(117) + b"\n"
