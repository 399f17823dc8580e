# SPDX-License-Identifier: Apache-2.0
"""From the options of `nhalf run` to a plan: one block, or the blocks of a study."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from nhalf.base.errors import InputError, unknown
from nhalf.base.units import parse_duration

if TYPE_CHECKING:
    from nhalf.measure.plan.plan import Block, Plan
    from nhalf.sites.site import Site


def site_of(options: Mapping[str, Any]) -> Site:
    """Where to measure, as the options and the surroundings tell."""
    from nhalf.sites.site import find_site

    return find_site(options["hosts"], host_file(options), options["launcher"])


def plan_of(study: str, options: Mapping[str, Any], given: Collection[str], site: Site) -> Plan:
    """The plan of a study, or of the options alone where `study` is ''.

    `given` are the options that the user named: they override what a study says. Raises
    InputError for what cannot be read.
    """
    from nhalf.measure.plan import catalogue
    from nhalf.measure.plan.plan import Plan
    from nhalf.measure.plan.setting import parse_settings

    if options["style"]:
        from nhalf.present.terminal.style import patterns_of

        options = {**options, "pattern": patterns_of(options["style"], options["pattern"])}
    budget_s = parse_duration(options["budget"]) if options["budget"] else 0.0
    if study:
        chosen = catalogue.study(study, site.cores)
        blocks = _overridden(chosen.blocks, options, given, site)
        budget_s = budget_s or chosen.budget_s
    else:
        blocks = [_block(options, site)]
    blocks = [_placed(block, given, site) for block in blocks]
    if "placement" in given:
        _check_hosts(blocks, site)
    plan = Plan(
        transports=words(options["transport"]),
        mpi=words(options["mpi"]),
        blocks=blocks,
        launches=options["launches"],
        budget_s=budget_s,
        precision=_precision(options["precision"]),
        options=options["model"],
        seed=options["seed"],
        timeout_s=parse_duration(options["timeout"]),
        mpi_prefixes=[str(path.resolve()) for path in options["mpi_prefix"] or []],
        study=study,
        hosts=options["hosts"],
        host_file=host_file(options),
        launcher=options["launcher"],
        settings=parse_settings(options.get("setting") or []),
    )
    _check_model(plan)
    return plan


def words(text: str) -> list[str]:
    """The words of a list, each once."""
    found = [word.strip() for word in text.split(",") if word.strip()]
    if not found:
        raise InputError(f"{text!r} names nothing", "give names separated by commas")
    return list(dict.fromkeys(found))


def host_file(options: Mapping[str, Any]) -> str:
    """The host file of the options, '' where none is given."""
    return str(options["host_file"].resolve()) if options["host_file"] else ""


def _placed(block: Block, given: Collection[str], site: Site) -> Block:
    """A block whose placements and numbers of ranks go together.

    A layout such as 4x2 brings its number of ranks with it. On several hosts, ranks on one host
    and over many are kept apart where nobody says otherwise.
    """
    import msgspec

    from nhalf.machines.layout import both_ways, parse_layout
    from nhalf.sites.placement import CORES, fits

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
    block = msgspec.structs.replace(block, placements=placements)
    layouts = [layout for text in block.placements if (layout := parse_layout(text))]
    if layouts and "ranks" not in given:
        others = block.ranks if len(layouts) < len(block.placements) else []
        ranks = sorted({*others, *(layout.ranks for layout in layouts)})
        return msgspec.structs.replace(block, ranks=ranks)
    for text in block.placements:
        if block.ranks and not any(fits(text, ranks) for ranks in block.ranks):
            asked = ", ".join(map(str, block.ranks))
            raise InputError(f"--placement {text} does not have {asked} ranks", "leave --ranks out")
    return block


def _check_hosts(blocks: list[Block], site: Site) -> None:
    """Placements that need more hosts than there are, before anything is written."""
    from nhalf.sites.placement import fits

    for block in blocks:
        for text in block.placements:
            for ranks in block.ranks:
                if fits(text, ranks):
                    site.layout(text, ranks)


def _block(options: Mapping[str, Any], site: Site) -> Block:
    """The one block of a run without a study."""
    from nhalf.measure.plan.plan import Block

    return Block(
        patterns=words(options["pattern"]),
        ranks=_ranks(options["ranks"], site),
        bytes=options["sizes"],
        axes=_all_axes(options),
        placements=_placements(options["placement"]),
    )


def _overridden(
    blocks: list[Block], options: Mapping[str, Any], given: Collection[str], site: Site
) -> list[Block]:
    """The blocks of a study with what the user wants otherwise."""
    import msgspec

    changes: dict[str, Any] = {}
    if "ranks" in given:
        changes["ranks"] = _ranks(options["ranks"], site)
    if "sizes" in given:
        changes["bytes"] = options["sizes"]
    if "placement" in given:
        changes["placements"] = _placements(options["placement"])
    if "launches" in given:
        changes["launches"] = options["launches"]
    if "precision" in given:
        changes["precision"] = _precision(options["precision"])
    if "pattern" in given:
        blocks = _selected(blocks, words(options["pattern"]))
    axes = _all_axes(options)
    return [
        msgspec.structs.replace(block, axes={**block.axes, **axes}, **changes) for block in blocks
    ]


def _selected(blocks: list[Block], patterns: list[str]) -> list[Block]:
    """The blocks with these patterns only."""
    import msgspec

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
    from nhalf.measure.plan.axes import parse_ranks

    ranks = parse_ranks(text, site.cores)
    if not ranks:
        raise InputError(f"{text!r} is no number of ranks here", "write 2 or 2,4,8")
    return ranks


def _all_axes(options: Mapping[str, Any]) -> dict[str, str]:
    """Values by axis, the algorithms among them."""
    from nhalf.measure.plan.algorithm import AXIS

    axes = _axes(options["axis"])
    if not options["algorithm"]:
        return axes
    if AXIS in axes:
        raise InputError("--axis algorithm=… and --algorithm are the same", "leave one out")
    return {**axes, AXIS: ",".join(words(options["algorithm"]))}


def _axes(texts: list[str] | None) -> dict[str, str]:
    """Values by axis from 'pairs=1,2,4', as they were written."""
    axes = {}
    for text in texts or []:
        name, equals, values = text.partition("=")
        if not (name.strip() and equals and values.strip()):
            raise InputError(f"{text!r} is not written as axis=values", "write --axis pairs=1,2,4")
        if name.strip() in axes:
            raise InputError(f"axis {name.strip()} is given twice", "give all its values at once")
        axes[name.strip()] = values
    return axes


def _placements(text: str) -> list[str]:
    from nhalf.sites.placement import check_placement

    return [check_placement(name) for name in words(text)]


def _precision(value: float) -> float:
    if not 0 < value < 1:
        raise InputError(f"a precision of {value} is not possible", "give a fraction such as 0.01")
    return value


def _check_model(plan: Plan) -> None:
    """Parameters of the model are checked before anything is written."""
    if not plan.options:
        return
    if plan.transports != ["model"]:
        raise InputError("--model belongs to the model transport", "add --transport model")
    from nhalf.measure.plan.options import check_options
    from nhalf.measure.probe.subject import plain_subject

    check_options(plan.options, plain_subject("model").description["options"])
