"""Mutations within compressed files, archives, tables and headers, wrapped up again after it."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from fuzz.mutations import NUMBERS, mutated
from groute_py.io.array_file import BLOCK

try:
    from compression import zstd  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    from backports import zstd

PACKERS: dict[bytes, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    b"\x1f\x8b": (gzip.decompress, lambda content: gzip.compress(content, mtime=0)),
    b"\xfd7zXZ": (lzma.decompress, lzma.compress),
    b"BZh": (bz2.decompress, bz2.compress),
    b"\x28\xb5\x2f\xfd": (zstd.decompress, zstd.compress),
}
"""How to unpack and pack what begins like this."""

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.9, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**30, "12", "", "x"),
    *(float("nan"), float("inf"), [], [0], {}, {"size": 1}, "\ud800", "\x1b[31m", "é" * 500),
)
"""For a JSON header."""


def mutated_within(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    """The input after mutations of what it holds, or of its bytes as they are."""
    if random.random() < 0.3:
        return mutated(content, random, others)
    for magic, (unpack, pack) in PACKERS.items():
        if content.startswith(magic):
            inner = [unpack(other) for other in others if other.startswith(magic)]
            packed = pack(mutated_within(unpack(content), random, inner))
            return packed + pack(b"1 2 3\n") if random.random() < 0.05 else packed
    if content.startswith(b"PK"):
        return _zip(content, random)
    if content.startswith(b"\x93NUMPY"):
        return _npy(content, random)
    if content.startswith(b"groute-py csr "):
        return _native(content, random)
    if content.startswith(b"groute-py prepared "):
        changed = _native(content, random)
        return _digested(changed) if random.random() < 0.9 else changed
    if content.startswith(b"PAR1"):
        return _parquet(content, random)
    return mutated(content, random, others)


def _zip(content: bytes, random: Random) -> bytes:
    """Change, rename, drop or double a member."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    if not members:
        return mutated(content, random, [])
    place = random.randrange(len(members))
    name, inner = members[place]
    match random.randrange(6):
        case 0:
            members[place] = (random.choice([*_NAMES, name.removesuffix(".npy")]), inner)
        case 1:
            del members[place]
        case 2:
            members[place] = (name, random.choice(members)[1])
        case _:
            members[place] = (name, mutated_within(inner, random, [part for _, part in members]))
    file = io.BytesIO()
    method = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(file, "w", method) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # members of one name are meant
        for name, inner in members:
            archive.writestr(zipfile.ZipInfo(name), inner, method)
    return file.getvalue()


_NAMES = ["", "../out", "/abs.npy", "data", "data.npy", "shape.npy", "ids.npy", "a\x1bb", "x" * 300]


def _npy(content: bytes, random: Random) -> bytes:
    """Change the text of the header and keep its length right, or the data behind it."""
    start = 10
    end = start + int.from_bytes(content[8:10], "little")
    header, data = content[start:end], content[end:]
    if random.random() < 0.5:
        return content[:end] + mutated(data, random, [])
    if random.random() < 0.5:
        old, new = random.choice(_TYPES), random.choice(_TYPES)
        header = header.replace(old, new)
    else:
        header = mutated(header, random, [])
    return content[:8] + (len(header) % 65536).to_bytes(2, "little") + header + data


_TYPES = (b"'<i8'", b"'<i4'", b"'<f8'", b"'<f4'", b"'|O'", b"'<U3'", b"'>i8'", b"'<u8'", b"'|S3'")


def _native(content: bytes, random: Random) -> bytes:
    """Change the JSON header of a native graph or an array behind it."""
    magic, header, rest = content.split(b"\n", 2)
    match random.randrange(4):
        case 0:
            header = _json(header, random)
        case 1:
            old, new = random.choice(_TYPES), random.choice(_TYPES)
            rest = rest.replace(old, new, random.choice((1, -1)))
        case 2:
            shapes = list(re.finditer(rb"'shape': \((\d+),\)", rest))
            if shapes:
                result = random.choice(shapes)
                shape = b"'shape': (%s,)" % random.choice(NUMBERS[:60])
                rest = rest[: result.start()] + shape.ljust(len(result[0])) + rest[result.end() :]
        case _:
            rest = mutated(rest, random, [])
    size = len(magic) + len(header) + 2
    return magic + b"\n" + header + b" " * (-size % 64) + b"\n" + rest


def _digested(content: bytes) -> bytes:
    """With the digests of what it now holds, so that the checks behind these are reached."""
    start = content.rfind(b"\x93NUMPY")
    data = start + 10 + int.from_bytes(content[start + 8 : start + 10], "little")
    blocks = [content[k : min(k + BLOCK, start)] for k in range(0, max(start, 0), BLOCK)]
    digests = b"".join(zlib.crc32(block).to_bytes(4, "little") for block in blocks)
    return content[:data] + digests + content[data + len(digests) :]


def _json(text: bytes, random: Random) -> bytes:
    try:
        fields = json.loads(text)
    except ValueError:
        fields = None
    if not isinstance(fields, dict) or not fields or random.random() < 0.3:
        return mutated(text.rstrip(), random, []).replace(b"\n", b" ")
    name = random.choice(list(fields))
    if random.random() < 0.15:
        del fields[name]
    elif random.random() < 0.05:
        return b'{"first_id": ' + b"[" * 60000
    else:
        inner = fields[name]
        if isinstance(inner, dict) and inner and random.random() < 0.7:
            inner[random.choice(list(inner))] = random.choice(VALUES)
        else:
            fields[name] = random.choice(VALUES)
    return json.dumps(fields).encode()


def _parquet(content: bytes, random: Random) -> bytes:
    """Change a column's name, type or values, or the metadata of the schema."""
    import pyarrow as arrow
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(content))
    place = random.randrange(table.num_columns)
    column, name = table.column(place), table.schema.names[place]
    match random.randrange(5):
        case 0:
            kept = {k: mutated(v, random, []) for k, v in (table.schema.metadata or {}).items()}
            table = table.replace_schema_metadata(kept)
        case 1:
            names = [*table.schema.names]
            names[place] = random.choice(["", "id", "weight", "source", "x\x1b", name, "cost"])
            table = table.rename_columns(names)
        case 2:
            table = table.remove_column(place) if table.num_columns > 1 else table
        case 3:
            values = column.to_pylist()
            values[random.randrange(len(values))] = None
            table = table.set_column(place, name, arrow.array(values, column.type))
        case _:
            kinds = (arrow.int8(), arrow.uint64(), arrow.float32(), arrow.string(), arrow.binary())
            kind = random.choice(kinds)
            values = [random.choice((v, 1, 0)) for v in range(table.num_rows)]
            if kind in (arrow.string(), arrow.binary()):
                values = [random.choice((b"", b"a", b"b", b"1")) for _ in values]
            table = table.set_column(place, name, arrow.array(values, kind))
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()
