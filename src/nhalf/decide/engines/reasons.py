"""Why an engine is apart from others, where that is known."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from nhalf.decide.engines.cells import Cell
from nhalf.decide.engines.names import MODEL, SIMGRID
from nhalf.decide.one_wire import MESSAGES, shares_a_wire, waits_at_adapters
from nhalf.decide.ways import UNSIZED
from nhalf.machines.machine import Machine


class EngineGap(NamedTuple):
    """A cell in which engines are apart: on which machine, and whether the model has its answer
    from a publication or a fit of the very pattern.
    """

    machine: Machine
    cell: Cell
    is_published: bool


class Reason(NamedTuple):
    """Who is apart, where, and why, in a sentence."""

    engine: str
    holds: Callable[[EngineGap], bool]
    words: str


MODES = ("pingpong-ssend", "pingpong-bsend")
REASONS = (
    Reason(
        MODEL,
        lambda gap: gap.cell.pattern in MESSAGES and shares_a_wire(gap.machine),
        "model counts the messages of a barrier on a wire common to all nodes, as its study does",
    ),
    Reason(
        MODEL,
        lambda gap: gap.cell.pattern in UNSIZED and bool(waits_at_adapters(gap.machine)),
        "model lets messages of a barrier wait at adapters, as published",
    ),
    Reason(
        MODEL,
        lambda gap: gap.is_published,
        "model has the times of the pattern itself, which are not those of the ping-pong's curve",
    ),
    Reason(
        MODEL,
        lambda gap: gap.cell.pattern == "many-to-many",
        "model takes one round alone; those of a probe run into each other",
    ),
    Reason(
        SIMGRID,
        lambda gap: gap.cell.pattern in MODES,
        "SMPI has no protocol of its own for synchronous and buffered sends",
    ),
    Reason(
        SIMGRID,
        lambda gap: (gap.cell.pattern, gap.cell.algorithm) == ("alltoall", "linear"),
        "of messages that arrive at one time SimGrid lets others come in first",
    ),
)


def reasons(gap: EngineGap, outliers: Collection[str]) -> dict[str, str]:
    """The reasons that are known, by the engine that is apart."""
    words: dict[str, list[str]] = {}
    for cause in REASONS:
        if cause.engine in outliers and cause.holds(gap):
            words.setdefault(cause.engine, []).append(cause.words)
    return {engine: "; ".join(causes) for engine, causes in words.items()}
