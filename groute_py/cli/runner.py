"""Run a command on one graph: connect, check, open, answer, write, and show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

import click

from groute_py.cli import records, show
from groute_py.cli.amounts import size_of
from groute_py.cli.options import Where
from groute_py.cli.outputs import AnswerFile, check_outputs_apart, stored
from groute_py.cli.places import NamedVertices, OptionVertices
from groute_py.cli.ranks import connected
from groute_py.errors import GrouteError, InputError, everywhere
from groute_py.system.environment import local_rank, place

if TYPE_CHECKING:
    from groute_py.comm.base import Channel
    from groute_py.graph.direction import Direction
    from groute_py.io.tables.columns import Columns
    from groute_py.many.opened import Job, Opened
    from groute_py.many.storage.store import Store

T = TypeVar("T")

TABLES = ("matrix", "nearest", "isochrone", "route")
"""The functions whose commands print their table if no output is named."""


class Runner:
    """A command, from its options to its answer.

    It takes the options of a ``function``; a command takes its own out of ``arguments`` before.
    ``named`` has what options of vertices name, by their flags, and ``files`` others that are read,
    by the names of their options.
    """

    channel: Channel
    opened: Opened  # once the graph is read

    def __init__(
        self,
        function: str,
        graph: str,
        arguments: dict[str, Any],
        named: Mapping[str, str | None] | None = None,
        **files: str | None,
    ) -> None:
        records.begin("import")
        from groute_py.engine.options import Options

        self.graph, self.function = graph, function
        self._named = {flag: text for flag, text in (named or {}).items() if text is not None}
        how = {"shows": function in TABLES, "drafts": "form" in arguments}
        output, form = arguments.pop("output", None), arguments.pop("form", None)
        self._answer_file = AnswerFile(output, form, **how)
        self.output, self.file = self._answer_file.name, self._answer_file.file
        # all files that are written, by their flags
        self.outputs = {"--output": self.output, "--trace": arguments.pop("trace", None)}
        self.resumes: bool = arguments.pop("resume", False)
        self.as_json: bool = arguments.pop("as_json")
        self._verbose: bool = arguments.pop("verbose", False)
        self._columns: Columns = arguments.pop("columns")
        self._cache = arguments.pop("cache")
        self.where: Where = arguments.pop("where", Where())
        self.ends = NamedVertices(graph, self.where)
        weights = self._columns.arc_weights
        self._files = files | {"turns": arguments.get("turns"), "arc-weights": weights}
        self._new: dict[str, int] = {}
        try:
            limit = size_of(arguments.pop("memory_limit", None))
        except InputError as problem:
            raise everywhere(problem) from None
        self.options = Options(**arguments, memory_limit=limit)

    def on_root(self, action: Callable[[], T]) -> T:
        """Run something on rank 0; its result, or its error, is every rank's. Collective."""
        from groute_py.comm.agree import on_root

        return on_root(self.channel, action)

    def vertices(self, flag: str, role: str) -> OptionVertices:
        """Return the finder of the vertices that an option names, once the graph is there."""
        return OptionVertices(self.ends, flag, self._named.get(flag, "all"), role)

    def refuse_resume(self, why: str) -> None:
        """Raise `InputError` for ``--resume`` where nothing is kept."""
        if self.resumes:
            raise InputError(f"--resume: {why}, so nothing is kept; leave it out to solve anew")

    @property
    def keeps(self) -> bool:
        """Return whether there is a file, beside which unfinished work can be kept."""
        return self.output is not None and not self._answer_file.is_piped

    def connect(
        self,
        check: Callable[[], object],
        job: Job[Any] | None = None,
        *,
        keeps: bool = False,
        draws: bool = False,
        begins_device: bool = False,
    ) -> None:
        """Connect the ranks, and refuse what is wrong before the graph is read. Collective.

        A command that ``keeps`` parts of its answer can go on with --resume, and one that ``draws``
        has a use for places without points. A GPU may begin while MPI starts.
        """
        from groute_py.many.storage.folder import check_folder

        def checked() -> None:
            inputs = self.ends.inputs(self._named, **self._files)
            check_outputs_apart(inputs, self.outputs)
            self.options.check(self.function)
            if self._columns.arc_weights is not None and self.options.hops:
                raise InputError("--arc-weights have no use where arcs are counted; drop them")
            self._answer_file.check(check)
            if self.resumes and not self.keeps:
                raise InputError("--resume goes on with an --output; name it")
            if job is not None:
                job.check(self.options)
            if keeps and self.keeps:
                check_folder(self.file)
            if self.where.snap == "arc" and self.options.turns is not None:
                raise InputError("--snap arc cuts arcs, which turns are of; drop it, or --turns")
            if self.where.snap == "arc":
                self.options.refuse_objective("--snap arc")
            self.ends.check(self._named, self._files.get("pairs"), draws=draws)

        if begins_device and self._can_be_read(checked):
            self._begin_device()
        self.channel = connected(self.options.time_limit_s)
        self.on_root(checked)
        records.begin_trace(self.channel, self.outputs["--trace"])

    def read(self, direction: Direction | None = None, *, whole: bool = True) -> None:
        """Find the graph, with a progress bar where rank 0 reads it. Collective."""
        from groute_py.graph.direction import Direction
        from groute_py.many.opened import Opened, source_of

        records.begin("read")
        with show.progress(f"reading {self.graph}") as progress:
            how: dict[str, Any] = {"cache": self._cache, "progress": progress}
            if self.ends.cuts_arcs:
                how["change"] = self.ends.add_points
            source = source_of(self.graph, self.options, self._columns, **how)
            self.opened = Opened(source, self.channel, self.options)
            self.opened.first_supply(direction or Direction.FORWARD, whole=whole)
        records.begin("solve")

    def begin(self, job: Job[Any], check: Callable[[], object], **how: bool) -> None:
        """Connect the ranks for a job on the whole graph, and read it; as `connect`."""

        def checked() -> None:
            records.check_trace(self.outputs["--trace"])
            check()

        self.connect(checked, job, **how)
        self.read()
        click.get_current_context().with_resource(self.opened)

    def _can_be_read(self, check: Callable[[], None]) -> bool:
        """Return whether this rank finds nothing wrong before the graph is read.

        An error is then that of rank 0, once the ranks are connected; it need not wait for a GPU.
        """
        from groute_py.graph.generate import is_spec
        from groute_py.io.datasets import is_name
        from groute_py.system.paths import is_there

        try:
            check()
        except GrouteError as error:
            if error.by_signal:
                raise
            return False
        return is_spec(self.graph) or is_name(self.graph) or is_there(self.graph)

    def _begin_device(self) -> None:
        from groute_py.device.registry import begin
        from groute_py.engine.algorithms.methods import devices_of

        local = local_rank(place().rank)
        begin(self.options.device, local, devices_of(self.options.algorithm))

    def answer(
        self, job: Job[Any], write: Callable[[Any], object], unit: str = "", title: str = ""
    ) -> Any:
        """Answer a job, write the answer on rank 0, and return it there. Collective.

        The ``unit`` is that of parts that are kept for --resume, such as ``sources``; "" for none.
        """
        from groute_py.many.opened import Work

        with self.stored(unit) as keep:
            with show.row_progress(title) if unit else nullcontext() as progress:
                answer = self.opened.answer(job, Work(progress, keep))
            records.begin("write")
            self.on_root(lambda: write(answer))
            self._new = {} if keep is None else {"solved_now": len(keep.missing)}
        return answer

    @contextmanager
    def stored(self, unit: str, choices: Mapping[str, Any] | None = None) -> Iterator[Store | None]:
        """Store complete units of the answer in the block, if there are any; as `stored`."""
        if not unit or not self.keeps:
            yield None
            return
        how: dict[str, Any] = {"resume": self.resumes, "choices": choices}
        with stored(self.channel, self.file, unit, **how) as store:
            yield store

    def plan(self, job: Job[T]) -> T:
        """Answer a job that gives something to every rank. Collective."""
        records.begin("plan")
        answer = self.opened.answer(job)
        assert answer is not None
        return answer

    def show(
        self, rows: Callable[[], dict[str, Any]], shown: Callable[..., None] = show.timed_answer
    ) -> None:
        """Print the rows that rank 0 makes of the answer, as `timed_answer` does. Collective."""
        records.write_trace(self.channel, self.outputs["--trace"])
        seconds = records.seconds_of(self.channel)
        if self.channel.rank == 0:
            answer = rows() | self._new | self.ends.rows(as_json=self.as_json)
            self._answer_file.deliver()
            shown(answer, seconds, as_json=self.as_json, verbose=self._verbose)
