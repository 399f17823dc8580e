"""Run a program on the virtual network, and watch it: the kernel tells which rank ends first.

Virtual time shows who waits in MPI for ever. Waits outside it have a limit of real time only: a
rank that looks for a file again and again moves its virtual clock, by sleep or by reading it, so
what counts are messages and how far each rank has come.
"""

import selectors
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from nhalf.base.errors import InputError, ProgramError
from nhalf.base.launch.launch import Launch
from nhalf.base.launch.process_table import is_running
from nhalf.base.processes import has_no_reader
from nhalf.base.units import format_duration
from nhalf.machines.message import Messages
from nhalf.machines.wires import NO_NOISE, Noise, description
from nhalf.measure.probe.rank_watch import RankWatch
from nhalf.measure.traced.layout import REGION, VARIABLE, TracedMachine
from nhalf.measure.virtual.region import Presence, RankRecord, Region, VirtualProgress
from nhalf.measure.virtual.start import error_of, start_virtually, surroundings
from nhalf.mpi import Library

STANDSTILL_LOOK_S = 1.0


class Standstill:
    """The time since which no rank has gone on; `reason` names who holds up the others."""

    def __init__(
        self, region: Region, ranks: int, timeout_s: float, progress: VirtualProgress | None = None
    ) -> None:
        """Begin to look; `progress` says how far the ranks are."""
        self._region = region
        self._ranks = ranks
        self._timeout_s = timeout_s
        self._progress = progress
        self._members: list[RankRecord] = []
        self._since_s = self._looked_s = time.monotonic()
        self.is_over = False
        """Whether the limit is exceeded."""

    @property
    def reason(self) -> str:
        """Why to give up; '' while the limit is not exceeded."""
        now_s = time.monotonic()
        if now_s - self._looked_s < min(STANDSTILL_LOOK_S, self._timeout_s):
            return ""
        self._looked_s = now_s
        members = self._region.members(self._ranks)
        if self._progress:
            self._progress.look(members)
        if _progress(members) != _progress(self._members):
            self._since_s = now_s
        self._members = members
        if now_s - self._since_s < self._timeout_s:
            return ""
        self.is_over = True
        return f"no rank went on for {format_duration(self._timeout_s)}: {self._holder()}"

    def _holder(self) -> str:
        """Who holds up the others."""
        absent = [
            rank for rank, member in enumerate(self._members) if member.presence == Presence.ABSENT
        ]
        if absent:
            number_more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
            return f"rank {absent[0]}{number_more} did not get to its first message"
        if all(member.presence >= Presence.FINISHED for member in self._members):
            for rank, member in enumerate(self._members):
                if is_running(member.process):
                    return (
                        f"rank {rank} (process {member.process}) works on after MPI_Finalize "
                        "(then raise --timeout) or waits for something"
                    )
            return "all ranks ended, their launcher did not"
        owner = self._region.owner
        process = self._members[owner].process
        return (
            f"rank {owner} (process {process}) computes (then raise --timeout) or waits outside MPI"
        )


def _progress(members: Sequence[RankRecord]) -> list[tuple[Presence, int]]:
    """What changes while ranks go on."""
    return [(member.presence, member.messages) for member in members]


STDOUT = 1
LOOK_S = 0.05
ENDS_ALONE_S = 1.0
"""How long a launcher may take to end after its ranks have stopped."""
KILLED_S = 5.0
"""How long it may take to say that a rank was killed."""
TIMEOUT_S = 300.0
"""How long all ranks may compute between their calls of MPI."""


@dataclass(frozen=True)
class VirtualLaunch:
    """What to run: a program on a library, with ranks on nodes of a machine."""

    messages: Messages
    library: Library
    command: Sequence[str]
    nodes: Sequence[int]
    computing_factor: float = 0.0
    timeout_s: float = TIMEOUT_S
    noise: Noise = NO_NOISE

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return len(self.nodes)


@dataclass(frozen=True)
class Tried:
    """What came of it: virtual and real time, messages between ranks, the program's exit code.

    It `has_begun` once a rank is through MPI_Init.
    """

    virtual_s: float
    real_s: float
    messages: int
    bytes: int
    exit_code: int
    has_begun: bool


def run(
    trial: VirtualLaunch,
    installed: Sequence[Library],
    settings: Mapping[str, str] | None = None,
    progress: VirtualProgress | None = None,
) -> Tried:
    """Run a program in virtual time, its output as it comes.

    `settings` are variables that come last, `progress` says meanwhile how far it is. Raises
    InputError for more ranks than the launcher starts and for a program that traces, MissingError
    for a library that cannot use the network, FailedError for a program that waits for ever, a rank
    that dies, and messages that bypassed the network.
    """
    begin = start_virtually(trial.library, trial.command, trial.ranks, installed, settings)
    began_s = time.monotonic()
    machine = description(trial.messages, trial.nodes, trial.computing_factor, trial.noise)
    with Region(machine) as region:
        own = {**surroundings(), REGION: str(region.path), **_about(trial)}
        environment = {**own, **begin.environment}
        standstill = Standstill(region, trial.ranks, trial.timeout_s, progress)
        code, died = _watched(begin.command, environment, region, standstill, trial.ranks)
        stopped, members = region.stopped, region.members(trial.ranks)
    if stopped is not None:
        if stopped.kind == "deadlock" and (gone := _gone(members)):
            raise ProgramError(gone, _exit_code(members, code))
        raise error_of(stopped, trial.library)
    if (died or code != 0) and has_no_reader(STDOUT):
        raise BrokenPipeError
    # A launcher may have ended the others, and itself, before the first one was looked at.
    if died := died or _gone(members):
        raise ProgramError(died, _exit_code(members, code))
    has_begun = any(member.presence for member in members)
    if code == 0 and not has_begun:
        raise InputError(
            f"{trial.command[0]} ended without MPI_Init", "give a program that is built with MPI"
        )
    return Tried(
        virtual_s=max(member.now_ps for member in members) / 1e12,
        real_s=time.monotonic() - began_s,
        messages=sum(member.messages for member in members),
        bytes=sum(member.bytes for member in members),
        exit_code=code,
        has_begun=has_begun,
    )


def _about(trial: VirtualLaunch) -> dict[str, str]:
    """What ranks that are traced say of their machine."""
    machine = TracedMachine(trial.messages.machine.name, tuple(trial.nodes), trial.computing_factor)
    return {VARIABLE: msgspec.json.encode(machine).decode()}


def _watched(
    command: Sequence[str],
    environment: Mapping[str, str],
    region: Region,
    standstill: Standstill,
    ranks: int,
) -> tuple[int, str]:
    """Run a command until it ends or its ranks cannot go on.

    Returns the launcher's exit code, 1 if it was ended by a signal, and which rank died or
    holds up the others; '' if none.
    """
    with selectors.DefaultSelector() as selector:
        watch = RankWatch(selector)
        try:
            with Launch(command, environment, mark=watch.mark, is_polite=False) as launch:
                launch.is_whole = False
                launch.report_end(selector)
                try:
                    died = _wait(launch, selector, watch, region, standstill, ranks)
                    is_by_rank = bool(died) and not standstill.is_over
                    code = launch.wait(_patience_s(died, is_by_rank, region.members(ranks)))
                    # One that is killed closes what its ranks hang on before it has ended.
                    died = launch.killed_by or died
                    is_begun = any(member.presence for member in region.members(ranks))
                    launch.is_whole = not died and not region.stopped and is_begun
                finally:
                    # The launcher may say nothing any more, so it is killed before its ranks.
                    if launch.wait(0.0) is None:
                        launch.send_signal(signal.SIGKILL)
                    region.kill_ranks(ranks)
        finally:
            watch.close()
    return (code if code is not None and code >= 0 else 1), died


def _patience_s(died: str, is_by_rank: bool, members: Sequence[RankRecord]) -> float:
    """How long a launcher may take to end: ranks that stopped end by themselves, and it passes on
    the end of one that was killed; one that exits too early ends nobody.
    """
    if not died:
        return ENDS_ALONE_S
    return KILLED_S if is_by_rank and not any(map(_is_early, members)) else 0.0


def _is_early(member: RankRecord) -> bool:
    """Whether a rank exited without MPI_Finalize, for which others may wait."""
    is_active = member.presence == Presence.ACTIVE
    return member.presence == Presence.GONE or (is_active and member.is_exiting)


def _exit_code(members: Sequence[RankRecord], launcher_code: int) -> int:
    """The exit code of a program of which a rank ended too early: that rank's if it exited."""
    codes = [member.exit_code for member in members if _is_early(member)]
    return (max(codes) if codes else launcher_code) or 1


def _wait(
    launch: Launch,
    selector: selectors.BaseSelector,
    watch: RankWatch,
    region: Region,
    standstill: Standstill,
    ranks: int,
) -> str:
    """Wait until a process ends, or its ranks cannot go on; returns which rank is to blame."""
    died, has_ended = "", False
    while not has_ended and region.stopped is None and not died:
        # A launcher may end together with the rank that died: there is a look after its end.
        has_ended = launch.wait(0.0) is not None
        watch.note([key.fd for key, _ in selector.select(0 if has_ended else LOOK_S)])
        if watch.first_process:
            died = _died(region.members(ranks), watch.first_process)
            watch.first_process = 0
        died = died or ("" if has_ended else standstill.reason)
    # Ranks end with a launcher that was killed.
    return launch.killed_by or died


def _died(members: Sequence[RankRecord], process: int) -> str:
    """Which rank ended without MPI_Finalize, if this process is one.

    Launchers end the others when a rank exits too early, which is to blame then.
    """
    for rank, member in enumerate(members):
        if member.process == process and member.presence == Presence.ACTIVE:
            return _gone(members) or _too_early(rank, member)
    return ""


def _gone(members: Sequence[RankRecord]) -> str:
    """Which rank exited without MPI_Finalize, for which others may wait; '' if none did."""
    for rank, member in enumerate(members):
        if _is_early(member):
            return _too_early(rank, member)
    return ""


def _too_early(rank: int, member: RankRecord) -> str:
    return f"rank {rank} (process {member.process}) ended without MPI_Finalize"
