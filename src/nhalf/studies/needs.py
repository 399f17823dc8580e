"""The points that conclusions take, and which of those conclusions a plan can decide."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import msgspec

from nhalf.base.errors import NhalfError
from nhalf.base.operations import NATIVE
from nhalf.facts.soak import PATTERN as SOAK
from nhalf.machines.curve import PINGPONG
from nhalf.machines.spread import spans_nodes
from nhalf.measure.plan.catalogue import StudyBlock
from nhalf.measure.plan.plan import Block, Plan
from nhalf.measure.plan.planning import placed
from nhalf.measure.probe.pattern import every_info
from nhalf.sites.placement import CORES
from nhalf.sites.site import Site
from nhalf.studies.counted import is_counted
from nhalf.studies.derived import is_placed
from nhalf.studies.form import Conclusion, Quantity, StudyForm
from nhalf.studies.measured import MESSAGES, PAIRS_OF_RANKS
from nhalf.studies.phases import PHASES_MIN, phase_numbers
from nhalf.studies.recorded import TRAFFIC

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


OF_MANY_SIZES = ("t0", "r-inf", "n-half", "error", "crossover")
"""Figures that come from the curve of a pattern."""
WHOLE = ("b_eff", "logp", SOAK)
"""Numbers that take every point of their blocks."""
VIRTUAL_RANKS_MOST = 64
"""Numbers of more ranks are not asked of a library in virtual time, where each is a process."""


@dataclass(frozen=True)
class Needs:
    """The blocks of each conclusion that can be decided, by its id, and of the tables.

    `words` say how many there are, and what a plan with just these leaves out.
    """

    by_conclusion: Mapping[str, Sequence[Block]]
    of_tables: Sequence[Block]
    words: str

    def reduced(self, plan: Plan) -> Plan:
        """A plan of these blocks alone; unchanged if nothing can be decided."""
        needed = [block for blocks in self.by_conclusion.values() for block in blocks]
        blocks = merged([*needed, *self.of_tables]) if needed else plan.blocks
        return msgspec.structs.replace(plan, blocks=blocks)


def needs_of(
    form: StudyForm, plan: Plan, has_several_hosts: bool, virtual_machine: str = ""
) -> Needs:
    """What the conclusions of a study need that a plan can decide, here or in virtual time."""
    lacks = [lack_of(conclusion, form, plan, has_several_hosts) for conclusion in form.conclusion]
    where = f"in virtual time on {virtual_machine}" if virtual_machine else "here"
    words = f"{where} {lacks.count('')} of {len(lacks)} conclusions can be decided"
    further = lacks.count("ranks") + lacks.count("nodes")
    if further and not virtual_machine:
        words += f"; --hosts, or --machine, would decide up to {further} more"
    blocks = {
        conclusion.id: needed_by(conclusion, plan)
        for conclusion, lack in zip(form.conclusion, lacks, strict=True)
        if not lack
    }
    needs = Needs({name: of for name, of in blocks.items() if of}, needed_by_tables(form, plan), "")
    kept_names = {name for block in needs.reduced(plan).blocks for name in block.patterns}
    if left_out := [name for name in plan.patterns if name not in kept_names]:
        words += f". Left out, as they decide nothing here: {', '.join(left_out)}"
    return replace(needs, words=words)


def needed_by(conclusion: Conclusion, plan: Plan) -> list[Block]:
    """The blocks that measure the points of a conclusion and no others."""
    return merged(block for number in measured_numbers(conclusion) for block in _of(number, plan))


def needed_by_tables(form: StudyForm, plan: Plan) -> list[Block]:
    """The blocks of what stands in tables and figures."""
    return merged(block for number in _shown(form) for block in _of(number, plan))


def _shown(form: StudyForm) -> list[Quantity]:
    """The numbers of tables and figures that take messages."""
    numbers = [column.value for table in form.table for column in table.column]
    numbers += [
        msgspec.structs.replace(figure.value, **{figure.axis: at})
        for figure in form.figure
        for at in figure.at
    ]
    numbers += [number for options in form.options for number in options.options.values()]
    return [n for n in numbers if n.pattern and not (n.machine or is_counted(n))]


def with_ranks_asked(form: StudyForm, plan: Plan, site: Site) -> Plan:
    """A plan whose blocks have the numbers of ranks that the study's numbers ask for.

    On a virtual machine there are as many as it holds, and it has a place within a node and one
    over its nodes for each. What it cannot tell and no table shows is left out.
    """
    unseen = form.not_virtual.keys() - {number.pattern for number in _shown(form)}
    numbers = [number for conclusion in form.conclusion for number in measured_numbers(conclusion)]
    numbers += _shown(form)
    most = min(site.cores, VIRTUAL_RANKS_MOST)
    blocks = []
    for block in plan.blocks:
        if set(block.patterns) <= unseen:
            continue
        alone = msgspec.structs.replace(plan, blocks=[block])
        rank_counts = {number.ranks for number in numbers if blocks_of(number, alone)}
        ranks = sorted({min(count, most) for count in rank_counts} or block.ranks)
        usual = msgspec.structs.replace(block, ranks=ranks, placements=[CORES])
        blocks.append(placed(usual, (), site))
    return msgspec.structs.replace(plan, blocks=blocks)


def merged(blocks: Iterable[Block]) -> list[Block]:
    """Blocks that differ in their sizes alone as one; what has no list of sizes stays apart."""
    sizes: dict[tuple[str, ...], dict[str, None]] = {}
    kinds: dict[tuple[str, ...], Block] = {}
    for block in blocks:
        is_list = ":" not in block.bytes and block.bytes[:1].isdecimal()
        apart = "" if is_list else block.bytes
        unsized = msgspec.structs.replace(block, bytes="")
        key = (apart, *map(str, msgspec.structs.astuple(unsized)))
        kinds.setdefault(key, block)
        sizes.setdefault(key, {}).update(dict.fromkeys(block.bytes.split(",") if is_list else []))
    return [
        msgspec.structs.replace(block, bytes=",".join(sizes[key]) or block.bytes)
        for key, block in kinds.items()
    ]


def _of(number: Quantity, plan: Plan) -> Iterator[Block]:
    """The blocks of a number by the one transport that it will be taken from."""
    blocks = blocks_of(number, plan)
    choices = [*MESSAGES, *plan.transports] if number.transport in ("", "mpi") else []
    choices = [name for name in choices if name in plan.transports] or [number.transport]
    for transport in choices:
        having = [block for block in blocks if block.is_for(transport, "")]
        if having:
            break
    else:
        return
    if number.figure in OF_MANY_SIZES:
        having = [max(having, key=lambda block: len(block.sizes_on(2).size_bytes))]
    for block in having if number.pattern in WHOLE else having[:1]:
        yield from _reduced(block, number, transport)
    if number.pattern == "b_eff" and number.figure in ("time", "pingpong"):
        yield from _of(Quantity(pattern=PINGPONG, bytes=0), plan)
        yield from _of(Quantity(pattern=PINGPONG, bytes="1M"), plan)


def _reduced(block: Block, number: Quantity, transport: str) -> Iterator[Block]:
    """A block with the most ranks that a number may have, at its place, its size and its axes."""
    is_whole = number.pattern in WHOLE
    counts = [count for count in block.ranks if count <= number.ranks or is_whole]
    ranks = max(counts, default=0)
    texts = [
        placement.text
        for placement in block.parsed_placements
        if placement.fits(ranks)
        and (number.pattern == TRAFFIC or is_placed(placement.text, number))
    ]
    if not (ranks and texts):
        return
    # Numbers of a pair are those within a node, of many those between nodes (measured.py).
    is_pair = number.pattern in PAIRS_OF_RANKS
    texts.sort(key=lambda text: bool(spans_nodes(text)) == is_pair)
    has_choice = "algorithm" in block.axes or number.algorithm != NATIVE
    axes = {name: str(text) for name, text in number.axes.items()}
    yield msgspec.structs.replace(
        block,
        patterns=block.patterns if is_whole else [number.pattern],
        ranks=[ranks],
        placements=texts[:1],
        bytes=block.bytes if is_whole or number.figure in OF_MANY_SIZES else str(number.size_bytes),
        axes={**block.axes, **axes, **({"algorithm": number.algorithm} if has_choice else {})},
        transports=[transport],
    )
