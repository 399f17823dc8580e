"""What MPI libraries report of their own parameters (MPI_T), and settings that they do not have."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nhalf.facts.jumps import REPORTED
from nhalf.measure.plan.plan import split_name
from nhalf.store.places import Start, StartedLaunch

PREFIX = "OMPI_MCA_"
"""What stands before Open MPI's names in the environment; MPICH's are the same there."""
SAME = {"true": "1", "yes": "1", "on": "1", "false": "0", "no": "0", "off": "0"}
_CHOICE = re.compile(r"(-?\d+) \((.*)\)")
Environments = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class IgnoredSetting:
    """A variable of a setting with its value, and the value that the library has instead."""

    mpi: str
    variable: str
    value: str
    in_launch: str


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


def ignored_settings(environments: Environments) -> list[IgnoredSetting]:
    """Variables of settings that the library reports with another value."""
    return list(_ignored(environments))


def _ignored(environments: Environments) -> Iterator[IgnoredSetting]:
    for environment in environments.values():
        settings = environment.get("plan", {}).get("settings", [])
        variables_of = {setting["name"]: setting["variables"] for setting in settings}
        for mpi, reported in environment.get(REPORTED, {}).items():
            for variable, value in variables_of.get(split_name(mpi)[1], {}).items():
                in_launch = reported.get(variable.removeprefix(PREFIX))
                if in_launch is not None and not may_be_same(value, in_launch):
                    yield IgnoredSetting(mpi, variable, value, in_launch)


def may_be_same(value: str, in_launch: str) -> bool:
    """Whether a value in the environment may be what a library reports, which knows numbers."""
    value = value.strip().casefold()
    choice = _CHOICE.fullmatch(in_launch)
    if choice:
        return SAME.get(value, value) in (choice[1], choice[2].casefold())
    if not in_launch.lstrip("-").isdecimal():
        return value == in_launch.strip().casefold()
    value = SAME.get(value, value)
    return not value.lstrip("-").isdecimal() or int(value) == int(in_launch)
