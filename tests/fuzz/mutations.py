"""Small changes to bytes and to text, drawn at random."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from random import Random

LONGEST = 1 << 16
"""Mutated inputs are cut here; a reader has no reason to take long or much memory for them."""

NUMBERS = tuple(
    text.encode()
    for text in (
        *("0", "-1", "1", "2", "-0", "+1", "007", "1.5", "-2.5", "1.", ".5", "1e3", "1E400"),
        *("1e309", "-1e309", "1e-320", "3.5e38", "nan", "NaN", "-nan", "inf", "-inf", "Infinity"),
        *(str(2**power + more) for power in (7, 15, 24, 31, 32, 53, 63, 64) for more in (-1, 0)),
        *(str(-(2**power) - more) for power in (31, 63) for more in (0, 1)),
        *(
            "1" + "0" * 18,
            "1" + "0" * 30,
            "9" * 5000,
            "1_000",
            "0x10",
            "1,5",
            "1;5",
            "\u0663",
            "\u00bd",
        ),
        *("", '""', '"', "true", "null", "[]", "{}", "-", "+", ".", "e", "#", "%", "c"),
    )
)
"""Edge values that replace a number or a word."""

TEXTS = (
    *("\n", "\r\n", "\r", "\n\n", " ", "\t", ",", ";", "|", '"', "'", "\0", "\x1b[31m", "\x7f"),
    *("\ufeff", "\ud800", "\u202e", "é", "#", "%", "c ", "p sp 1 1\n", "# vertices 0..9\n"),
    *("# ids are names\n", "# directed\n", "%%MatrixMarket ", "a 1 2 3\n", "1 2\n", "3 3\n"),
    *("from,to,weight\n", "x" * 300),
)
PIECES = (
    *(text.encode("utf-8", "surrogatepass") for text in TEXTS),
    *(b"\xff\xfe", b"\xfe\xff", b"\x80", b"\x1f\x8b", b"PK\x03\x04", b"PAR1"),
)
"""Text to insert."""

INTEGERS = (0, 1, 2, 3, 4, 7, 8, 255, 1 << 16, 1 << 24, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62)
WORD = re.compile(rb"[^\s,;|\"':{}\[\]()=]+")

Mutation = Callable[[bytes, Random, Sequence[bytes]], bytes]
"""Takes an input, what to draw from, and other inputs of the same kind."""


def mutated(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    """The input after one to four mutations."""
    for _ in range(min(int(random.expovariate(0.8)) + 1, 4)):
        content = random.choice(MUTATIONS)(content, random, others)[:LONGEST]
    return content


def _span(content: bytes, random: Random) -> slice:
    """A short part, now and then a long one."""
    start = random.randint(0, len(content))
    longest = len(content) if random.random() < 0.2 else 16
    return slice(start, start + random.randint(1, max(longest, 1)))


def flip_bit(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    changed = bytearray(content or b"\0")
    changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def set_byte(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    changed = bytearray(content or b"\0")
    changed[random.randrange(len(changed))] = random.choice((0, 1, 0x7F, 0x80, 0xFF, 0x0A, 0x30))
    return bytes(changed)


def remove(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    span = _span(content, random)
    return content[: span.start] + content[span.stop :]


def repeat(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    span = _span(content, random)
    times = random.choice((2, 2, 3, 100))
    return content[: span.start] + content[span] * times + content[span.stop :]


def truncate(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    return content[: random.randint(0, len(content))]


def insert(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    place = random.randint(0, len(content)) if random.random() < 0.7 else 0
    return content[:place] + random.choice(PIECES) + content[place:]


def splice(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    other = random.choice(others) if others else content
    one, two = random.randint(0, len(content)), random.randint(0, len(other))
    return content[:one] + other[two:]


def graft(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    other = random.choice(others) if others else content
    return insert_at(content, other[_span(other, random)], random)


def insert_at(content: bytes, piece: bytes, random: Random) -> bytes:
    place = random.randint(0, len(content))
    return content[:place] + piece + content[place:]


def set_integer(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    """Overwrite four or eight aligned bytes, as of a header, by an edge value."""
    size = random.choice((4, 8))
    value = random.choice(INTEGERS) + random.choice((0, 0, 1, -1))
    value = -value if random.random() < 0.2 else value
    packed = struct.pack(random.choice("<<<>") + "q", value)
    word = packed[:size] if random.random() < 0.8 else packed[-size:]
    place = 4 * random.randint(0, min(len(content), 128) // 4)
    if random.random() < 0.5:
        place = random.randint(0, len(content))
    return content[:place] + word + content[place + size :]


def set_float(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    value = random.choice((float("nan"), float("inf"), -float("inf"), 1e308, -0.0, 5e-324))
    size = random.choice((4, 8))
    single = 3e38 if value == 1e308 else value
    packed = struct.pack("<d", value) if size == 8 else struct.pack("<f", single)
    place = 4 * random.randint(0, len(content) // 4)
    return content[:place] + packed + content[place + size :]


def set_word(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    words = list(WORD.finditer(content))
    if not words:
        return content
    word = random.choice(words[:8] if random.random() < 0.4 else words)
    return content[: word.start()] + random.choice(NUMBERS) + content[word.end() :]


def nudge_number(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    numbers = list(re.finditer(rb"\d{1,18}", content))
    if not numbers:
        return content
    result = random.choice(numbers[:6] if random.random() < 0.5 else numbers)
    number = int(result[0]) + random.choice((1, -1, 2, 1000, 10**7, 10**12))
    return content[: result.start()] + b"%d" % number + content[result.end() :]


def copy_word(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    words = list(WORD.finditer(content))
    if not words:
        return content
    one, two = random.choice(words), random.choice(words)
    replace = random.random() < 0.5
    return (
        content[: one.start() if replace else one.end()]
        + (two[0] if replace else b" " + two[0])
        + content[one.end() :]
    )


def move_line(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    """Remove, double, join, swap or shift lines."""
    lines = content.split(b"\n")
    one, two = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(5):
        case 0:
            del lines[one]
        case 1:
            lines.insert(two, lines[one])
        case 2 if one + 1 < len(lines):
            lines[one : one + 2] = [lines[one] + random.choice((b"", b" ", b",")) + lines[one + 1]]
        case 3:
            lines[one], lines[two] = lines[two], lines[one]
        case _:
            lines[one] = random.choice((b" ", b"\t", b"#", b"c ", b",", b'"')) + lines[one]
    return b"\n".join(lines)


def change_ends(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    """Other ends of lines, separators or encodings, everywhere."""
    old, new = random.choice(
        (
            *((b"\n", b"\r\n"), (b"\n", b"\r"), (b"\n", b"\n\n"), (b"\r\n", b"\n"), (b" ", b"\t")),
            *((b" ", b","), (b",", b" "), (b",", b";"), (b",", b"|"), (b"1", b"0"), (b"2", b"1")),
            *((b".", b","), (b"-", b""), (b'"', b""), (b'"', b"'"), (b"e", b"E")),
        )
    )
    if random.random() < 0.1:
        encoding = random.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig"))
        return content.decode("latin-1").encode(encoding)
    return content.replace(old, new, random.choice((-1, -1, 1, 2)))


def strip_end(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    return content.rstrip(b"\n \0") + random.choice((b"", b"", b"\n\n", b" ", b"\0", b"\x1a"))


MUTATIONS: tuple[Mutation, ...] = (
    *(flip_bit, set_byte, remove, repeat, truncate, insert, splice, graft, set_integer, set_float),
    *(set_word, set_word, nudge_number, nudge_number, copy_word, move_line, move_line),
    *(change_ends, strip_end),
)
"""All of them; what changes words and lines of text is drawn more often."""
