"""The channel over MPI: nonblocking calls; messages are received in any order.

A wait polls, after some time with growing pauses. So ranks that share a core do not starve each
other, and signals are handled at once (a blocking MPI call would delay Python's handlers).
Transfers of large arrays are polled without pauses, because MPI may move one small fragment a poll.
"""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.awareness import gpu_aware
from groute_py.comm.base import Buffer, Channel, Memory, SoloChannel, host_memory

if TYPE_CHECKING:
    from mpi4py import MPI

T = TypeVar("T")

PIECE, FIRST_PHASE, PHASES = 1, 2, 1 << 14
"""Message tags: pieces of large arrays, then one for each phase, used in turn."""

PIECE_BYTES = 1 << 28
"""Large arrays travel in pieces, far below MPI's 2³¹ count limit."""

LARGE = 1 << 16
"""Bytes of an array from which a broadcast takes it from where it lies."""

TESTS_BEFORE_NAPS, LONGEST_NAP_S = 1000, 2e-3
"""Ranks that wait for each other are mostly about to meet, and a nap takes 60 us or more; but one
may wait long, while another reads a file."""

SHEET = np.dtype([("length", np.int64), ("text", "S248")])
"""A fixed-size record for small gathers, which ranks wait for in every solve."""


class MpiChannel:
    """The ranks of an intracommunicator, duplicated (collective) so that messages stay apart."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        from mpi4py import MPI

        self._mpi = MPI
        self._comm = _duplicate(comm)
        self.rank: int = comm.rank
        self.size: int = comm.size
        self.direct = gpu_aware()[0]
        self._phase = 0
        self.sent = 0
        self.received = 0
        self._sent_to = [0] * self.size
        self.bytes_sent = np.zeros(self.size, dtype=np.int64)
        self._leaving: list[tuple[MPI.Request, Buffer]] = []
        self._vote: MPI.Request | None = None
        self._ballot = self._ballots = np.empty(0)

    def broadcast(self, value: T) -> T:
        parts = _pickled(value) if self.rank == 0 else []
        count = np.array([len(parts)], dtype=np.int64)
        self._wait(self._comm.Ibcast(count))
        sizes = np.array([len(part) for part in parts], dtype=np.int64)
        if self.rank > 0:
            sizes = np.empty(int(count[0]), dtype=np.int64)
        self._wait(self._comm.Ibcast(sizes))
        if self.rank > 0:
            parts = [np.empty(size, np.uint8) for size in sizes]
        for piece in (piece for part in parts for piece in _pieces(part)):
            self._push(self._comm.Ibcast(piece))
        if self.rank == 0:
            return value
        return cast("T", pickle.loads(parts[0].data, buffers=parts[1:]))

    def gather(self, value: T) -> list[T]:
        payload = pickle.dumps(value)
        sheets = np.empty(self.size, dtype=SHEET)
        mine = np.array([(len(payload), payload)], dtype=SHEET)
        self._wait(self._comm.Iallgather(mine.view(np.uint8), sheets.view(np.uint8)))
        if (sheets["length"] <= SHEET["text"].itemsize).all():
            # NumPy strips zero bytes at the end of a text
            padded = [sheet["text"].ljust(sheet["length"], b"\0") for sheet in sheets]
            return [pickle.loads(text) for text in padded]
        collected = self.collect(np.frombuffer(payload, dtype=np.uint8)) or []
        return self.broadcast([pickle.loads(p.tobytes()) for p in collected])

    def scatter(self, arrays: list[NDArray[Any]] | None) -> NDArray[Any]:
        shapes = [(len(a), a.dtype) for a in arrays] if arrays is not None else None
        shapes = self.broadcast(shapes)
        assert shapes is not None
        if arrays is not None:
            columns = [_pieces(np.ascontiguousarray(a).view(np.uint8)) for a in arrays[1:]]
            for row in zip_longest(*columns):  # a piece to each peer: they copy side by side
                leaving = [(piece, peer) for peer, piece in enumerate(row, 1) if piece is not None]
                self._push(*(self._comm.Isend(piece, peer, PIECE) for piece, peer in leaving))
            return arrays[0]
        length, dtype = shapes[self.rank]
        return self._take(length, dtype, 0)

    def collect(self, array: NDArray[Any]) -> list[NDArray[Any]] | None:
        array = np.ascontiguousarray(array)
        lengths = np.empty(self.size, dtype=np.int64)
        self._wait(self._comm.Iallgather(np.array([len(array)], dtype=np.int64), lengths))
        if self.rank != 0:
            self._give(array, 0)
            return None
        others = [self._take(int(lengths[p]), array.dtype, p) for p in range(1, self.size)]
        return [array, *others]

    def exchange(self, arrays: list[NDArray[Any]]) -> list[NDArray[Any]]:
        lengths = np.array([len(array) for array in arrays], dtype=np.int64)
        coming = np.empty_like(lengths)
        self._wait(self._comm.Ialltoall(lengths, coming))
        leaving = np.concatenate(arrays)
        arriving = np.empty(coming.sum(), dtype=leaving.dtype)
        item = leaving.itemsize
        self._push(
            self._comm.Ialltoallv(
                [leaving.view(np.uint8), lengths * item, self._mpi.BYTE],
                [arriving.view(np.uint8), coming * item, self._mpi.BYTE],
            )
        )
        return np.split(arriving, np.cumsum(coming)[:-1])

    def split(self, parts: Sequence[int]) -> Channel:
        if len(set(parts)) == 1:
            return self
        duplicates, which = _kept(self._comm), tuple(parts)
        if which not in duplicates:
            part = self._comm.Split(parts[self.rank], self.rank)
            duplicates[which] = cast("MPI.Intracomm", part)
        mine = duplicates[which]
        return MpiChannel(mine) if mine.size > 1 else SoloChannel()

    def first_of_host(self) -> int:
        part = self._comm.Split_type(self._mpi.COMM_TYPE_SHARED, self.rank)
        first = np.array([self.rank], dtype=np.int64)
        part.Bcast(first)
        part.Free()
        return int(first[0])

    def abandon(self) -> None:
        coming = sum(sent_to[self.rank] for sent_to in self.gather(self._sent_to))
        while self.received < coming:
            self.receive()
        for request, _ in self._leaving:
            self._wait(request)
        self._leaving = []

    def begin(self) -> None:
        self._phase += 1
        self.sent = self.received = 0
        self._sent_to = [0] * self.size

    def send(self, peer: int, message: Buffer) -> None:
        self._leaving = [(r, b) for r, b in self._leaving if not r.Test()]
        self._leaving.append((self._comm.Isend(message, peer, self._tag), message))
        self.sent += 1
        self._sent_to[peer] += 1
        self.bytes_sent[peer] += message.nbytes

    def receive(self, memory: Memory = host_memory) -> list[Buffer]:
        messages = []
        status = self._mpi.Status()
        while handle := self._comm.Improbe(self._mpi.ANY_SOURCE, self._tag, status):
            message = memory(status.Get_count(self._mpi.BYTE))
            handle.Recv(message)
            messages.append(message)
        self.received += len(messages)
        return messages

    def vote(self, ballot: Sequence[float]) -> None:
        # MPI owns both arrays until the vote has ended, so they are kept here
        self._ballot = np.array(ballot, np.float64)
        self._ballots = np.empty((self.size, len(ballot)))
        self._vote = self._comm.Iallgather(self._ballot, self._ballots)

    def tally(self) -> list[Sequence[float]] | None:
        if self._vote is None or not self._vote.Test():
            return None
        self._vote = None
        return cast("list[Sequence[float]]", self._ballots.tolist())

    @property
    def _tag(self) -> int:
        return FIRST_PHASE + self._phase % PHASES

    def _give(self, array: NDArray[Any], peer: int) -> None:
        for piece in _pieces(array.view(np.uint8)):
            self._push(self._comm.Isend(piece, peer, PIECE))

    def _take(self, length: int, dtype: np.dtype[Any], peer: int) -> NDArray[Any]:
        array = np.empty(length, dtype=dtype)
        for piece in _pieces(array.view(np.uint8)):
            self._push(self._comm.Irecv(piece, peer, PIECE))
        return array

    def _push(self, *requests: MPI.Request) -> None:
        while not self._mpi.Request.Testall(list(requests)):
            os.sched_yield()

    def _wait(self, request: MPI.Request) -> None:
        for _ in range(TESTS_BEFORE_NAPS):
            if request.Test():
                return
            os.sched_yield()
        nap_s = 0.0
        while not request.Test():
            time.sleep(nap_s)
            nap_s = min(nap_s + 1e-5, LONGEST_NAP_S)


_attribute: int | None = None
"""MPI's key of the attribute that holds a communicator's derived communicators."""


def _kept(comm: MPI.Intracomm) -> dict[Any, MPI.Intracomm]:
    """Communicators derived from ``comm``, each made once: MPI libraries allow only thousands."""
    global _attribute
    if _attribute is None:
        _attribute = comm.Create_keyval()
    duplicates = cast("dict[Any, MPI.Intracomm] | None", comm.Get_attr(_attribute))
    if duplicates is None:
        duplicates = {}
        comm.Set_attr(_attribute, duplicates)
    return duplicates


def _duplicate(comm: MPI.Intracomm) -> MPI.Intracomm:
    """Our duplicate of ``comm``."""
    duplicates = _kept(comm)
    if "ours" not in duplicates:
        duplicates["ours"] = comm.Dup()
    return duplicates["ours"]


def _pickled(value: Any) -> list[NDArray[np.uint8]]:
    """A value as bytes, and the memory of its large arrays, which is not copied (PEP 574)."""
    large: list[NDArray[np.uint8]] = []

    def in_band(buffer: pickle.PickleBuffer) -> bool:
        memory = np.frombuffer(buffer.raw(), np.uint8)
        if memory.size >= LARGE:
            large.append(memory)
        return memory.size < LARGE

    text = pickle.dumps(value, protocol=5, buffer_callback=in_band)
    return [np.frombuffer(text, np.uint8), *large]


def _pieces(array: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
    return [array[i : i + PIECE_BYTES] for i in range(0, len(array), PIECE_BYTES)]
