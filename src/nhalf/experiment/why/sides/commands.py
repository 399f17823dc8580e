"""Two commands that start a program: their differences as switches, and mixtures as commands.

Both are taken apart into variables, launcher, its options, program and arguments. Every variable
and every option that differs is one switch, wherever it was set. What only makes sense together is
one: the launchers of different libraries with their options and programs.
"""

import os
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nhalf.base.errors import InputError, NhalfError
from nhalf.base.launch.survivor import Survivor
from nhalf.decide.history.around import ABSENT
from nhalf.experiment.turns import LaunchFailed, LaunchStopped, Limits
from nhalf.experiment.why.switch import Mixture, SettableDifference, Ways
from nhalf.measure.launches.timed import PrintedTime, counted_s, printed_time, run_timed
from nhalf.measure.traced.tables import Trace, is_trace, open_trace
from nhalf.mpi import Library
from nhalf.mpi.launch_settings import (
    LaunchCommand,
    launcher_options,
    option_value,
    parse_launch,
    with_new_noise,
    with_variable,
    without_variable,
)
from nhalf.mpi.launch_words import HYDRA, OPENMPI, TRIAL, LaunchScript, read_script
from nhalf.mpi.surroundings import libraries_of_launcher

VARIABLE, OPTION, WHOLE = "variable", "option", "whole"
Key = tuple[str, str]


@dataclass(frozen=True)
class SideCommand:
    """A command with its environment and its folder."""

    launch: LaunchCommand
    folder: Path


@dataclass(frozen=True)
class _Part:
    """A switch, and which part of a command it sets."""

    switch: SettableDifference
    kind: str
    name: str

    @property
    def key(self) -> Key:
        return self.kind, self.name


@dataclass(frozen=True)
class CommandPair:
    """Two commands; mixtures of them are commands again.

    `moved` are the variables that are taken from wherever a side sets them, and set anew.
    """

    a: SideCommand
    b: SideCommand
    moved: tuple[str, ...]
    parts: tuple[_Part, ...]

    @property
    def switches(self) -> list[SettableDifference]:
        """The differences that can be switched."""
        return [part.switch for part in self.parts]

    def mixed(self, mixture: Mixture) -> SideCommand:
        """The command with these switches as in B."""
        as_in_b = {part.key for number, part in enumerate(self.parts) if number in mixture}

        def side(*key: str) -> SideCommand:
            return self.b if key in as_in_b else self.a

        launch = _without(side(WHOLE, "command").launch, self.moved)
        if _are_alike(self.a.launch, self.b.launch):
            launch = self._with_options(self._with_words(launch, as_in_b), as_in_b)
        for name in self.moved:
            value = side(VARIABLE, name).launch.variables.get(name)
            if value is not None:
                launch = with_variable(launch, name, value)
        return SideCommand(launch, side(WHOLE, "folder").folder)

    def _with_options(self, launch: LaunchCommand, as_in_b: set[Key]) -> LaunchCommand:
        """The launch with the options of the chosen sides, in the order of A and then B."""
        a, b = (launcher_options(_without(side.launch, self.moved)) for side in (self.a, self.b))
        chosen: list[str] = []
        for name in dict.fromkeys([*a, *b]):
            side = b if (OPTION, name) in as_in_b else a
            chosen += side.get(name, ())
        return replace(launch, options=tuple(chosen))

    def _with_words(self, launch: LaunchCommand, as_in_b: set[Key]) -> LaunchCommand:
        """The launch with launcher, program and arguments of the chosen sides."""

        def side(name: str) -> LaunchCommand:
            return (self.b if (WHOLE, name) in as_in_b else self.a).launch

        arguments = list(side("arguments").arguments)
        for place in range(len(arguments)):
            if (WHOLE, f"argument {place + 1}") in as_in_b:
                arguments[place] = self.b.launch.arguments[place]
        before = _without(side("before"), self.moved)
        return replace(
            launch,
            before=before.before,
            launcher=side("launcher").launcher,
            inside=before.inside,
            program=side("program").program,
            arguments=tuple(arguments),
        )


def started(script: LaunchScript, installed: Sequence[Library]) -> SideCommand:
    """The command of a script, taken apart. Raises InputError for several programs in one."""
    launch = parse_launch(script.command, script.environment)
    if launch.launcher and not launch.family:
        family = _family(launch.launcher[0], installed)
        launch = parse_launch(script.command, script.environment, family)
    if launch.is_several:
        raise InputError(
            "a command that starts several programs (with ':') cannot be mixed", "start one"
        )
    return SideCommand(launch, script.folder)


def _family(launcher: str, installed: Sequence[Library]) -> str:
    """The family of an mpiexec, whose name does not tell; '' if no library has it."""
    for library in libraries_of_launcher(launcher, installed):
        return OPENMPI if library.vendor == OPENMPI else HYDRA
    return ""


def pair(a: SideCommand, b: SideCommand) -> CommandPair:
    """The differences of two commands."""
    # The variables that differ, or are set by words on one side only.
    was, became = a.launch.variables, b.launch.variables
    differing = {name for name in {*was, *became} if was.get(name) != became.get(name)}
    moved = sorted(differing | (_set_by_words(a.launch) ^ _set_by_words(b.launch)))
    plain_a, plain_b = (_without(side.launch, moved) for side in (a, b))
    parts = _variables(a.launch, b.launch)
    if _are_alike(a.launch, b.launch):
        parts += _options(plain_a, plain_b)
        parts += _words(plain_a, plain_b)
    elif plain_a.words != plain_b.words:
        parts.append(_whole("command", shlex.join(plain_a.words), shlex.join(plain_b.words)))
    if a.folder != b.folder:
        parts.append(_whole("folder", str(a.folder), str(b.folder)))
    return CommandPair(a, b, tuple(moved), tuple(parts))


def _set_by_words(launch: LaunchCommand) -> set[str]:
    return set(replace(launch, environment={}).variables)


def _without(launch: LaunchCommand, names: Sequence[str]) -> LaunchCommand:
    for name in names:
        launch = without_variable(launch, name)
    return launch


def _are_alike(a: LaunchCommand, b: LaunchCommand) -> bool:
    """Whether launchers are of one family, so that their options can be mixed."""
    return a.family == b.family and bool(a.launcher) == bool(b.launcher)


def _variables(a: LaunchCommand, b: LaunchCommand) -> list[_Part]:
    was, became = a.variables, b.variables
    return [
        _Part(
            SettableDifference(name, was.get(name, ABSENT), became.get(name, ABSENT)),
            VARIABLE,
            name,
        )
        for name in sorted({*was, *became})
        if was.get(name) != became.get(name)
    ]


def _options(a: LaunchCommand, b: LaunchCommand) -> list[_Part]:
    was, became = launcher_options(a), launcher_options(b)
    parts = []
    for name in dict.fromkeys([*was, *became]):
        sides = [option_value(side[name]) if name in side else ABSENT for side in (was, became)]
        if sides[0] != sides[1]:
            spelled = (was.get(name) or became[name])[0].partition("=")[0]
            parts.append(_Part(SettableDifference(spelled, *sides), OPTION, name))
    return parts


def _words(a: LaunchCommand, b: LaunchCommand) -> list[_Part]:
    """Switches of launcher, program and arguments, and of what stands before the launcher."""
    sides = {
        "before": (shlex.join((*a.before, *a.inside)), shlex.join((*b.before, *b.inside))),
        "launcher": (shlex.join(a.launcher), shlex.join(b.launcher)),
        "program": (a.program, b.program),
    }
    parts = [_whole(name, was, became) for name, (was, became) in sides.items() if was != became]
    if len(a.arguments) != len(b.arguments):
        return [*parts, _whole("arguments", shlex.join(a.arguments), shlex.join(b.arguments))]
    pairs = enumerate(zip(a.arguments, b.arguments, strict=True), 1)
    return parts + [
        _whole(f"argument {place}", was, became) for place, (was, became) in pairs if was != became
    ]


def _whole(name: str, was: str, became: str) -> _Part:
    return _Part(SettableDifference(name, was or ABSENT, became or ABSENT), WHOLE, name)


FACTOR_MOST = 20.0
"""A mixture that takes this much longer than the longest launch so far is stopped."""
LEAST_S = 20.0
"""No launch is stopped before, unless `timeout_s` says so."""


@dataclass
class MixtureLauncher:
    """Launches mixtures of two commands; without a printed time the clock's counts."""

    commands: CommandPair
    printed_time: PrintedTime | None
    finished: int = field(default=0, init=False)

    def __call__(self, mixture: Mixture, limit_s: float) -> float:
        """The time of one launch, seconds; raises LaunchFailed without one."""
        with Survivor.own().holding(tempfile.TemporaryDirectory(prefix="nhalf-why-")) as folder:
            try:
                started = self.commands.mixed(mixture)
                launch = with_new_noise(in_folder(started), self.finished + 1)
                timed = run_timed(launch, Path(folder, "launch"), limit_s)
                if timed.problem:
                    raise (LaunchStopped if timed.stopped else LaunchFailed)(timed.problem)
                time_s = counted_s(timed, self.printed_time)
            except LaunchFailed:
                raise
            except NhalfError as error:
                raise LaunchFailed(str(error)) from error
        self.finished += 1
        return time_s


def limits(timeout_s: float) -> Limits:
    """When launches are ended: the first two, which are those of A and B, after a timeout."""
    return Limits(FACTOR_MOST, least_s=LEAST_S, most_s=timeout_s, first_launches=2)


def runs_virtually(commands: CommandPair) -> bool:
    """Whether both commands run in virtual time."""
    return all(side.launch.family == TRIAL for side in (commands.a, commands.b))


def takes_the_same(commands: CommandPair) -> bool:
    """Whether all launches of either side take the same virtual time.

    They do not with noise, and where computing counts.
    """
    options = [launcher_options(side.launch) for side in (commands.a, commands.b)]
    computing = [option_value(side.get("computing", ("none",))) for side in options]
    varies = any("noise" in side for side in options) or computing != ["none", "none"]
    return runs_virtually(commands) and not varies


def in_folder(started: SideCommand) -> LaunchCommand:
    """The launch in its folder."""
    if started.folder == Path.cwd():
        return started.launch
    before = ("env", "-C", str(started.folder), *started.launch.before)
    return replace(started.launch, before=before)


WALL, PRINTED, VIRTUAL = "wall clock", "printed time", "virtual time"


def command_ways(
    a: LaunchScript, b: LaunchScript, seconds: str, timeout_s: float, installed: Sequence[Library]
) -> Ways:
    """Two commands, ready for the search, timed by a pattern of their output or, with '', whole.

    Raises InputError for a pattern that is none.
    """
    commands = pair(started(a, installed), started(b, installed))
    printed = printed_time(seconds)
    timed = PRINTED if printed else VIRTUAL if runs_virtually(commands) else WALL
    launching = MixtureLauncher(commands, printed)
    is_exact = printed is None and takes_the_same(commands)
    return Ways(commands.switches, launching, timed, are_exact=is_exact, limits=limits(timeout_s))


def script_of(place: Path) -> LaunchScript:
    """The command of a script or of a trace. Raises InputError for anything else."""
    if is_trace(place):
        return LaunchScript(tuple(open_trace(place).trace.command), dict(os.environ), Path.cwd())
    return read_script(place)


def recorded_differences(a: Trace, b: Trace) -> list[SettableDifference]:
    """What two traces say of their surroundings, which no launch can switch."""
    hosts = [", ".join(sorted({rank.host for rank in trace.ranks})) for trace in (a, b)]
    sides = {"library": (a.library, b.library), "hosts": hosts}
    return [
        SettableDifference(name, was, became)
        for name, (was, became) in sides.items()
        if was != became
    ]
