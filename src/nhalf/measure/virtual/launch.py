"""Run a program on the virtual network, and watch it: the kernel tells which rank ends first."""

from __future__ import annotations

import selectors
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from nhalf.base.errors import InputError, ProgramError
from nhalf.base.launch.launch import Launch
from nhalf.base.processes import has_no_reader
from nhalf.machines.message import Messages
from nhalf.machines.wires import NO_NOISE, Noise, description
from nhalf.measure.probe.rank_watch import RankWatch
from nhalf.measure.traced.virtual_machine import REGION, VARIABLE, TracedMachine
from nhalf.measure.virtual.progress import VirtualProgress
from nhalf.measure.virtual.region import Presence, RankRecord, Region
from nhalf.measure.virtual.standstill import Standstill
from nhalf.measure.virtual.start import error_of, start_virtually, surroundings
from nhalf.mpi import Library

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
