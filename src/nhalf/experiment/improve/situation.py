"""What is known of the command that shall become faster: its launch, trace, hosts and bounds.

Calls that a change affects can take no time at all at best. Every rank still does everything else
except wait, so no rank r ends before T - m(r), where m(r) is its time in MPI; and what is saved on
the critical path is saved in affected calls. With affected messages these are a(r) on rank r. Of a
blocking collective operation k, which ranks i enter at e(i) and leave at l(i), rank i can leave no
earlier than when it and those arrived that it needs, which is n(i): so nobody after it is earlier
by more than d(k) = max_i l(i) - n(i), and a path through several operations by more than the sum of
theirs. The share saved is at most

    min(min_r m(r), sum_r a(r) + sum_k d(k)) / T

For a change that affects the start of the ranks as well, what the launch takes before and after
the program is added to both. All of this is without what other programs took of the ranks'
processors, where a timeline says so.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from nhalf.base.errors import MissingError, NhalfError
from nhalf.base.launch.survivor import Survivor
from nhalf.decide.program.undisturbed_program import undisturbed_program
from nhalf.experiment.improve.change import Candidate, LaunchChange
from nhalf.facts.program.calls import time_by_rank
from nhalf.facts.program.operations import is_non_blocking, operation
from nhalf.facts.program.overlap import after_arrival
from nhalf.facts.program.program import Program, is_counted
from nhalf.measure.launches.timed import run_timed
from nhalf.measure.traced.start import library_of_trial, tracing_libraries
from nhalf.measure.traced.tables import is_trace
from nhalf.mpi import Library
from nhalf.mpi.launch_settings import LaunchCommand, parse_launch
from nhalf.mpi.launch_words import TRIAL
from nhalf.mpi.surroundings import libraries_of_launcher
from nhalf.mpi.switch import Affected
from nhalf.mpi.vendors import libraries_in, vendor_of
from nhalf.sites.hosts import allocation

MESSAGE_KINDS = ("sent", "received", "one-sided")


def upper_share(program: Program | None, *affected: Affected) -> float:
    """The largest share of the launch's time that a change can save; 1 if that is unknown.

    Where it affects calls of several kinds, those of two of them count twice.
    """
    if program is None or not program.is_timed or any(calls.computing for calls in affected):
        return 1.0
    program = undisturbed_program(program)
    whole_s = program.trace.end_s - program.trace.start_s
    in_mpi = time_by_rank(program)["time_s"]
    if whole_s <= 0 or not is_counted(program) or in_mpi.is_empty():
        return 1.0
    is_all = any(calls.everything for calls in affected)
    within_s = float(sum(in_mpi)) if is_all else sum(affected_s(program, c) for c in affected)
    start_s = max(0.0, whole_s - program.elapsed_s) if is_all else 0.0
    saved_s = min(float(min(in_mpi)), within_s) + start_s
    return min(1.0, max(0.0, saved_s / whole_s))


def affected_s(program: Program, affected: Affected) -> float:
    """What a change can save in affected calls of all ranks, seconds.

    Waits belong to any message or operation that was begun before, so all of them count where one
    is affected.
    """
    blocking, begun = _collectives(program, affected)
    sizes = pl.col("size_bytes").is_between(affected.from_bytes, affected.to_bytes)
    is_waited_for = begun
    if affected.messages:
        is_waited_for |= pl.col("kind").is_in(MESSAGE_KINDS)
    chosen = program.calls.filter(sizes & is_waited_for)
    waits = program.calls.filter(pl.col("kind") == "waiting")["time_s"].sum()
    saved_s = float(chosen["time_s"].sum()) + (float(waits) if len(chosen) else 0.0)
    operations = after_arrival(program)
    if operations is None:
        return saved_s + float(program.calls.filter(sizes & blocking)["time_s"].sum())
    keys = ["communicator", "number", "call"]
    rows = operations.filter(blocking).with_columns(is_sized=sizes)
    longest = rows.group_by(keys).agg(pl.col("own_s").max(), pl.col("is_sized").any())
    return saved_s + float(longest.filter("is_sized")["own_s"].sum())


def _collectives(program: Program, affected: Affected) -> tuple[pl.Expr, pl.Expr]:
    """Which calls are affected collective operations: those that block, and those that begin one.

    Calls on communicators that were not traced may be on any number of ranks.
    """
    is_collective = pl.col("kind") == "collective"
    names = program.calls.filter(is_collective)["call"].unique().to_list()
    names = [name for name in names if operation(name) in affected.operations]
    members = program.communicators.group_by("communicator").agg(ranks=pl.len())
    apart = members.filter(pl.col("ranks") != affected.ranks)["communicator"].to_list()
    on_ranks = ~pl.col("communicator").is_in(apart) if affected.ranks else pl.lit(value=True)
    blocking = [name for name in names if not is_non_blocking(name)]
    begun = [name for name in names if is_non_blocking(name)]
    return (
        pl.col("call").is_in(blocking) & on_ranks,
        is_collective & pl.col("call").is_in(begun) & on_ranks,
    )


HOST_OPTIONS = ("hosts", "host", "H", "f", "hostfile", "machinefile", "w", "nodelist", "N", "nodes")
"""Options by which launchers are told hosts, or their number."""


def may_span_hosts(launch: LaunchCommand) -> bool:
    """Whether a launch names hosts, or is made within a job that has several."""
    words = [word.lstrip("-").partition("=")[0] for word in launch.options if word.startswith("-")]
    if launch.launcher and set(words) & set(HOST_OPTIONS):
        return True
    try:
        allocated = allocation(launch.environment)
    except NhalfError:
        return False
    return allocated is not None and len(allocated.hosts) > 1


@dataclass(frozen=True)
class Situation:
    """A launch; the library it starts, None if unknown; its trace, None if it has none.

    `timed_share` is the share of the traced launch that counts: less than 1 where the program
    prints its own time.
    """

    launch: LaunchCommand
    library: Library | None
    installed: Sequence[Library] = ()
    program: Program | None = None
    cores: int = 1
    timed_share: float = 1.0

    @property
    def ranks(self) -> int:
        """The number of ranks, 0 if unknown."""
        return self.program.ranks if self.program is not None else 0

    @property
    def is_virtual(self) -> bool:
        """Whether it runs on a simulated machine."""
        return self.launch.family == TRIAL

    @property
    def is_on_one_host(self) -> bool:
        """Whether all ranks are on one host; without a trace, whether nothing says otherwise."""
        if self.program is None:
            return not may_span_hosts(self.launch)
        return len(set(self.program.hosts)) == 1

    def candidate(
        self,
        name: str,
        text: str,
        undo: str,
        change: LaunchChange,
        affected: Affected | Sequence[Affected],
        promise_share: float,
        aim_share: float = 1.0,
    ) -> Candidate:
        """A candidate with its bounds, for calls of one kind or of several.

        `promise_share` is the share that it may well save of its bound, or of `aim_share` of the
        time if what it is made for takes less: it orders candidates, and decides nothing.
        """
        kinds = [affected] if isinstance(affected, Affected) else affected
        upper = min(1.0, upper_share(self.program, *kinds) / self.timed_share)
        return Candidate(name, text, undo, change, upper, min(upper, aim_share) * promise_share)


def situation_of(
    command: Sequence[str], installed: Sequence[Library], environment: dict[str, str], cores: int
) -> Situation:
    """What the words of a command say. Raises InputError if there are none."""
    launch = parse_launch(command, environment)
    if launch.family == TRIAL:
        tried = library_of_trial([*launch.launcher, *launch.options])
        return Situation(launch, tried[0] if tried else None, installed, cores=cores)
    libraries = libraries_of_launcher(launch.launcher[0], installed) if launch.launcher else []
    if libraries and not launch.family:
        launch = parse_launch(command, environment, libraries[0].launcher)
    return Situation(launch, libraries[0] if libraries else None, installed, cores=cores)


def with_trace(situation: Situation, program: Program, printed_s: float | None) -> Situation:
    """The situation with what a trace says of the program, and of its library.

    The latter counts where the launcher does not tell, as srun, and only one library is meant.
    All that is saved may be saved of the time that the program prints, `printed_s`, if it counts.
    """
    library = situation.library
    if library is None and not situation.is_virtual:
        by_name = {candidate.name: candidate for candidate in situation.installed}
        names = libraries_in(program.library, by_name)
        library = by_name[names[0]] if len(names) == 1 else None
    whole_s = program.trace.end_s - program.trace.start_s
    timed_share = 1.0
    if printed_s is not None and 0 < printed_s < whole_s:
        timed_share = printed_s / whole_s
    return replace(situation, program=program, library=library, timed_share=timed_share)


def own_file_remarks(situation: Situation) -> Iterator[str]:
    """A line for each file: what becomes of it where another algorithm is chosen."""
    library, program = situation.library, situation.program
    tuner = vendor_of(library).tuner(library) if library and program else None
    for file in tuner.own_files(situation.launch.variables) if tuner else []:
        if file.problem:
            yield (
                f"Nothing can be added to {file.path}: {file.problem}. An algorithm that is chosen "
                "for an operation takes its place."
            )
        else:
            yield f"{file.path} stays in force; algorithms are chosen by rules before its own."


CALLS_MAX = "NHALF_TRACE_CALLS_MAX"
"""The tracer's limit on the calls of a thread in a timeline."""
TIMELINE_CALLS = 100_000
"""More calls of a thread are only counted: a timeline of many hours would fill the disk."""
NOT_TRACED = "The program is not traced, so nothing bounds what a candidate can save"
NO_CALL = "no call of MPI was traced"


def traced_or_given(
    program: Program | None,
    situation: Situation,
    folder: Path,
    limit_s: float,
    printed_s: float | None,
) -> tuple[Situation, str]:
    """The situation with the program that is given, or else with a trace of it; and a remark if
    there is none.

    `printed_s` is the time that the program printed, None if the whole launch counts.
    """
    if program is not None:
        return with_trace(situation, program, printed_s), ""
    launch, trace = situation.launch, folder / "trace"
    with suppress(NhalfError):
        # What has to be compiled once is compiled before the limit begins.
        tracing_libraries(launch.words)
    options = ("--quiet", "--detail", "timeline", "--out", str(trace))
    words = ("-m", "nhalf", "trace", *options, "--", *launch.words)
    environment = {**launch.environment, CALLS_MAX: str(TIMELINE_CALLS)}
    launched = run_timed(
        LaunchCommand(environment, (), (), (), (), sys.executable, words),
        folder / "tracing",
        limit_s,
    )
    if launched.problem or not is_trace(trace):
        return situation, _because(launched.problem or NO_CALL)
    try:
        program = Program.open(trace)
    except NhalfError as error:
        return situation, _because(str(error))
    if program.calls.is_empty():
        return situation, _because(NO_CALL)
    return with_trace(situation, program, printed_s), ""


def _because(reason: str) -> str:
    return f"{NOT_TRACED}: {reason.removesuffix('.')}{'' if reason.endswith('?') else '.'}"


def parent_folder(launch: LaunchCommand) -> Path | None:
    """The folder for that of a search: the present one if there may be several hosts.

    A cluster's hosts usually share the former, and never that for temporary files. None for the
    latter.
    """
    return Path.cwd() if may_span_hosts(launch) else None


@contextmanager
def search_folder(launch: LaunchCommand) -> Iterator[str]:
    """The folder of a search, which is removed at its end.

    Raises MissingError if it cannot be made.
    """
    parent = parent_folder(launch)
    try:
        folder = tempfile.TemporaryDirectory(prefix="nhalf-improve-", dir=parent)
    except OSError as error:
        where = parent or tempfile.gettempdir()
        remedy = "start it in a folder that can be written, which all hosts share"
        raise MissingError(
            f"cannot write in {where}: {error.strerror or error}",
            remedy if parent else "name a folder for temporary files with TMPDIR",
        ) from error
    with Survivor.own().holding(folder) as name:
        yield name
