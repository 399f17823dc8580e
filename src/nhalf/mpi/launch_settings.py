"""What a command that starts a launch sets: its options, ranks and variables, read and changed.

    A=1 env B=2 mpiexec -genv C 3 -n 4 env D=4 ./program input

A variable may be set in the environment, by `env` before the launcher, by the launcher's options
and by `env` before the program; what comes later wins. `with_variable` and `without_variable` give
the same launch with one variable changed, wherever it was set.
"""

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.mpi.launch_words import (
    BOTH,
    HYDRA,
    LAUNCHERS,
    OPENMPI,
    SRUN,
    TRIAL,
    LaunchWords,
    family_by_name,
    is_launcher,
)

FOR_RANKS = ("LD_PRELOAD",)
"""Variables that launchers must not have themselves: they are set by `env` before the program."""
PASSED_ON = ("OMPI_", "PMIX_", "PRTE_")
"""Beginnings of the variables that Open MPI's launcher passes to other hosts unasked."""
AROUND = ("env", "timeout", "nice", "ionice", "time", "taskset", "numactl", "stdbuf", "setsid")
"""Programs that start a launcher."""
ENV = "env"
_ENV_VALUES = {"-u": 1, "--unset": 1, "-C": 1, "--chdir": 1, "-S": 1}
_NO_VARIABLES = ("ALL", "NONE", "NIL", "")
"""What srun's `--export` may name besides variables."""
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_EXPORT = re.compile(r"--export=(.*)", re.DOTALL)


@dataclass(frozen=True)
class LaunchCommand:
    """A launch: its environment, and its words in their order.

    `family` is hydra, openmpi, srun, try (nhalf's own), or '' for an mpiexec of unknown family or
    no launcher; `before` are words before the launcher, `inside` an `env` before the program.
    Programs after a colon (`-n 1 a : -n 2 b`) are among the `arguments`, and keep what their own
    options set.
    """

    environment: Mapping[str, str]
    before: tuple[str, ...]
    launcher: tuple[str, ...]
    options: tuple[str, ...]
    inside: tuple[str, ...]
    program: str
    arguments: tuple[str, ...]
    family: str = ""

    @property
    def words(self) -> list[str]:
        """The command line."""
        program = [self.program] if self.program else []
        begin = (*self.before, *self.launcher, *self.options, *self.inside)
        return [*begin, *program, *self.arguments]

    @property
    def variables(self) -> dict[str, str]:
        """What the ranks get: the environment, changed by the words."""
        chosen = dict(self.environment)
        for words in (self.before, self.inside):
            chosen.update(_assigned(words))
            if words is self.before:
                for place in _places(self.options, self.family):
                    if place.value is not None:
                        chosen[place.variable] = place.value
        return chosen

    @property
    def is_several(self) -> bool:
        """Whether it starts several programs, separated by colons."""
        return bool(self.launcher) and self.family != TRIAL and ":" in self.arguments


@dataclass(frozen=True)
class _Place:
    """Where options set a variable: words from `begin` to `end`; no value if it is passed on."""

    begin: int
    end: int
    variable: str
    value: str | None


def parse_launch(
    command: Sequence[str], environment: Mapping[str, str] | None = None, family: str = ""
) -> LaunchCommand:
    """Take a command apart; the environment is this process's if none is given.

    `family` is that of an `mpiexec`, whose name does not tell. A command without a launcher is a
    program with arguments. Raises InputError for no command.
    """
    if not command:
        raise InputError("no command is given", "give it at the end: -- mpiexec -n 4 ./program")
    words = list(command)
    around = dict(os.environ if environment is None else environment)
    at, length = _launcher_at(words)
    if length == 0:
        return _parts(around, words, (0, 0, 0, _after_env(words, 0)), "")
    family = TRIAL if length > 1 else family_by_name(Path(words[at]).name) or family
    begin = _after_options(words, at + length, _words_of(family))
    return _parts(around, words, (at, at + length, begin, _after_env(words, begin)), family)


def with_variable(launch: LaunchCommand, name: str, value: str) -> LaunchCommand:
    """The launch with a variable set for its ranks, and nowhere set to anything else."""
    cleared = without_variable(launch, name)
    if name in FOR_RANKS and launch.launcher:
        return replace(cleared, inside=(*(cleared.inside or (ENV,)), f"{name}={value}"))
    changed = replace(cleared, environment={**cleared.environment, name: value})
    return replace(changed, options=_passing(changed, name, value))


def without_variable(launch: LaunchCommand, name: str) -> LaunchCommand:
    """The launch without a variable, wherever it was set."""
    environment = {key: text for key, text in launch.environment.items() if key != name}
    options = list(launch.options)
    for place in reversed(list(_places(launch.options, launch.family))):
        if place.variable == name:
            options[place.begin : place.end] = _left_of(options[place.begin : place.end], name)
    return replace(
        launch,
        environment=environment,
        before=_unassigned(launch.before, name),
        options=tuple(options),
        inside=_unassigned(launch.inside, name),
    )


def with_options(
    launch: LaunchCommand, names: Sequence[str], words: Sequence[str]
) -> LaunchCommand:
    """The launch with other words for the options of these names, written without dashes."""
    options = _each_option(launch.options, launch.family)
    untouched = [word for _, option in options if _bare(option[0]) not in names for word in option]
    return replace(launch, options=(*words, *untouched))


def _each_option(options: Sequence[str], family: str) -> Iterator[tuple[int, list[str]]]:
    """Each option of a launcher with its values, and where it begins."""
    at = 0
    while at < len(options):
        end = at + 1 + _values_of(options[at], _words_of(family))
        yield at, list(options[at:end])
        at = end


def _words_of(family: str) -> LaunchWords:
    return LAUNCHERS.get(family, BOTH)


def _launcher_at(words: Sequence[str]) -> tuple[int, int]:
    """The place of the launcher, and how many words it has: 0 if there is none."""
    for at, word in enumerate(words):
        name = Path(word).name
        if is_launcher(name):
            return at, 1
        tried = _trial_length(words[at:])
        if tried:
            return at, tried
        if at == 0 and name not in AROUND:
            break
    return 0, 0


def _trial_length(words: Sequence[str]) -> int:
    """How many words `nhalf try` has here: as a program, or as a module of Python."""
    if Path(words[0]).name == "nhalf" and list(words[1:2]) == ["try"]:
        return 2
    is_python = Path(words[0]).name.startswith("python")
    return 4 if is_python and list(words[1:4]) == ["-m", "nhalf", "try"] else 0


def _after_options(words: Sequence[str], begin: int, table: LaunchWords) -> int:
    """The place of the first word that is no option and no value of one."""
    at = begin
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "--":
            return at + 1
        at += 1 + _values_of(words[at], table)
    return min(at, len(words))


def _values_of(option: str, table: LaunchWords) -> int:
    return 0 if "=" in option or not option.startswith("-") else table.values.get(_bare(option), 0)


def _bare(option: str) -> str:
    """An option without dashes and without the value behind `=`."""
    return option.partition("=")[0].removeprefix("-").removeprefix("-")


def _after_env(words: Sequence[str], begin: int) -> int:
    """The place after an `env` with its options and assignments; where there is none, `begin`."""
    if begin >= len(words) or Path(words[begin]).name != ENV:
        return begin
    at = begin + 1
    while at < len(words) and (words[at].startswith("-") or _ASSIGNMENT.fullmatch(words[at])):
        at += 1 + _ENV_VALUES.get(words[at], 0)
    return min(at, len(words))


def _parts(
    environment: Mapping[str, str],
    words: Sequence[str],
    places: tuple[int, int, int, int],
    family: str,
) -> LaunchCommand:
    """The launch whose launcher, options, `env` and program begin and end at these places."""
    at, options, inside, program = places
    return LaunchCommand(
        environment,
        tuple(words[:at]),
        tuple(words[at:options]),
        tuple(words[options:inside]),
        tuple(words[inside:program]),
        words[program] if program < len(words) else "",
        tuple(words[program + 1 :]),
        family,
    )


def _assigned(words: Sequence[str]) -> dict[str, str]:
    """The variables that an `env` among some words sets."""
    matches = (_ASSIGNMENT.fullmatch(word) for word in words) if ENV in _names(words) else ()
    return {match[1]: match[2] for match in matches if match}


def _unassigned(words: tuple[str, ...], name: str) -> tuple[str, ...]:
    """The words without an assignment; an `env` that is left alone goes, too."""
    if name not in _assigned(words):
        return words
    without = [word for word in words if not word.startswith(f"{name}=")]
    return () if _names(without) == [ENV] else tuple(without)


def _names(words: Sequence[str]) -> list[str]:
    return [Path(word).name for word in words]


def _places(options: Sequence[str], family: str) -> Iterator[_Place]:
    """Where options of a launcher set variables, in their order."""
    table = _words_of(family)
    for at, words in _each_option(options, family):
        option, end = _bare(words[0]), at + len(words)
        items: list[str] = []
        if option in table.pairs and len(words) == 3:
            yield _Place(at, end, table.pairs[option] + words[1], words[2])
        elif option in table.one_word and len(words) == 2:
            items = words[1:]
        elif family == SRUN and option == "export":
            items = [i for i in _exported(words) if i.partition("=")[0] not in _NO_VARIABLES]
        for item in items:
            name, equals, value = item.partition("=")
            yield _Place(at, end, name, value if equals else None)


def _exported(words: Sequence[str]) -> list[str]:
    """The items of srun's `--export`, which is one word or two."""
    match = _EXPORT.fullmatch(words[0])
    return (match[1] if match else words[1] if len(words) > 1 else "").split(",")


def _left_of(words: Sequence[str], name: str) -> list[str]:
    """What is left of an option that sets a variable: of srun's `--export` its other items."""
    if _bare(words[0]) != "export":
        return []
    items = [item for item in _exported(words) if item.partition("=")[0] != name]
    return [f"--export={','.join(items)}"] if items else []


def _passing(launch: LaunchCommand, name: str, value: str) -> tuple[str, ...]:
    """The options with which the launcher passes a variable of its environment to all ranks."""
    options, bare = launch.options, [_bare(word) for word in launch.options]
    if launch.family == OPENMPI and not name.startswith(PASSED_ON):
        return ("-x", name, *options)
    if launch.family == HYDRA and {"genvnone", "envnone", "genvlist", "envlist"} & set(bare):
        return ("-genv", name, value, *options)
    if launch.family == SRUN and "export" in bare:
        at = bare.index("export")
        end = at + 1 + _values_of(options[at], _words_of(SRUN))
        items = _exported(options[at:end])
        if "ALL" not in items:
            return (*options[:at], f"--export={','.join([*items, name])}", *options[end:])
    return options


ALIASES = {"np": "n"}
"""Options that have two names."""


def launcher_options(launch: LaunchCommand) -> dict[str, tuple[str, ...]]:
    """The words of each option by its name without dashes, once for every time that it is given.

    Those of one that is given twice follow one another.
    """
    options: dict[str, tuple[str, ...]] = {}
    for _, words in _each_option(launch.options, launch.family):
        bare = _bare(words[0])
        name = ALIASES.get(bare, bare)
        options[name] = (*options.get(name, ()), *words)
    return options


def option_value(words: Sequence[str]) -> str:
    """The value of an option from its words; 'set' for one without a value."""
    values = [word.partition("=")[2] if "=" in word else word for word in words]
    return shlex.join(word for word in values if not word.startswith("-")) or "set"


_NAMES = {
    HYDRA: ("n", "np"),
    OPENMPI: ("n", "np", "c"),
    SRUN: ("n", "ntasks"),
    TRIAL: ("ranks",),
    "": ("n", "np"),
}
"""Without their dashes. To srun, `-c` is a rank's cores."""


def ranks_in(launch: LaunchCommand) -> int | None:
    """The number of ranks that a launcher's options name; None if none does, or several programs
    share the launch.
    """
    if not launch.launcher or launch.is_several:
        return None
    values = _values(launch.options, _NAMES[launch.family])
    return int(values[-1]) if values and values[-1].isdecimal() else None


def _values(options: Sequence[str], names: Sequence[str]) -> list[str]:
    """What options of these names are given: `-n 4`, `--ntasks=4`, `-n4`."""
    values = []
    for word, following in pairwise([*options, ""]):
        if not word.startswith("-"):
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if name in names:
            values.append(value if equals else following)
        elif name[:1] in names and name[1:].isdecimal():
            values.append(name[1:])
    return values


def with_new_noise(launch: LaunchCommand, number: int) -> LaunchCommand:
    """A launch of `nhalf try` with the noise of this number, if it has any."""
    if launch.family != TRIAL or "noise" not in launcher_options(launch):
        return launch
    return with_options(launch, ("seed",), ("--seed", str(number)))
