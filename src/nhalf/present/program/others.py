# SPDX-License-Identifier: Apache-2.0
"""How much of the ranks' time others took, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nhalf.base.numbers import percent
from nhalf.base.units import format_time
from nhalf.decide.program.efficiency import efficiency
from nhalf.facts.program.disturbance import taken_by_others, taken_from_run_s
from nhalf.facts.program.program import Program
from nhalf.facts.program.shared_processors import shared_processors

SHARE_MIN = 0.01
"""Smaller shares are those of any quiet machine."""


def others_lines(program: Program) -> Iterator[str]:
    """One line, if others took a notable part of some rank's time."""
    shares = taken_by_others(program).drop_nulls("share").sort("share", "rank", descending=True)
    if shares.is_empty() or shares["share"][0] < SHARE_MIN:
        return
    rank, most = shares["rank"][0], shares["share"][0]
    least = shares["share"][-1]
    of_others = f" (of other ranks {percent(least)} or more)" if len(shares) > 1 else ""
    yield (
        f"{_who(program)} took {percent(most)} of the time of rank {rank}{of_others}"
        f"{_saved(program)}"
    )


def others_json(program: Program) -> dict[str, Any]:
    """By rank what others took, and how much earlier the run would have ended."""
    return {
        "ranks": taken_by_others(program).to_dicts(),
        "on_critical_path_s": taken_from_run_s(program),
    }


def _who(program: Program) -> str:
    return "Other ranks and programs" if shared_processors(program) else "Other programs"


def _saved(program: Program) -> str:
    tree = efficiency(program)
    if tree is None or tree.elapsed_s >= tree.measured_s:
        return ""
    # A message between hosts may come while its receiver has no processor: then nothing is lost.
    least = "at least " if len(set(program.hosts)) > 1 else ""
    return (
        f": without them the run would take {least}{format_time(tree.elapsed_s)} instead of "
        f"{format_time(tree.measured_s)}, and all shares but those of calls are those of that run"
    )
