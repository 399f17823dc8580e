"""From a request to a plan: one block, or the blocks of a study."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from nhalf.base.errors import InputError, unknown
from nhalf.base.units import number_in
from nhalf.machines.layout import contrasting_layouts
from nhalf.measure.plan import catalogue
from nhalf.measure.plan.axes import AXIS, parse_ranks
from nhalf.measure.plan.plan import Block, Plan, parse_settings
from nhalf.measure.plan.request import PlanRequest, Where, words
from nhalf.mpi.named_prefix import named_here
from nhalf.sites.placement import CORES, Placement
from nhalf.sites.site import Site, find_site

SOAK_PARTS = 50
"""Parts of a long series; the probe measures them one by one (native/patterns/launch/soak.hpp)."""
SOAK_CALLS_MAX = 10**10
ARRIVAL, FROM_TRACE = "arrival", "trace:"
"""The axis that says when ranks come, and its values that name a trace instead."""


def check_options(text: str, described: Sequence[dict[str, Any]]) -> None:
    """Check 'o_s=1e-6,L=5e-6' against what a probe describes.

    Raises InputError for an unknown name or a value that is not a number from 0 up.
    """
    names = [option["name"] for option in described]
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals:
            raise InputError(f"{part!r} is not written as name=value", "write o_s=1e-6,L=5e-6")
        if name not in names:
            raise unknown("option", name, names)
        if not 0 <= number_in(value) < math.inf:
            raise InputError(f"{name}={value} is not a number from 0 up", "write 1e-6 or 0.05")


def site_of(where: Where) -> Site:
    """Return the site to measure on, from the request and the environment."""
    return find_site(where.hosts, where.host_file_path, where.launcher)


def plan_of(request: PlanRequest, site: Site) -> Plan:
    """Plan a study, or the requested patterns if no study is named.

    Raises InputError for what cannot be read.
    """
    request = soaking(request)
    chosen = catalogue.study(request.study, site.cores) if request.study else None
    blocks, budget_s, transports = _blocks(request, chosen, site)
    blocks = [placed(block, request.given, site) for block in blocks]
    if "placement" in request.given:
        check_hosts(blocks, site)
    plan = Plan(
        transports=transports,
        mpi=named_here(words(request.mpi)),
        blocks=blocks,
        launches=request.launches,
        launches_fixed="launches" in request.given,
        draws_cores="placement" not in request.given,
        budget_s=budget_s,
        precision=parse_precision(request.precision),
        options=request.model,
        seed=request.seed,
        timeout_s=request.timeout_s,
        mpi_prefixes=request.mpi_prefixes,
        study=request.study,
        hosts=request.hosts,
        host_file=request.host_file_path,
        launcher=request.launcher,
        settings=parse_settings(request.setting),
        one_library=chosen is not None and chosen.one_library and "mpi" not in request.given,
    )
    _check_model(plan)
    return plan


def soaking(request: PlanRequest) -> PlanRequest:
    """Turn `--soak` into parts of the pattern `soak`, all in one launch, if it is given.

    Raises InputError for anything but a number of calls of one pattern.
    """
    if not request.soak:
        return request
    try:
        calls = int(float(request.soak))
    except (ValueError, OverflowError):
        calls = 0
    if not SOAK_PARTS <= calls <= SOAK_CALLS_MAX:
        raise InputError(
            f"{request.soak!r} is no number of calls of a long series",
            f"write one from {SOAK_PARTS} to {SOAK_CALLS_MAX:.0e}, e.g. --soak 1e6",
        )
    patterns = words(request.pattern)
    if request.study or request.axis or len(patterns) != 1:
        raise InputError(
            "--soak repeats one pattern with the first values of its axes",
            "name it with --pattern; leave out the study and --axis",
        )
    return replace(
        request,
        pattern="soak",
        axis=(f"of={patterns[0]}", f"calls={-(-calls // SOAK_PARTS)}", f"part=1:{SOAK_PARTS}"),
        sizes=request.sizes if "sizes" in request.given else "8",
        launches=request.launches if "launches" in request.given else 1,
        budget=request.budget or "24h",
        given=request.given | {"launches"},
    )


def _blocks(
    request: PlanRequest, chosen: catalogue.Study | None, site: Site
) -> tuple[list[Block], float, list[str]]:
    """Return the blocks before placement, the seconds for all of them (0: none), the transports."""
    budget_s = request.budget_s
    if chosen is None:
        return [_block(request, site)], budget_s, words(request.transport)
    by_study = chosen.transports if "transport" not in request.given else []
    transports = by_study or words(request.transport)
    return _overridden(chosen.blocks, request, site), budget_s or chosen.budget_s, transports


def placed(block: Block, explicit_options: Collection[str], site: Site) -> Block:
    """Return a block whose placements and numbers of ranks fit each other.

    A layout such as 4x2 implies its number of ranks; if no layout of a study has the requested
    number, ranks are placed on cores. On several hosts, the default is to measure ranks on one
    host and ranks over many hosts separately.
    """
    is_explicit = "placement" in explicit_options
    if site.has_several_hosts and not is_explicit and block.placements == [CORES]:
        one_and_many_hosts = [
            placement
            for ranks in block.ranks
            for placement in contrasting_layouts(ranks, len(site.hosts), site.cores_per_host)
        ]
        return msgspec.structs.replace(block, placements=list(dict.fromkeys(one_and_many_hosts)))
    texts = [text for name in block.placements if (text := site.layout_text(name))]
    if not texts:
        raise InputError("there is one host only: every-host needs several", "give --hosts")
    is_free = "placement" not in explicit_options and block.placements != [CORES]
    numbered = msgspec.structs.replace(block, placements=texts)
    placements = numbered.parsed_placements
    if "ranks" in explicit_options and is_free and not _any_fits(placements, block.ranks):
        return placed(msgspec.structs.replace(block, placements=[CORES]), explicit_options, site)
    layouts = [placement.layout for placement in placements if placement.layout]
    if layouts and "ranks" not in explicit_options:
        block_ranks = block.ranks if len(layouts) < len(placements) else []
        ranks = sorted({*block_ranks, *(layout.ranks for layout in layouts)})
        return msgspec.structs.replace(numbered, ranks=ranks)
    for placement in placements:
        if block.ranks and not _any_fits([placement], block.ranks):
            ranks_text = ", ".join(map(str, block.ranks))
            raise InputError(
                f"--placement {placement.text} does not have {ranks_text} ranks",
                "leave --ranks out",
            )
    return numbered


def _any_fits(placements: Sequence[Placement], ranks: Sequence[int]) -> bool:
    return any(placement.fits(count) for placement in placements for count in ranks)


def check_hosts(blocks: list[Block], site: Site) -> None:
    """Raises an error for placements that need more hosts than there are."""
    for block in blocks:
        for placement in block.parsed_placements:
            for ranks in block.ranks:
                if placement.fits(ranks):
                    site.layout(placement.text, ranks)


def _block(request: PlanRequest, site: Site) -> Block:
    """Return the one block of a run without a study."""
    return Block(
        patterns=words(request.pattern),
        ranks=_ranks(request.ranks, site),
        bytes=request.sizes,
        axes=_all_axes(request),
        placements=placement_texts(request.placements),
    )


def _overridden(blocks: list[Block], request: PlanRequest, site: Site) -> list[Block]:
    """Return the blocks of a study with the user's overrides."""
    changes: dict[str, Any] = {}
    if "transport" in request.given:
        changes["transports"] = None
    if "ranks" in request.given:
        changes["ranks"] = _ranks(request.ranks, site)
    if "sizes" in request.given:
        changes["bytes"] = request.sizes
    if "placement" in request.given:
        changes["placements"] = placement_texts(request.placements)
    if "launches" in request.given:
        changes["launches"] = request.launches
    if "precision" in request.given:
        changes["precision"] = parse_precision(request.precision)
    if "pattern" in request.given:
        blocks = _selected(blocks, words(request.pattern))
    axes = _all_axes(request)
    return [
        msgspec.structs.replace(block, axes={**block.axes, **axes}, **changes) for block in blocks
    ]


def _selected(blocks: list[Block], patterns: list[str]) -> list[Block]:
    """Return the blocks reduced to these patterns."""
    pattern_names = {name for block in blocks for name in block.patterns}
    for name in patterns:
        if name not in pattern_names:
            raise unknown("pattern of this study", name, pattern_names)
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


def _all_axes(request: PlanRequest) -> dict[str, str]:
    """Return the values by axis, including the axis of algorithms."""
    axes = _axes(request.axis)
    if not request.algorithm:
        return axes
    if AXIS in axes:
        raise InputError("--axis algorithm=… and --algorithm are the same", "leave one out")
    return {**axes, AXIS: ",".join(words(request.algorithm))}


def _axes(texts: Iterable[str]) -> dict[str, str]:
    """Split 'pairs=1,2,4' into axis and values, for each text."""
    axes = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not (name.strip() and equals and values.strip()):
            raise InputError(f"{text!r} is not written as axis=values", "write --axis pairs=1,2,4")
        if name.strip() in axes:
            raise InputError(f"axis {name.strip()} is given twice", "give all its values at once")
        axes[name.strip()] = values
    if axes.get(ARRIVAL, "").startswith(FROM_TRACE):
        from nhalf.measure.traced.arrivals import arrival_table

        axes[ARRIVAL] = arrival_table(axes[ARRIVAL].removeprefix(FROM_TRACE))
    return axes


def placement_texts(placements: Iterable[Placement]) -> list[str]:
    """Return placements as a plan stores them. Raises InputError for an unknown one."""
    return [placement.check().text for placement in placements]


def parse_precision(value: float) -> float:
    """Check a relative half-width; raises InputError outside 0 to 1."""
    if not 0 < value < 1:
        raise InputError(
            f"a precision of {value:g} ({100 * value:g} %) is not possible",
            "give a half-width between 0 and 100 %, e.g. 3% or 0.03",
        )
    return value


def _check_model(plan: Plan) -> None:
    """Raises InputError for invalid parameters of the model."""
    if not plan.options:
        return
    if plan.transports != ["model"]:
        raise InputError("--model belongs to the model transport", "add --transport model")
    from nhalf.measure.probe.subject import plain_subject

    check_options(plan.options, plain_subject("model").description["options"])
