"""Files as bytes, decompressed where their content says so: gzip, xz, bzip2, zstd.

Everything is streamed: a piece of input is given to the decompressor, which returns at most `CHUNK`
bytes of output at a time. So memory is bounded whatever a file expands to; the sizes that a
compressed file declares are not believed, and a window larger than `LARGEST_WINDOW` is refused.
fsspec, xopen and smart_open bound neither.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

from groute_py.errors import FormatError, GrouteError
from groute_py.io.optional_libraries import library

CHUNK = 1 << 20
"""Bytes read, and at most bytes of output, at a time."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # what some programs put in front of UTF-8
LARGEST_WINDOW = 1 << 28
"""Bytes of memory a decompressor may want; ``xz -9`` wants 65 MiB, ``zstd --ultra`` 128 MiB."""


class Codec(NamedTuple):
    """A way of compression: how it is known, undone and done.

    ``start`` begins a stream to decompress, with the methods of the standard library's bz2.
    """

    name: str
    suffix: str
    magic: re.Pattern[bytes]
    start: Callable[[], Any]
    packing: Callable[[BinaryIO], AbstractContextManager[Any]]


class _Gunzip:
    """gzip by zlib, where isal is not installed."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=31)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._member.decompress(self._member.unconsumed_tail + data, max_length)

    @property
    def eof(self) -> bool:
        return self._member.eof

    @property
    def needs_input(self) -> bool:
        return not self._member.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._member.unused_data


def _gunzip() -> Any:
    try:
        from isal import igzip_lib
    except ImportError:
        return _Gunzip()
    return igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)


def _zstd() -> Any:
    """The standard library's module from Python 3.14 on, else its backport."""
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return library("backports.zstd", "zstd compression")
    return zstd


def _unzstd() -> Any:
    zstd = _zstd()
    most = {zstd.DecompressionParameter.window_log_max: LARGEST_WINDOW.bit_length() - 1}
    return zstd.ZstdDecompressor(options=most)


CODECS = (
    Codec(
        "gzip",
        ".gz",
        re.compile(rb"\x1f\x8b"),
        _gunzip,
        lambda file: gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0),
    ),
    Codec(
        "xz",
        ".xz",
        re.compile(rb"\xfd7zXZ\0"),
        lambda: lzma.LZMADecompressor(memlimit=LARGEST_WINDOW),
        partial(lzma.LZMAFile, mode="wb"),
    ),
    Codec(
        "bzip2",
        ".bz2",
        re.compile(rb"BZh[1-9](1AY&|\x17rE8)"),  # a block follows, or the end
        bz2.BZ2Decompressor,
        partial(bz2.BZ2File, mode="wb"),
    ),
    Codec(
        "zstd",
        ".zst",
        re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),  # a frame, or one to be skipped
        _unzstd,
        lambda file: _zstd().ZstdFile(file, "wb"),
    ),
)

LONGEST_MAGIC = 16

SUFFIXES = tuple(codec.suffix for codec in CODECS)


def codec_of(head: bytes) -> Codec | None:
    """The compression of a file that begins like this, if any."""
    for codec in CODECS:
        if codec.magic.match(head):
            return codec
    return None


def bare_name(path: Path) -> str:
    """The name of a file without the suffix of its compression."""
    return path.stem if path.suffix in SUFFIXES else path.name


def pieces(path: Path) -> Iterator[tuple[bytes, int]]:
    """The content of a file, decompressed, a piece at a time, with the file's bytes done so far."""
    refuse_pipes(path)
    try:
        yield from _pieces(path)
    except OSError as error:
        raise FormatError(path, f"cannot be read: {error.strerror or error}") from error


def _pieces(path: Path) -> Iterator[tuple[bytes, int]]:
    with open(path, "rb") as file:
        codec = codec_of(file.read(LONGEST_MAGIC))
        file.seek(0)
        plain = iter(lambda: file.read(CHUNK), b"")
        for piece in plain if codec is None else _decompressed(path, file, codec):
            yield piece, file.tell()


def _decompressed(path: Path, file: BufferedReader, codec: Codec) -> Iterator[bytes]:
    """The streams of a compressed file, one after another; zeros may follow each."""
    data = file.read(CHUNK)
    while data:
        stream = codec.start()
        while not stream.eof:
            if stream.needs_input and not data and not (data := file.read(CHUNK)):
                problem = f"truncated: the {codec.name} data ends before its end mark"
                raise FormatError(path, problem)
            try:
                piece = stream.decompress(data, CHUNK)
            except GrouteError:  # of a signal handler
                raise
            except Exception as error:
                raise FormatError(path, f"damaged {codec.name} data: {error}") from error
            data = b""
            if piece:
                yield piece
        data = stream.unused_data or file.read(CHUNK)
        while data and not (data := data.lstrip(b"\0")):
            data = file.read(CHUNK)
        if data and codec.magic.match(data + file.peek(8)) is None:
            problem = f"has bytes behind the end of the {codec.name} data that are none"
            raise FormatError(path, problem)


def packing(path: Path, file: BinaryIO) -> AbstractContextManager[IO[bytes]]:
    """A file to write into that compresses as the suffix of `path` says, or not at all."""
    codec = next((codec for codec in CODECS if codec.suffix == path.suffix), None)
    return nullcontext(file) if codec is None else codec.packing(file)


def refuse_pipes(path: Path) -> None:
    """Raise `FormatError` for a pipe, a socket or a device, before it is opened.

    Files are opened more than once, and opening a pipe that nobody writes to never ends.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        return  # who opens it gets the same error
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        what = "is not a regular file, and files are read more than once"
        raise FormatError(path, f"{what}; write what a pipe brings to a file first")
