"""Archives of one file, zip and tar, whose member is read in their place.

Contents are streamed: no more than a piece is in memory, whatever a member is said to hold.
"""

from __future__ import annotations

import re
import tarfile
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from groute_py.errors import FormatError

Pieces = Iterator[tuple[bytes, int]]
"""Bytes of content, and how many bytes of the file are done."""

BLOCK = 512
"""Bytes of a header in a tar archive, of which contents fill a whole number."""
PIECE = 1 << 20
MOST_SHOWN = 10
"""Members that a message lists."""
LONGEST_NAME = 60
"""Letters of a member's name in a message."""
LONGEST_EXTENSION = 1 << 16
"""Bytes of a header with more fields that are looked at."""
ZIP_MAGIC = b"PK\x03\x04"
EXTENSIONS = {tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK}


def is_tar(content: bytes) -> bool:
    """Whether a content begins with the header of a tar archive."""
    return content[257:262] == b"ustar"


def is_zip(path: Path, start: bytes) -> bool:
    """Whether a file is a zip archive of anything but arrays, as NumPy's ``.npz`` are."""
    if not start.startswith(ZIP_MAGIC) or path.suffix == ".npz":
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return not all(name.endswith(".npy") for name in archive.namelist())
    except (zipfile.BadZipFile, NotImplementedError):
        return True
    except OSError as error:
        raise FormatError(path, f"cannot be read: {error.strerror or error}") from error


def zip_name(path: Path) -> str:
    """The name of the one file in a zip archive.

    Raises:
        FormatError: as `zip_member`.
    """
    with _zip_opened(path) as (_, _, member):
        return member.filename


def zip_member(path: Path) -> Pieces:
    """The content of the one file in a zip archive.

    Raises:
        FormatError: there are several files or none, or it is damaged or encrypted.
    """
    with _zip_opened(path) as (file, archive, member), archive.open(member) as content:
        while piece := content.read(PIECE):
            yield piece, file.tell()


@contextmanager
def _zip_opened(path: Path) -> Iterator[tuple[BinaryIO, zipfile.ZipFile, zipfile.ZipInfo]]:
    """A zip archive, as a file and opened, and its one member."""
    try:
        with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
            members = [member for member in archive.infolist() if _counts(member.filename)]
            members = [member for member in members if not member.filename.endswith("/")]
            _check_alone(path, [member.filename for member in members])
            if members[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise FormatError(path, "its member is neither stored nor deflated; unpack it")
            if members[0].flag_bits & 1:
                raise FormatError(path, "its member is encrypted; unpack it")
            yield file, archive, members[0]
    except FormatError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise FormatError(path, f"damaged zip archive: {error}") from error


def tar_member(path: Path, content: Pieces) -> Generator[tuple[bytes, int], None, str | None]:
    """The content of the one file in a tar archive, or all of a content that is none.

    Returns:
        The name of the file, behind its content; None for a content that is no archive.

    Raises:
        FormatError: there are several files or none, or it is damaged.
    """
    source = _Source(path, content)
    if not is_tar(source.peek()):
        yield from source.rest()
        return None
    names, extended = list[str](), _Extended()
    while (header := source.take(BLOCK)).strip(b"\0"):
        try:
            member = tarfile.TarInfo.frombuf(header, "utf-8", "replace")
        except tarfile.HeaderError as error:
            raise FormatError(path, f"damaged tar archive: {error}") from error
        if member.type in EXTENSIONS:
            extended = extended.joined(_extended(source, member))
            continue
        length = member.size if extended.size is None else extended.size
        name, extended = extended.name or member.name, _Extended()
        if member.type == tarfile.GNUTYPE_SPARSE:
            raise FormatError(path, "its member is sparse; unpack it")
        is_file = member.isreg() and _counts(name)
        if is_file:
            names.append(name)
        for piece in source.parts(length):
            if is_file and len(names) == 1:
                yield piece, source.done
        source.take(-length % BLOCK)
    for _ in source.rest():
        pass  # so that damage behind the end mark is seen as well
    _check_alone(path, names)
    return names[0]


class _Extended(NamedTuple):
    """What headers of more fields say of the next member."""

    name: str | None = None
    size: int | None = None

    def joined(self, later: _Extended) -> _Extended:
        """With what a later header says as well."""
        return _Extended(
            self.name if later.name is None else later.name,
            self.size if later.size is None else later.size,
        )


class _Source:
    """Content from which counted bytes are taken."""

    def __init__(self, path: Path, content: Pieces) -> None:
        self._path, self._content = path, content
        self._left = b""
        self.done = 0

    def peek(self) -> bytes:
        """At least a header, if there is so much."""
        while len(self._left) < BLOCK and self._more():
            pass
        return self._left

    def take(self, count: int) -> bytes:
        """So many bytes, at most a piece; fewer only at the end of the archive."""
        while len(self._left) < count and self._more():
            pass
        taken, self._left = self._left[:count], self._left[count:]
        return taken

    def parts(self, count: int) -> Iterator[bytes]:
        """So many bytes, a piece at a time."""
        while count > 0:
            if not self._left and not self._more():
                raise FormatError(self._path, "damaged tar archive: ends within a member")
            part, self._left = self._left[:count], self._left[count:]
            count -= len(part)
            yield part

    def rest(self) -> Pieces:
        """All that is left."""
        if self._left:
            yield self._left, self.done
        yield from self._content

    def _more(self) -> bool:
        piece, self.done = next(self._content, (b"", self.done))
        self._left += piece
        return bool(piece)


def _extended(source: _Source, header: tarfile.TarInfo) -> _Extended:
    """What a header of more fields says of the next member."""
    length = header.size
    text = b"".join(part for part in source.parts(length) if length <= LONGEST_EXTENSION)
    source.take(-length % BLOCK)
    if header.type == tarfile.GNUTYPE_LONGNAME:
        return _Extended(text.rstrip(b"\0").decode(errors="replace"))
    name = re.search(rb"(?:^|\n)\d+ path=([^\n]+)\n", text)
    size = re.search(rb"(?:^|\n)\d+ size=(\d{1,18})\n", text)
    return _Extended(
        None if name is None else name[1].decode(errors="replace"),
        None if size is None else int(size[1]),
    )


def _counts(name: str) -> bool:
    """Whether a member is a user's, not what macOS adds."""
    return not name.startswith("__MACOSX/") and not name.rpartition("/")[2].startswith("._")


def _check_alone(path: Path, names: list[str]) -> None:
    if len(names) == 1:
        return
    if "xl/workbook.xml" in names:
        raise FormatError(path, "is an Excel workbook; save the sheet of edges as CSV")
    if not names:
        raise FormatError(path, "is an archive without files")
    more = f", … ({len(names):,} in all)" if len(names) > MOST_SHOWN else ""
    some = ", ".join(repr(name[:LONGEST_NAME]) for name in names[:MOST_SHOWN])
    raise FormatError(
        path, f"is an archive of several files, and one is read: {some}{more}; unpack it"
    )
