"""The device of a machine with NVIDIA GPUs: kernels of `groute_py.kernels`, compiled by CuPy.

Messages stay on the device where the MPI library takes them there, else they leave and arrive
through page-locked host memory. A slice costs one launch and one look at the control block;
everything between is on the device.
"""

from __future__ import annotations

from typing import Any

import cupy as cp
import cupyx
import numpy as np
from cupy.cuda import driver, runtime
from numpy.typing import NDArray

from groute_py.comm.base import Buffer, host_memory
from groute_py.comm.team import Team
from groute_py.device.base import NO_PARENT, Counters, Linked, unreached, within
from groute_py.device.cuda_crossing import to_device, to_host
from groute_py.device.cuda_graph import packed_arcs
from groute_py.device.cuda_module import compile_now, kernels_of
from groute_py.device.inventory import uuid_of
from groute_py.device.layout import (
    EXCHANGE,
    MAILBOX,
    MAX_PEERS,
    SHARE,
    WORK,
    control_type,
    offset_of,
    pointed,
)
from groute_py.device.memory import (
    SPARE_BYTES,
    capacity,
    entries_that_fit,
    entry_type,
    item_capacity,
    ring_entries,
    work_arrays,
)
from groute_py.device.patience import Patience, threshold_after
from groute_py.device.peers import Link, exportable, nobody, why_not
from groute_py.errors import InputError
from groute_py.kernels.source import BLOCK, SOLVE
from groute_py.partition.share import Share

SLICE_TURNS = 16
"""Turns a rank with peers takes before it looks at its messages; see docs/performance.md."""

SLICE_TURNS_ALONE = 1 << 10
"""Without peers a slice (some 40 ms) only has to end soon enough for a signal to be heard."""

BLOCKS_PER_PROCESSOR = 4
"""Blocks of the persistent grid on each multiprocessor; see docs/performance.md."""

SMALL_SHARE = 1 << 18
"""Vertices up to which one block a multiprocessor is faster: thin frontiers meet sooner."""

DEPTH = 16
"""Levels a block goes down by itself in a turn."""

BUSHY = 4.0
"""Mean degree from which frontiers may grow too fast for blocks to keep what they find."""

PROBE_TURNS, PROBE_DEPTH = 32, 1
"""The first slice of such a graph, alone: many have all relaxed by then, the others are deep."""

LOOKED_AT = 1 << 22
"""Vertices that are looked at together after a solve."""

NOBODY = 0xFFFFFFFF
"""The source's local number on a rank that does not own it."""


class CudaDevice:
    """See `groute_py.device.base.Device` for the verbs.

    Args:
        local_rank: takes the GPU of this number; where there are fewer, ranks share.
        direct: messages lie in device memory.
    """

    name = "cuda"

    def __init__(self, local_rank: int, *, direct: bool) -> None:
        self._direct = direct
        count = runtime.getDeviceCount()
        self._gpu = cp.cuda.Device(local_rank % count)
        self._gpu.use()
        properties = runtime.getDeviceProperties(self._gpu.id)
        self._processors = properties["multiProcessorCount"]
        shared = (
            f", shared by {local_rank // count + 1} ranks or more" if local_rank >= count else ""
        )
        self.label = f"{properties['name'].decode()} #{self._gpu.id}{shared}"
        self._processor = self.label
        self.uuid: str | None = uuid_of(properties)
        self.counters = Counters()
        self._stream = cp.cuda.Stream(non_blocking=True)
        self._beside = cp.cuda.Stream(non_blocking=True)  # while the other is busy
        self._link: Link | None = None
        self._all_linked, self._launched, self.floor = False, False, 0.0
        self._sent = np.zeros(MAX_PEERS, np.uint64)
        self._ring = 0
        self._peers = nobody()

    def rehearse(self, distance_type: np.dtype[Any]) -> None:
        compile_now(SOLVE, distance_type)

    def load(self, share: Share, distance_type: np.dtype[Any], peers: int) -> None:
        self._gpu.synchronize()  # whoever makes a graph on this GPU is done with it
        self.unlink()
        self.let_go()
        with self._stream:
            try:
                self._share = share
                self._type, self._nothing = distance_type, unreached(distance_type)
                self._turns = SLICE_TURNS_ALONE if peers == 1 else SLICE_TURNS
                self._bushy = peers == 1 and len(share.heads) >= BUSHY * share.own_count
                self._compile(len(share.heads))
                self._upload(share, peers)
                self._allocate(share, peers)
            except cp.cuda.memory.OutOfMemoryError as problem:
                raise InputError(
                    f"the share of {share.own_count:,} vertices and {len(share.heads):,} arcs does "
                    f"not fit on {self.label} ({problem}); use more GPUs"
                ) from problem
            self._stream.synchronize()

    def let_go(self) -> None:
        """Drop the arrays of the graph before: two do not have to fit."""
        self._graph: dict[str, Any] = {}
        self._arrays: dict[str, Any] = {}

    def room(self) -> int:
        return int(self._gpu.mem_info[0]) + int(cp.get_default_memory_pool().free_bytes())

    def link(self, team: Team) -> Linked | str:
        reason = why_not(team.channel, self._gpu.id, team.first)
        if reason is not None:
            return reason
        self.unlink()
        halo = max(team.channel.gather(len(self._share.halo)))
        self._ring = ring_entries(halo)
        distances = self._arrays["distance"]
        self._link = Link(team, self._share, distances, self._arc_type().itemsize, self._ring)
        self._peers = self._link.peers(lead=0.0, bound=np.inf)
        self._all_linked = team.hosts == 1
        return self

    def unlink(self) -> None:
        if self._link is not None:
            self._link.close()
        self._link, self._peers = None, nobody()

    def prepare(self, lead: float, bound: float) -> None:
        assert self._link is not None
        mailbox = np.zeros(1, MAILBOX)
        mailbox["vote"], mailbox["limit"] = 1, min(lead, bound)
        words = (mailbox.ctypes.data, MAILBOX.itemsize, runtime.memcpyHostToDevice)
        runtime.memcpyAsync(self._link.mailbox, *words, self._beside.ptr)
        if self._launched:
            with self._beside:
                self._begin_to_exchange()
        self._beside.synchronize()  # what `start` has begun goes on meanwhile
        self._peers = self._link.peers(lead, bound)

    def launch(self) -> None:
        self._launched = True
        with self._stream:
            self._launch(np.inf, 1, DEPTH)

    def finished(self) -> bool:
        if not self._stream.done:
            return False
        with self._stream:
            if not self._all_linked:
                self._fill_outboxes(with_parents=False)
            seen = self._read_control()
        self.floor = float(seen["floor"])
        assert self._link is not None
        self._sent += self._link.bytes_sent(seen["exchange"])
        self._count(seen)
        return True

    def stop(self) -> None:
        assert self._link is not None
        flag = np.ones(1, np.uint32)
        place = self._link.mailbox + offset_of(MAILBOX, "stop")
        words = (place, flag.ctypes.data, 4, runtime.memcpyHostToDevice)
        runtime.memcpyAsync(*words, self._beside.ptr)
        self._beside.synchronize()

    def start(self, source: int | None, delta: float, cutoff: float, *, record: bool) -> None:
        self.counters = Counters()
        self._launched, self._sent = False, np.zeros(MAX_PEERS, np.uint64)
        self._recording = record and self._type.itemsize == 4
        self._make_room_to_record()
        self._probing = self._bushy
        self._source = NOBODY if source is None else source
        self._delta, self._cutoff = within(delta, self._type), within(cutoff, self._type)
        self._patience = Patience(len(self._share.heads), self._delta, self._nothing)
        state = (self._share_at, self._work, self._peers, self._control)
        numbers = (np.uint32(self._source), self._delta, np.uint32(self._ring))
        with self._stream:
            self._run("start", self._share.local_count, *state, *numbers)

    def memory(self, size: int) -> Buffer:
        return self._room(size) if self._direct else host_memory(size)

    def merge(self, message: Buffer) -> None:
        count = len(message) // (self._type.itemsize + 4)
        with self._stream:
            values, vertices = self._columns(message, count, self._type, np.dtype(np.int32))
            self._run("merge", count, self._work, self._control, values, vertices, np.uint32(count))

    def relax(self, limit: float) -> float:
        turns, depth = (PROBE_TURNS, PROBE_DEPTH) if self._probing else (self._turns, DEPTH)
        self._probing = False
        with self._stream:
            self._launch(limit, turns, depth)
            self._fill_outboxes(with_parents=False)
            seen = self._read_control()
            if np.isfinite(seen["floor"]):
                self._keep_patience(seen)
        self._count(seen)
        return float(seen["floor"])

    def window(self) -> float:
        return float("inf") if self._delta == self._nothing else float(self._delta)

    def outgoing(self) -> list[tuple[int, Buffer]]:
        return self._emptied(with_parents=False)

    def farthest(self, vertices: NDArray[np.int64]) -> float:
        with self._stream:
            greatest = self._arrays["distance"][cp.asarray(vertices)].max().get()[()]
        return np.inf if greatest == self._nothing else float(greatest)

    def forget_beyond(self, bound: float) -> None:
        with self._stream:
            distances = self._arrays["distance"]
            distances[distances > within(bound, self._type)] = self._nothing

    def start_claims(self, monotone: bool) -> None:
        self._listed, self._done = False, 0
        if self._recording and self._claim_recorded():
            self._monotone = self._onward = False
            return
        self._monotone, self._onward = monotone, not monotone
        with self._stream:
            self._arrays["parent"].fill(NO_PARENT)

    def merge_claims(self, message: Buffer) -> None:
        count = len(message) // (8 + self._type.itemsize + 4)
        types = (np.dtype(np.int64), self._type, np.dtype(np.int32))
        with self._stream:
            parents, values, vertices = self._columns(message, count, *types)
            flags = (np.uint32(count), np.uint32(self._source), np.uint32(self._listed))
            work = (self._work, self._control)
            self._run("merge_claims", count, *work, parents, values, vertices, *flags)

    def claim(self) -> bool:
        if not self._monotone and not self._onward:
            return False
        state = (self._share_at, self._work, self._control)
        with self._stream:
            if self._monotone:
                self._monotone = False
                self._run("claim_rising", len(self._share.heads) // 8, *state)
                self._onward = bool(self._read_control()["level"])
            if self._onward and not self._listed:
                self._listed = True
                self._run("list_claimed", self._share.own_count, *state, np.uint32(self._source))
            listed = int(self._read_control()["claimed_count"])
            if self._onward and listed > self._done:
                bounds = (np.uint32(self._done), np.uint32(listed))
                source = np.uint32(self._source)
                self._run("claim_onward", listed - self._done, *state, source, *bounds)
                self._done = listed
            self._fill_outboxes(with_parents=True)
            left = int(self._read_control()["claimed_count"]) - self._done
        return self._onward and left > 0

    def outgoing_claims(self) -> list[tuple[int, Buffer]]:
        return self._emptied(with_parents=True)

    def arcs_reached(self) -> int:
        own, offsets, count = self._share.own_count, self._graph["offsets"], 0
        with self._stream:
            for first in range(0, own, LOOKED_AT):  # in pieces, where little memory is left
                last = min(first + LOOKED_AT, own)
                reached = self._arrays["distance"][first:last] != self._nothing
                degrees = cp.diff(offsets[first : last + 1])
                count += int((degrees * reached).sum(dtype=np.uint64))
        return count

    def held(self) -> tuple[Any, Any]:
        own = self._share.own_count
        with self._stream:
            copies = [self._arrays[name][:own].copy() for name in ("distance", "parent")]
        self._stream.synchronize()
        return copies[0], copies[1]

    def distances(self) -> NDArray[Any]:
        return self._download("distance")

    def predecessors(self) -> NDArray[np.int64]:
        return self._download("parent")

    def _keep_patience(self, seen: Any) -> None:
        delta = self._patience.narrower(float(seen["threshold"]), int(seen["relaxations"]))
        if delta is None:
            return
        self._delta = delta
        threshold = threshold_after(seen["window"], delta, self._nothing)
        self._run("narrow", int(max(seen["near_count"])), self._work, self._control, threshold)
        self._write_control("threshold", threshold)
        self._write_control("turn", np.uint32(seen["turn"] + 1))

    def _claim_recorded(self) -> bool:
        """Take the predecessors that were recorded; False if some are missing."""
        state = (self._share_at, self._work, self._control)
        with self._stream:
            self._run("claim_recorded", self._share.own_count, *state, np.uint32(self._source))
            return not self._read_control()["unrecorded"]

    def _write_control(self, field: str, value: Any) -> None:
        start = offset_of(self._control_type, field)
        self._control[start : start + value.nbytes] = cp.asarray(
            np.frombuffer(value.tobytes(), np.uint8)
        )

    def _launch(self, limit: float, turns: int, depth: int) -> None:
        state = (self._share_at, self._work, self._peers, self._control)
        bounds = (self._delta, self._cutoff, np.float64(limit))
        self._kernels["relax"].kernel(
            (self._grid,),
            (BLOCK,),
            (*state, *bounds, np.uint32(turns), np.uint32(depth)),
            enable_cooperative_groups=True,
        )

    def _count(self, seen: Any) -> None:
        self.counters = Counters(
            relaxations=int(seen["relaxations"]),
            steps=int(seen["steps"]),
            slices=self.counters.slices + int(seen["steps"] > self.counters.steps),
            overflowed=bool(seen["overflowed"]),
            sent=self._bytes_to_peers(),
        )

    def _bytes_to_peers(self) -> list[int]:
        if self._link is None:
            return []
        return [0] * self._link.first + self._sent.tolist()

    def _begin_to_exchange(self) -> None:
        """As the kernel `start` does."""
        exchange = np.zeros(1, EXCHANGE)
        exchange["room"] = self._ring
        self._write_control("exchange", exchange)

    def _compile(self, arc_count: int) -> None:
        wide = arc_count >= 1 << 31  # sums of an offset and a stride must not wrap
        self._offset_type = np.uint64 if wide else np.uint32
        self._kernels = kernels_of(SOLVE, self._type, wide_offsets=wide)
        blocks = driver.occupancyMaxActiveBlocksPerMultiprocessor(
            self._kernels["relax"].kernel.ptr, BLOCK, 0
        )
        # every block of the grid barrier must be running: never more than fit at once
        few = self._share.own_count <= SMALL_SHARE
        self._grid = self._processors * (1 if few else min(blocks, BLOCKS_PER_PROCESSOR))

    def _upload(self, share: Share, peers: int) -> None:
        arcs = packed_arcs(share.heads, share.weights, self._type)
        self._graph = {
            "offsets": to_device(share.offsets, self._offset_type),
            "arcs": arcs,
            "halo_home": to_device(share.halo_home, np.int32),
            "halo_starts": cp.asarray(share.halo_starts.astype(np.uint32)),
        }
        numbers = {"first": share.first, "own": share.own_count, "halo": len(share.halo)}
        self._share_at = pointed(SHARE, self._graph, {**numbers, "peers": peers})

    def _arc_type(self) -> np.dtype[Any]:
        return entry_type(self._type)

    def _allocate(self, share: Share, peers: int) -> None:
        own, arcs = share.own_count, len(share.heads)
        sizes = (own, len(share.halo), arcs, peers, self._type)
        entries = entries_that_fit(*sizes, self.room())
        shapes = work_arrays(*sizes, entries)
        self._arrays = {}
        if peers > 1:
            cp.get_default_memory_pool().free_all_blocks()
            self._arrays["distance"] = exportable(*shapes.pop("distance"))
        self._arrays |= {name: cp.empty(shape, dtype) for name, (shape, dtype) in shapes.items()}
        self.label = self._processor + _shortened(entries, own)
        lengths = {"capacity": entries, "item_capacity": item_capacity(arcs)}
        self._work = pointed(WORK, self._arrays, lengths)
        self._control_type = control_type(self._type)
        self._control = cp.empty(self._control_type.itemsize, np.uint8)
        dirty_count = offset_of(self._control_type, "dirty_count")
        self._dirty_count = self._control[dirty_count : dirty_count + 4]
        self._seen = cupyx.empty_pinned(self._control_type.itemsize, np.uint8)
        self._box_counts = cupyx.zeros_pinned(peers, np.uint32)

    def _make_room_to_record(self) -> None:
        """Let the kernels see where to record, or that nothing is to be."""
        names = ("near_tail", "far_tail")
        self._recording = self._recording and self._has_room_to_record(names)
        if self._recording == bool(self._work["record"][0]):
            return
        for name in names:
            rows = self._arrays[name] if self._recording else ()
            self._work[name] = [row.data.ptr for row in rows] or 0
        self._work["record"] = self._arrays["parent"].data.ptr if self._recording else 0

    def _has_room_to_record(self, names: tuple[str, str]) -> bool:
        """Get room for tails; claiming afterwards takes no more than there is."""
        if names[0] in self._arrays:
            return True
        shape = self._arrays["near"].shape
        if self.room() < 16 * shape[1] + SPARE_BYTES:
            return False
        try:
            with self._stream:
                self._arrays |= {name: cp.empty(shape, np.uint32) for name in names}
        except cp.cuda.memory.OutOfMemoryError:
            return False
        return True

    def _run(self, name: str, threads: int, *arguments: Any) -> None:
        """Launch an ordinary kernel with about one thread for each item."""
        blocks = max((threads + BLOCK - 1) // BLOCK, 1)
        self._kernels[name]((blocks,), (BLOCK,), arguments)

    def _read_control(self) -> Any:
        self._control.get(out=self._seen, blocking=False)
        self._stream.synchronize()
        return self._seen.view(self._control_type)[0]

    def _columns(self, message: Buffer, count: int, *types: np.dtype[Any]) -> list[Any]:
        """A message's columns on the device; all have the alignment of their type."""
        device, columns, start = cp.asarray(message), [], 0
        for dtype in types:
            stop = start + count * dtype.itemsize
            columns.append(device[start:stop].view(dtype))
            start = stop
        return columns

    def _fill_outboxes(self, *, with_parents: bool) -> None:
        halo = len(self._share.halo)
        if halo == 0:
            return
        self._arrays["box_count"].fill(0)
        state = (self._share_at, self._work, self._control)
        threads = min(halo, 8 * BLOCK * self._processors)
        self._run("fill_outboxes", threads, *state, np.uint32(with_parents))
        self._dirty_count.fill(0)
        self._arrays["box_count"].get(out=self._box_counts, blocking=False)

    def _emptied(self, *, with_parents: bool) -> list[tuple[int, Buffer]]:
        """The outboxes that the last slice filled, as messages."""
        names = ["box_parent"] * with_parents + ["box_distance", "box_vertex"]
        boxes = [self._arrays[name] for name in names]
        width = sum(box.itemsize for box in boxes)
        messages: list[tuple[int, Buffer]] = []
        with self._stream:
            for peer in np.flatnonzero(self._box_counts):
                count, first = int(self._box_counts[peer]), int(self._share.halo_starts[peer])
                message, start = self._room(count * width), 0
                for box in boxes:
                    stop, column = start + count * box.itemsize, box[first : first + count]
                    runtime.memcpyAsync(
                        _address(message) + start,
                        column.data.ptr,
                        column.nbytes,
                        runtime.memcpyDefault,
                        self._stream.ptr,
                    )
                    start = stop
                messages.append((int(peer), message))
            if messages:
                self._stream.synchronize()
        self._box_counts[:] = 0
        return messages

    def _room(self, size: int) -> Any:
        """Room for a message where MPI takes it: on the device, or page-locked on the host."""
        if not self._direct:
            return cupyx.empty_pinned(size, np.uint8)
        with self._stream:
            room = cp.empty(size, np.uint8)
        self._stream.synchronize()  # whoever had this memory before is done with it
        return room

    def _download(self, name: str) -> NDArray[Any]:
        with self._stream:
            return to_host(self._arrays[name][: self._share.own_count])


def _shortened(entries: int, own: int) -> str:
    """What to say of worklists that could not have their full length."""
    if entries == capacity(own):
        return ""
    return f", short of memory: worklists of {entries:,} entries in place of {capacity(own):,}"


def _address(message: Any) -> int:
    """Of a message in host or device memory."""
    return int(message.ctypes.data if isinstance(message, np.ndarray) else message.data.ptr)
