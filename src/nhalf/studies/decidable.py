"""Which conclusions a plan can decide with its ranks, nodes and transports, before it starts."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Literal

from nhalf.base.errors import NhalfError
from nhalf.measure.plan.catalogue import StudyBlock
from nhalf.measure.plan.plan import Block, Plan
from nhalf.measure.probe.pattern import every_info
from nhalf.studies.counted import is_counted
from nhalf.studies.form import Conclusion, Quantity, StudyForm
from nhalf.studies.measured import MESSAGES
from nhalf.studies.phases import PHASES_MIN, phase_numbers

MADE_OF = {"b_eff": "ring", "logp": "overhead-send"}
"""Patterns that numbers of many points come from."""
Lack = Literal["", "ranks", "nodes", "way", "machine"]
"""What a conclusion needs that a plan has not: a way is a transport, or an algorithm on it, and
"machine" the one that it is about."""


def lack_of(conclusion: Conclusion, form: StudyForm, plan: Plan, has_several_hosts: bool) -> Lack:
    """What a plan lacks to decide a conclusion; '' if nothing, as far as that can be foreseen."""
    if conclusion.not_elsewhere:
        return "machine"
    most: list[int] = []
    for quantity in measured_numbers(conclusion):
        counts = [count for block in blocks_of(quantity, plan) for count in block.ranks]
        if not counts:
            has_more = any(_measures(quantity, block) for block in form.measure.block)
            return "ranks" if has_more else "way"
        if quantity.placement == "off-node" and not has_several_hosts:
            return "nodes"
        if quantity.pattern != "b_eff":
            counts = [count for count in counts if count <= quantity.ranks]
        ranks = max(counts, default=0)
        if quantity.phase:
            phases = phase_numbers(quantity.pattern, ranks)
            ranks = ranks if len(phases) >= PHASES_MIN[quantity.phase] else 0
        most.append(ranks)
    value, over = conclusion.value, conclusion.over
    if 0 in most or (most and most[0] < conclusion.ranks_least):
        return "ranks"
    is_alone = over is not None and value.ranks != over.ranks and len(set(most)) < len(most)
    return "ranks" if is_alone else ""


def measured_numbers(conclusion: Conclusion) -> Iterator[Quantity]:
    """The numbers of a conclusion that take messages here."""
    for quantity in (conclusion.value, conclusion.over):
        if quantity is None or quantity.machine or is_counted(quantity):
            continue
        if quantity.pattern:
            yield quantity


def blocks_of(quantity: Quantity, plan: Plan) -> list[Block]:
    """The blocks that measure the pattern of a number, in its way, by a transport it may have."""
    may_have = [quantity.transport] if quantity.transport not in ("", "mpi") else list(MESSAGES)
    transports = [name for name in plan.transports if not quantity.transport or name in may_have]
    return [
        block
        for block in plan.blocks
        if _measures(quantity, block) and any(block.is_for(name, "") for name in transports)
    ]


def _measures(quantity: Quantity, block: Block | StudyBlock) -> bool:
    """Whether a block has the pattern of a number, and the words of its axes."""
    if MADE_OF.get(quantity.pattern, quantity.pattern) not in block.patterns:
        return False
    usual = _usual_axes().get(quantity.pattern, {})
    ways = {name: str(text) for name, text in quantity.axes.items()}
    return all(
        text in str(block.axes.get(name, usual.get(name, text))).split(",")
        for name, text in ways.items()
        if re.fullmatch("[a-z-]+", text)
    )


@cache
def _usual_axes() -> Mapping[str, Mapping[str, str]]:
    """The values of axes by pattern where a plan does not name them; none without a probe."""
    with suppress(NhalfError):
        return {name: {a.name: a.values for a in info.axes} for name, info in every_info().items()}
    return {}
