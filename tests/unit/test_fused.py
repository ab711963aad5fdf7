"""The watch over a device-resident run, with a device that only pretends."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest
from support.local_ranks import on_ranks

from groute_py import RunError, TimeLimitError
from groute_py.engine import fused
from groute_py.engine.loop import Pace


class Pretender:
    """Finishes after some looks, or when it is stopped; ``failing`` raises at the third look."""

    floor = math.inf
    all_quiet = True

    def __init__(self, looks: float, *, failing: bool = False, overflowed: bool = False) -> None:
        self.looks, self.failing = looks, failing
        self.overflowed = overflowed
        self.log: list[Any] = []

    def bucket_width(self) -> float:
        return 2.5

    def prepare(self, lead: float, bound: float) -> None:
        self.log.append(("prepare", lead, bound))

    def launch(self) -> None:
        self.log.append("launch")

    def finished(self) -> bool:
        self.looks -= 1
        if self.failing and "stop" not in self.log and self.looks < 7:
            raise KeyboardInterrupt
        return self.looks <= 0

    def stop(self) -> None:
        self.log.append("stop")
        self.looks = 1


def test_runs_to_the_end() -> None:
    def work(channel: Any) -> list[Any]:
        linked = Pretender(5)
        fused.run(linked, channel, Pace(lead=4.0))
        return linked.log

    assert on_ranks(3, work) == [[("prepare", 10.0, math.inf), "launch"]] * 3


@pytest.mark.parametrize("fits", [True, False])
def test_whether_all_fits_is_what_kernels_have_agreed_on(fits: bool) -> None:
    def work(channel: Any) -> bool:
        return fused.run(Pretender(2, overflowed=not fits), channel, Pace())

    assert on_ranks(3, work) == [not fits] * 3


def test_kernels_that_ended_for_no_reason_are_every_rank_s_error() -> None:
    def work(channel: Any) -> None:
        linked = Pretender(2)
        linked.all_quiet = False
        with pytest.raises(RunError, match="before all ranks were done") as caught:
            fused.run(linked, channel, Pace())
        assert caught.value.on_all_ranks

    on_ranks(2, work)


def test_an_infinite_width_gives_an_infinite_lead() -> None:
    linked = Pretender(1)
    linked.bucket_width = lambda: math.inf  # type: ignore[method-assign]
    on_ranks(1, lambda channel: fused.run(linked, channel, Pace(lead=4.0)))
    assert linked.log[0] == ("prepare", math.inf, math.inf)


def test_the_deadline_of_one_rank_stops_it_and_is_every_rank_s_error() -> None:
    stopped = {}

    def work(channel: Any) -> None:
        late = channel.rank == 1
        linked = Pretender(math.inf if late else 5)
        linked.all_quiet = False
        deadline = time.monotonic() if late else math.inf
        try:
            fused.run(linked, channel, Pace(deadline=deadline))
        except TimeLimitError as error:
            stopped[channel.rank] = ("stop" in linked.log, error.on_all_ranks)

    on_ranks(2, work)
    assert stopped == {0: (False, True), 1: (True, True)}


def test_a_deadline_that_passes_when_all_are_quiet_takes_no_answer_away() -> None:
    def work(channel: Any) -> bool:
        late = channel.rank == 1
        deadline = time.monotonic() if late else math.inf
        return fused.run(Pretender(5), channel, Pace(deadline=deadline))

    assert on_ranks(2, work) == [False, False]


def test_a_kernel_that_fails_is_told_by_its_own_error() -> None:
    """Not by that of the stop, which cannot reach it any more."""

    class Failed(Pretender):
        def finished(self) -> bool:
            raise RuntimeError("an illegal address")

        def stop(self) -> None:
            raise RuntimeError("the device is gone")

    def work(channel: Any) -> None:
        with pytest.raises(RuntimeError, match="illegal address") as caught:
            fused.run(Failed(3), channel, Pace())
        assert caught.value.__context__ is None

    on_ranks(1, work)


def test_a_signal_while_kernels_are_launched_stops_those_that_run() -> None:
    class Interrupted(Pretender):
        def launch(self) -> None:
            super().launch()
            raise KeyboardInterrupt

    linked = Interrupted(10)

    def work(channel: Any) -> None:
        with pytest.raises(KeyboardInterrupt):
            fused.run(linked, channel, Pace())

    on_ranks(1, work)
    assert linked.log[-2:] == ["launch", "stop"]
    assert linked.looks <= 0


def test_a_signal_stops_the_kernel_before_it_goes_on() -> None:
    linked = Pretender(10, failing=True)

    def work(channel: Any) -> None:
        with pytest.raises(KeyboardInterrupt):
            fused.run(linked, channel, Pace())

    on_ranks(1, work)
    assert linked.log[-1] == "stop"
    assert linked.looks <= 0
