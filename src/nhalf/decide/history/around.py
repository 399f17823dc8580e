"""Environment changes that coincide with a change of a curve's level.

A line of the environment is named if all runs of the level before agree on one value and all of the
level after on another: a value that differs from run to run anyway, such as a job number, explains
nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.base.units import format_time
from nhalf.statistics.advice import CLOCK_APART
from nhalf.statistics.state_groups import APART
from nhalf.store.environment import flat
from nhalf.store.run import Run

ABSENT = "–"
PLAN_OPTIONS = ("options", "launcher")
"""The parts of a plan that change how messages travel."""
FLAG, CLOCK = "flag between two cores", "clock of the GPU"


@dataclass(frozen=True)
class Difference:
    """A line of the environment before and after, '–' if it was absent."""

    name: str
    before: str
    after: str


def surroundings(run: Run) -> dict[str, str]:
    """The environment of a run and the options of its transports, text by name."""
    options = {name: run.plan[name] for name in PLAN_OPTIONS if name in run.plan}
    return dict(flat({**run.environment, **options}))


def with_library(around: Mapping[str, str], run: Run, library: str) -> dict[str, str]:
    """Add the self-description of a curve's library to the environment."""
    if not library:
        return dict(around)
    description = run.titles.get(library, "")
    return {"library": f"{library} ({description})" if description else library, **around}


def differences(
    before: Sequence[Mapping[str, str]], after: Sequence[Mapping[str, str]]
) -> list[Difference]:
    """The lines on which both sides agree within themselves and not with each other."""
    names = dict.fromkeys(name for environment in (*before, *after) for name in environment)
    changes = []
    for name in names:
        was = {environment.get(name, ABSENT) for environment in before}
        became = {environment.get(name, ABSENT) for environment in after}
        if len(was) == 1 and len(became) == 1 and was != became:
            changes.append(Difference(name, *was, *became))
    return changes


def flag_difference(before: Floats, after: Floats) -> list[Difference]:
    """A change of the flag handoff time between two cores: the machine itself changed its state."""
    sides = _apart(before, after, APART)
    return [Difference(FLAG, *map(format_time, sides))] if sides else []


def clock_difference(before_hz: Floats, after_hz: Floats) -> list[Difference]:
    """A change of the GPU's clock."""
    sides = [f"{side_hz / 1e6:.0f} MHz" for side_hz in clocks_apart(before_hz, after_hz)]
    return [Difference(CLOCK, *sides)] if sides else []


def clocks_apart(before_hz: Floats, after_hz: Floats) -> tuple[float, ...]:
    """The medians of both sides, Hz; empty where they are one state of the GPU, or unknown."""
    return _apart(before_hz, after_hz, CLOCK_APART)


def _apart(before: Floats, after: Floats, apart: float) -> tuple[float, ...]:
    """The medians of two sides that differ by a factor `apart` or more; else empty."""
    sides = [float(np.nanmedian(side)) for side in (before, after) if np.isfinite(side).any()]
    return tuple(sides) if len(sides) > 1 and max(sides) >= apart * min(sides) else ()
