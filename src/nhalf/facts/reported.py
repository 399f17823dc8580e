"""What MPI libraries report of their own parameters (MPI_T), and settings that they do not have."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from nhalf.measure.plan.plan import split_name
from nhalf.store.places import Start, StartedLaunch

REPORTED = "reported"
"""In an environment: what libraries reported of their parameters."""
PREFIX = "OMPI_MCA_"
"""What stands before Open MPI's names in the environment; MPICH's are the same there."""
PREFIX_OF_INTEL = "I_MPI_"
NAMES_OF_INTEL = ("MPIR_CVAR_INTEL_", "MPIR_CVAR_IMPI_", "MPIR_CVAR_")
"""What Intel MPI's names begin with in its report, where it has one of I_MPI_REST: it has none of
I_MPI_ADJUST_OPERATION. -1 is its own choice, whatever was set."""
OWN_CHOICE = "-1"
SAME = {"true": "1", "yes": "1", "on": "1", "false": "0", "no": "0", "off": "0"}
RULES_ON, OF_RULES = "coll_tuned_use_dynamic_rules", "coll_tuned_"
"""Open MPI applies no variable of coll/tuned that chooses algorithms unless this one is on."""
_CHOICE = re.compile(r"(-?\d+) \((.*)\)")
Environments = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class IgnoredSetting:
    """A variable of a setting with its value, and the value that the library has instead."""

    mpi: str
    variable: str
    value: str
    in_launch: str


@dataclass(frozen=True)
class SettingWitness:
    """What a library says of the variables of a setting (MPI_T): those that it has with their
    values, those with another value than they were given, and those of which it does not say, or
    says a number where a word was given.
    """

    confirmed_values: dict[str, str]
    other_values: dict[str, str]
    silent_variables: tuple[str, ...]

    @property
    def verdict(self) -> Literal["taken", "not taken", "in part", "silent"]:
        """Whether it took the setting, as far as it says."""
        if self.other_values:
            return "not taken"
        if not self.confirmed_values:
            return "silent"
        return "in part" if self.silent_variables else "taken"


def witness(variables: Mapping[str, str], reported: Mapping[str, str]) -> SettingWitness:
    """What a library that reports these values says of a setting."""
    confirmed_values: dict[str, str] = {}
    other_values: dict[str, str] = {}
    for variable, value in variables.items():
        in_launch = value_in_launch(variable, reported)
        if in_launch is None:
            continue
        if is_same(value, in_launch):
            confirmed_values[variable] = in_launch
        elif not may_be_same(value, in_launch):
            other_values[variable] = in_launch
    needs_rules = any(name.removeprefix(PREFIX).startswith(OF_RULES) for name in variables)
    if needs_rules and reported.get(RULES_ON, "1").startswith("0"):
        other_values.setdefault(PREFIX + RULES_ON, reported[RULES_ON])
    silent = tuple(name for name in variables if name not in {**confirmed_values, **other_values})
    return SettingWitness(confirmed_values, other_values, silent)


def value_in_launch(variable: str, reported: Mapping[str, str]) -> str | None:
    """What a library reports of a variable of the environment; None if it does not say."""
    if not variable.startswith(PREFIX_OF_INTEL):
        return reported.get(variable.removeprefix(PREFIX))
    own_name = variable.removeprefix(PREFIX_OF_INTEL)
    values = (reported.get(beginning + own_name, OWN_CHOICE) for beginning in NAMES_OF_INTEL)
    return next((value for value in values if value != OWN_CHOICE), None)


def with_reports(
    environments: Environments, started: Mapping[str, Mapping[Start, Sequence[StartedLaunch]]]
) -> Environments:
    """The environments of runs with what each library reported at the start of a launch.

    Under REPORTED, by library: values by name. A choice is its number and its word: '6 (binomial)'.
    """
    reports = {
        run: {
            launch.subject: launch.variables for of_start in starts.values() for launch in of_start
        }
        for run, starts in started.items()
    }
    return {run: {**own, REPORTED: reports.get(run, {})} for run, own in environments.items()}


def ignored_settings(environments: Environments) -> Iterator[IgnoredSetting]:
    """Variables of settings that the library reports with another value."""
    for environment in environments.values():
        settings = environment.get("plan", {}).get("settings", [])
        variables_of = {setting["name"]: setting["variables"] for setting in settings}
        for mpi, reported in environment.get(REPORTED, {}).items():
            variables = variables_of.get(split_name(mpi)[1], {})
            for variable, in_launch in witness(variables, reported).other_values.items():
                if variable in variables:
                    yield IgnoredSetting(mpi, variable, variables[variable], in_launch)


def may_be_same(value: str, in_launch: str) -> bool:
    """Whether a value in the environment may be what a library reports, which knows numbers."""
    is_word = _is_number(in_launch) and not _is_number(_plain(value))
    return is_word or is_same(value, in_launch)


def is_same(value: str, in_launch: str) -> bool:
    """Whether a value in the environment is certainly what a library reports."""
    choice = _CHOICE.fullmatch(in_launch)
    if choice:
        return bool({value.strip().casefold(), _plain(value)} & {choice[1], choice[2].casefold()})
    if not _is_number(in_launch):
        return value.strip().casefold() == in_launch.strip().casefold()
    return _is_number(_plain(value)) and int(_plain(value)) == int(in_launch)


def _plain(value: str) -> str:
    value = value.strip().casefold()
    return SAME.get(value, value)


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdecimal()
