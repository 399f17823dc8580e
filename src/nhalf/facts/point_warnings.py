# SPDX-License-Identifier: Apache-2.0
"""Each kind of warning that points carry, with the number of points and the libraries."""

from __future__ import annotations

from dataclasses import dataclass

from nhalf.base.errors import InputError
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.node_runs import of_messages
from nhalf.facts.series import series_names, with_series
from nhalf.statistics.advice import advice


@dataclass(frozen=True)
class PointWarning:
    """One kind of warning: its meaning, its remedy, and the libraries affected.

    `points` is the number of points that carry it; `series` are their libraries, sorted, and
    `everyone` says whether these are all.
    """

    name: str
    meaning: str
    remedy: str
    points: int
    series: tuple[str, ...]
    everyone: bool


@fact
def point_warnings(facts: Facts) -> list[PointWarning]:
    """One entry per kind, in order of appearance."""
    carried = with_series(of_messages(facts), facts).explode("advice").drop_nulls("advice")
    everyone = len(series_names(facts))
    warnings = []
    for (name,), frame in carried.group_by("advice", maintain_order=True):
        meaning, remedy = _words(str(name))
        names = tuple(sorted(frame["series"].unique()))
        warnings.append(
            PointWarning(str(name), meaning, remedy, frame.height, names, len(names) == everyone)
        )
    return warnings


def _words(name: str) -> tuple[str, str]:
    """The text of an advice and its remedy; an unknown one is quoted by name."""
    try:
        kind = advice(name)
    except InputError:
        return f"the advice {name!r} was given", ""
    return kind.meaning, kind.remedy
