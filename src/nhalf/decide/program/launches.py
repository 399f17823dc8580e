# SPDX-License-Identifier: Apache-2.0
"""Several launches of one program, predicted together: how much they differ is in the interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, median

from nhalf.base.errors import InputError
from nhalf.decide.program.predict import Asked, ProgramPrediction, predict_program
from nhalf.facts.program.program import Program
from nhalf.machines.machine import Machine


def predict_launches(
    programs: Sequence[Program],
    asked: Asked,
    traced_on: Machine | None = None,
    traced_mpi: str = "",
) -> ProgramPrediction:
    """The median of the predictions from each trace, and the interval that holds all of theirs.

    Raises InputError as `predict_program` and `check_same` do.
    """
    check_same(programs)
    found = [predict_program(each, asked, traced_on, traced_mpi) for each in programs]
    parts = dict.fromkeys(name for each in found for name in each.time_share)
    return replace(
        found[0],
        measured_s=median(each.measured_s for each in found),
        time_s=median(each.time_s for each in found),
        low_s=min(each.low_s for each in found),
        high_s=max(each.high_s for each in found),
        error=median(each.error for each in found),
        time_share={
            name: fmean(each.time_share.get(name, 0.0) for each in found) for name in parts
        },
        forced=max(each.forced for each in found),
        launches=len(found),
    )


def check_same(programs: Sequence[Program]) -> None:
    """Raises InputError unless all are traces of one program, as far as ranks and sends tell.

    Launches may differ in other calls: how often a program polls depends on the time.
    """
    first = programs[0]
    for other in programs[1:]:
        if other.ranks != first.ranks:
            raise InputError(
                f"{first.path} has {first.ranks} ranks and {other.path} has {other.ranks}",
                "name traces of one program",
            )
        if set(other.messages["call"]) != set(first.messages["call"]):
            raise InputError(
                f"{first.path} and {other.path} send by different calls",
                "name traces of one program",
            )
