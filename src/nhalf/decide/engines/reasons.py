# SPDX-License-Identifier: Apache-2.0
"""Why an engine is apart from others, where that is known."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from nhalf.decide.engines.cells import Cell
from nhalf.decide.one_wire import shares_a_wire, waits_at_adapters
from nhalf.decide.ways import UNSIZED
from nhalf.machines.machine import Machine


class Reason(NamedTuple):
    """Who is apart, where, and why, in a sentence."""

    engine: str
    holds: Callable[[Machine, Cell], bool]
    words: str


REASONS = (
    Reason(
        "model",
        lambda machine, cell: shares_a_wire(machine),
        "model counts the messages on a wire common to all nodes, as its study does",
    ),
    Reason(
        "model",
        lambda machine, cell: cell.pattern in UNSIZED and waits_at_adapters(machine),
        "model lets messages of a barrier wait at adapters, as published",
    ),
)


def reason(machine: Machine, cell: Cell, outliers: Collection[str]) -> str:
    """The reasons that are known for those who are apart; '' if there are none."""
    words = (
        cause.words for cause in REASONS if cause.engine in outliers and cause.holds(machine, cell)
    )
    return "; ".join(dict.fromkeys(words))
