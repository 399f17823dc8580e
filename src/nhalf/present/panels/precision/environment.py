# SPDX-License-Identifier: Apache-2.0
"""Where and with what the runs were measured."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from nhalf.base.numbers import MISSING, format_number, percent
from nhalf.facts.facts import Facts
from nhalf.present.panels import Panel, Table
from nhalf.present.wording import count
from nhalf.store.environment import flat

ROWS_MAX = 60
BOOKKEEPING = ("blocks", "hosts_found", "launches_fixed", "looks", "precision")
"""What a plan holds for nhalf itself, or what is put in words here."""


class Environment(Panel[Facts]):
    title = "Environment"
    how_to_read = (
        "What the numbers depend on: repeat a measurement elsewhere and compare this list first."
    )
    order = 90

    def render(self, facts: Facts) -> Table | None:
        runs = {run: dict(_rows(values)) for run, values in facts.environments.items()}
        keys = list(dict.fromkeys(key for values in runs.values() for key in values))
        if not keys:
            return None
        rows = [
            [key, *(values.get(key, MISSING) for values in runs.values())]
            for key in keys[:ROWS_MAX]
        ]
        if len(keys) > ROWS_MAX:
            rows.append([f"and {len(keys) - ROWS_MAX} more in run.json", *("" for _ in runs)])
        return Table(["", *runs], rows)


def _rows(environment: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The environment, then what was asked for, without the bookkeeping of a plan."""
    yield from flat({name: value for name, value in environment.items() if name != "plan"})
    plan = environment.get("plan")
    if not isinstance(plan, Mapping):
        return
    yield from flat(
        {name: value for name, value in plan.items() if name not in BOOKKEEPING}, "plan"
    )
    precision = plan.get("precision")
    if isinstance(precision, int | float) and math.isfinite(precision) and precision > 0:
        yield "plan precision", f"{format_number(precision * 100)} %"
    for place, block in enumerate(plan.get("blocks") or (), 1):
        yield f"plan part {place}", _part(block)


def _part(block: Mapping[str, Any]) -> str:
    """'pingpong, exchange; 2 ranks; 0:4M bytes; cores': what is measured, without defaults."""
    ranks = [str(number) for number in block.get("ranks", ())]
    axes = [f"{name} {text}" for name, text in block.get("axes", {}).items()]
    launches = block.get("launches")
    parts = [
        ", ".join(block.get("patterns", ())),
        f"{', '.join(ranks)} {'rank' if ranks == ['1'] else 'ranks'}" if ranks else "",
        f"{block['bytes']} bytes" if block.get("bytes") else "",
        ", ".join(block.get("placements", ())),
        *axes,
        ", ".join(block.get("settings") or ()),
        ", ".join(block.get("transports") or ()),
        count(launches, "launch", "launches") if launches else "",
        f"precision {percent(block['precision'])}" if block.get("precision") else "",
    ]
    return "; ".join(filter(None, parts))
