"""Arrays as an archive in NumPy's form ``.npz``."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import IO, Any

import numpy as np


def save_arrays(file: IO[bytes], arrays: Mapping[str, Any]) -> None:
    """Write arrays as `numpy.savez` does.

    After an error the archive is closed here. NumPy before 2 leaves that to the garbage collector,
    which then complains on stderr that the file has been closed.
    """
    with zipfile.ZipFile(file, "w") as archive:
        for name, values in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(values), allow_pickle=False)
