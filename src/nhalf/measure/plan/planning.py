# SPDX-License-Identifier: Apache-2.0
"""From what is asked to a plan: one block, or the blocks of a study."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import msgspec

from nhalf.base.errors import InputError, unknown
from nhalf.base.units import parse_duration
from nhalf.machines.layout import both_ways, parse_layout
from nhalf.measure.plan import catalogue
from nhalf.measure.plan.algorithm import AXIS
from nhalf.measure.plan.axes import parse_ranks
from nhalf.measure.plan.options import check_options
from nhalf.measure.plan.plan import Block, Plan
from nhalf.measure.plan.request import Measuring, Where
from nhalf.measure.plan.setting import parse_settings
from nhalf.sites.placement import CORES, check_placement, fits
from nhalf.sites.site import Site, find_site


def site_of(where: Where) -> Site:
    """Where to measure, as was said and as the surroundings tell."""
    return find_site(where.hosts, where.host_file_path, where.launcher)


def plan_of(asked: Measuring, site: Site) -> Plan:
    """The plan of a study, or of the patterns alone where none is named.

    Raises InputError for what cannot be read.
    """
    blocks, budget_s, transports = _blocks(asked, site)
    blocks = [placed(block, asked.given, site) for block in blocks]
    if "placement" in asked.given:
        check_hosts(blocks, site)
    plan = Plan(
        transports=transports,
        mpi=words(asked.mpi),
        blocks=blocks,
        launches=asked.launches,
        budget_s=budget_s,
        precision=parse_precision(asked.precision),
        options=asked.model,
        seed=asked.seed,
        timeout_s=parse_duration(asked.timeout),
        mpi_prefixes=asked.mpi_prefixes,
        study=asked.study,
        hosts=asked.hosts,
        host_file=asked.host_file_path,
        launcher=asked.launcher,
        settings=parse_settings(asked.setting),
    )
    _check_model(plan)
    return plan


def _blocks(asked: Measuring, site: Site) -> tuple[list[Block], float, list[str]]:
    """The blocks, not placed yet, the seconds for all of them (0: nobody says), the transports."""
    budget_s = parse_duration(asked.budget) if asked.budget else 0.0
    if not asked.study:
        return [_block(asked, site)], budget_s, words(asked.transport)
    chosen = catalogue.study(asked.study, site.cores)
    by_study = chosen.transports if "transport" not in asked.given else []
    transports = by_study or words(asked.transport)
    return _overridden(chosen.blocks, asked, site), budget_s or chosen.budget_s, transports


def words(text: str) -> list[str]:
    """The words of a list, each once."""
    found = [word.strip() for word in text.split(",") if word.strip()]
    if not found:
        raise InputError(f"{text!r} names nothing", "give names separated by commas")
    return list(dict.fromkeys(found))


def placed(block: Block, given: Collection[str], site: Site) -> Block:
    """A block whose placements and numbers of ranks go together.

    A layout such as 4x2 brings its number of ranks with it; where a study's layouts do not have the
    number that is asked for, ranks are placed on cores. On several hosts, ranks on one host and
    over many are kept apart where nobody says otherwise.
    """
    if site.several and "placement" not in given and block.placements == [CORES]:
        both = [
            layout
            for ranks in block.ranks
            for layout in both_ways(ranks, len(site.hosts), site.cores_per_host)
        ]
        return msgspec.structs.replace(block, placements=list(dict.fromkeys(both)))
    placements = [text for name in block.placements if (text := site.in_numbers(name))]
    if not placements:
        raise InputError("there is one host only: every-host needs several", "give --hosts")
    is_free = "placement" not in given and block.placements != [CORES]
    if "ranks" in given and is_free and not _any_fits(placements, block.ranks):
        return placed(msgspec.structs.replace(block, placements=[CORES]), given, site)
    block = msgspec.structs.replace(block, placements=placements)
    layouts = [layout for text in block.placements if (layout := parse_layout(text))]
    if layouts and "ranks" not in given:
        others = block.ranks if len(layouts) < len(block.placements) else []
        ranks = sorted({*others, *(layout.ranks for layout in layouts)})
        return msgspec.structs.replace(block, ranks=ranks)
    for text in block.placements:
        if block.ranks and not _any_fits([text], block.ranks):
            asked = ", ".join(map(str, block.ranks))
            raise InputError(f"--placement {text} does not have {asked} ranks", "leave --ranks out")
    return block


def _any_fits(placements: Sequence[str], ranks: Sequence[int]) -> bool:
    return any(fits(text, count) for text in placements for count in ranks)


def check_hosts(blocks: list[Block], site: Site) -> None:
    """Placements that need more hosts than there are, before anything is written."""
    for block in blocks:
        for text in block.placements:
            for ranks in block.ranks:
                if fits(text, ranks):
                    site.layout(text, ranks)


def _block(asked: Measuring, site: Site) -> Block:
    """The one block of a run without a study."""
    return Block(
        patterns=words(asked.pattern),
        ranks=_ranks(asked.ranks, site),
        bytes=asked.sizes,
        axes=_all_axes(asked),
        placements=placements(asked.placement),
    )


def _overridden(blocks: list[Block], asked: Measuring, site: Site) -> list[Block]:
    """The blocks of a study with what the user wants otherwise."""
    changes: dict[str, Any] = {}
    if "ranks" in asked.given:
        changes["ranks"] = _ranks(asked.ranks, site)
    if "sizes" in asked.given:
        changes["bytes"] = asked.sizes
    if "placement" in asked.given:
        changes["placements"] = placements(asked.placement)
    if "launches" in asked.given:
        changes["launches"] = asked.launches
    if "precision" in asked.given:
        changes["precision"] = parse_precision(asked.precision)
    if "pattern" in asked.given:
        blocks = _selected(blocks, words(asked.pattern))
    axes = _all_axes(asked)
    return [
        msgspec.structs.replace(block, axes={**block.axes, **axes}, **changes) for block in blocks
    ]


def _selected(blocks: list[Block], patterns: list[str]) -> list[Block]:
    """The blocks with these patterns only."""
    known = {name for block in blocks for name in block.patterns}
    for name in patterns:
        if name not in known:
            raise unknown("pattern of this study", name, known)
    selected = (
        msgspec.structs.replace(block, patterns=[p for p in block.patterns if p in patterns])
        for block in blocks
    )
    return [block for block in selected if block.patterns]


def _ranks(text: str, site: Site) -> list[int]:
    ranks = parse_ranks(text, site.cores)
    if not ranks:
        raise InputError(f"{text!r} is not a number of ranks here", "write 2 or 2,4,8")
    return ranks


def _all_axes(asked: Measuring) -> dict[str, str]:
    """Values by axis, the algorithms among them."""
    axes = _axes(asked.axis)
    if not asked.algorithm:
        return axes
    if AXIS in axes:
        raise InputError("--axis algorithm=… and --algorithm are the same", "leave one out")
    return {**axes, AXIS: ",".join(words(asked.algorithm))}


def _axes(texts: Iterable[str]) -> dict[str, str]:
    """Values by axis from 'pairs=1,2,4', as they were written."""
    axes = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not (name.strip() and equals and values.strip()):
            raise InputError(f"{text!r} is not written as axis=values", "write --axis pairs=1,2,4")
        if name.strip() in axes:
            raise InputError(f"axis {name.strip()} is given twice", "give all its values at once")
        axes[name.strip()] = values
    return axes


def placements(text: str) -> list[str]:
    """Placements as they are written, checked."""
    return [check_placement(name) for name in words(text)]


def parse_precision(value: float) -> float:
    """A relative half-width; raises InputError for what is none."""
    if not 0 < value < 1:
        raise InputError(f"a precision of {value} is not possible", "give a fraction such as 0.01")
    return value


def _check_model(plan: Plan) -> None:
    """Parameters of the model are checked before anything is written."""
    if not plan.options:
        return
    if plan.transports != ["model"]:
        raise InputError("--model belongs to the model transport", "add --transport model")
    from nhalf.measure.probe.subject import plain_subject

    check_options(plan.options, plain_subject("model").description["options"])
