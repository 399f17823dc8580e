"""What MPI libraries report of their own parameters (MPI_T), and settings that they do not have."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.jumps import REPORTED
from nhalf.measure.plan.plan import split_name

PREFIX = "OMPI_MCA_"
"""What stands before Open MPI's names in the environment; MPICH's are the same there."""
SAME = {"true": "1", "yes": "1", "on": "1", "false": "0", "no": "0", "off": "0"}
_CHOICE = re.compile(r"(-?\d+) \((.*)\)")


@dataclass(frozen=True)
class IgnoredSetting:
    """A variable of a setting, and what the library has instead of the value asked for."""

    mpi: str
    variable: str
    asked: str
    has: str


@fact
def reported(facts: Facts, run: str, mpi: str) -> Mapping[str, str]:
    """Values by name, as a library reported them at the start of its first launch in a run.

    A choice is its number and its word: '6 (binomial)'. Empty where it reported none.
    """
    for (subject, _, _), launches in facts.started.get(run, {}).items():
        if subject == mpi and launches and launches[0].variables:
            return launches[0].variables
    return {}


@fact
def environments(facts: Facts) -> Mapping[str, Mapping[str, Any]]:
    """Those of the runs with what each library reported."""
    reports = {
        run: {mpi: reported(facts, run, mpi) for mpi, _, _ in facts.started.get(run, {})}
        for run in facts.environments
    }
    return {run: {**own, REPORTED: reports[run]} for run, own in facts.environments.items()}


@fact
def ignored_settings(facts: Facts) -> list[IgnoredSetting]:
    """Variables of settings that the library reports with another value."""
    return list(dict.fromkeys(_ignored(facts)))


def _ignored(facts: Facts) -> Iterator[IgnoredSetting]:
    for run, environment in environments(facts).items():
        settings = environment.get("plan", {}).get("settings", [])
        variables_of = {setting["name"]: setting["variables"] for setting in settings}
        for subject in environment.get(REPORTED, {}):
            for variable, asked in variables_of.get(split_name(subject)[1], {}).items():
                has = reported(facts, run, subject).get(variable.removeprefix(PREFIX))
                if has is not None and not may_be_same(asked, has):
                    yield IgnoredSetting(subject, variable, asked, has)


def may_be_same(asked: str, has: str) -> bool:
    """Whether a value in the environment may be what a library reports, which knows numbers."""
    asked = asked.strip().casefold()
    choice = _CHOICE.fullmatch(has)
    if choice:
        return SAME.get(asked, asked) in (choice[1], choice[2].casefold())
    if not has.lstrip("-").isdecimal():
        return asked == has.strip().casefold()
    asked = SAME.get(asked, asked)
    return not asked.lstrip("-").isdecimal() or int(asked) == int(has)
