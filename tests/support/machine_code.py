"""What of compiled kernels a GPU runs."""

from __future__ import annotations

import struct

CODE = (".text.", ".nv.constant")
"""How sections of an object begin that say what the GPU does; others hold names and lines."""


def machine_code(cubin: bytes) -> dict[str, bytes]:
    """The sections of an object that say what the GPU does (`CODE`), by their names.

    Source: the layout of 64-bit ELF files, System V ABI, chapter 4.
    """
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", cubin, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", cubin, table + k * size) for k in range(count)]
    names = sections[names_at][4]
    code = dict[str, bytes]()
    for at, _, _, _, start, length in sections:
        name = cubin[names + at : cubin.index(b"\0", names + at)].decode()
        if name.startswith(CODE):
            code[name] = cubin[start : start + length]
    return code
