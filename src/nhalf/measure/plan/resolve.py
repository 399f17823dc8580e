"""A plan checked against this machine: known names, possible numbers of ranks, enough memory."""

from collections.abc import Collection, Sequence

import msgspec

from nhalf.base.errors import InputError, MissingError, unknown
from nhalf.base.units import format_size
from nhalf.measure.plan.axes import (
    axes_for,
    check_algorithms,
    check_axes,
    check_each_has_one,
    without_choice,
)
from nhalf.measure.plan.plan import Block, Plan, memory_bytes
from nhalf.measure.probe.pattern import WORDS, PatternInfo, largest, nearby
from nhalf.measure.probe.subject import Subject

ALL = "all"


def check_blocks(plan: Plan) -> None:
    """Check what needs no probe: sizes and placements. Raises InputError."""
    for block in plan.blocks:
        for placement in block.parsed_placements:
            placement.check()
        # Two ranks hold two messages each: refuse what cannot fit before memory runs out.
        largest_bytes = max(
            (max(block.sizes_on(ranks).size_bytes) for ranks in block.ranks), default=0
        )
        if 4 * largest_bytes > memory_bytes():
            raise InputError(
                f"messages of {format_size(largest_bytes)} do not fit the memory of this machine, "
                f"{format_size(memory_bytes())}",
                "give smaller --bytes",
            )


def resolve(plan: Plan, subjects: Sequence[Subject]) -> Plan:
    """Return the plan with its patterns listed one by one, checked.

    A study skips patterns that nothing here can run (`absent` lists them); naming them is an
    InputError. Raises MissingError if nothing is left.
    """
    strict = not plan.study
    blocks = [_resolved(block, _patterns(subjects, block), strict=strict) for block in plan.blocks]
    plan = msgspec.structs.replace(plan, blocks=blocks)
    if not any(
        _runs(_patterns(subjects, block).get(name), block)
        for block in blocks
        for name in block.patterns
    ):
        reasons = "; ".join(absent(plan, subjects))
        raise MissingError(f"nothing to measure: {reasons}", "choose another study or --ranks")
    return plan


def absent(plan: Plan, subjects: Sequence[Subject]) -> list[str]:
    """Describe patterns that cannot be run here, or not on the requested ranks, a line each."""
    lines: dict[str, None] = {}
    for block in plan.blocks:
        patterns = _patterns(subjects, block)
        for name in block.patterns:
            info = patterns.get(name)
            if info is None:
                lines[f"{name} is absent: these probes do not know it"] = None
            elif not info.present:
                lines[f"{name} is absent: needs {info.needs}"] = None
            else:
                few = [str(ranks) for ranks in block.ranks if ranks < info.ranks_min]
                excluded_ranks = [str(ranks) for ranks in block.ranks if not info.runs_on(ranks)]
                if excluded_ranks and not few:
                    rule = WORDS.get(info.ranks_rule, info.ranks_rule)
                    text = (
                        f"{name} is not run on {', '.join(excluded_ranks)} ranks: it needs {rule}"
                    )
                    lines[text] = None
                if few:
                    lines[
                        f"{name} is not measured with {', '.join(few)}: "
                        f"it needs {info.ranks_min} ranks or more"
                    ] = None
                for class_name, most in _limits(info, block):
                    many = [str(ranks) for ranks in block.ranks if ranks > most]
                    if many:
                        text = f"class {class_name} of {name} is not run on {', '.join(many)} ranks"
                        lines[f"{text}: {most} at most"] = None
                if axes_for(info, block.axes) is None:
                    lines[f"{name} is left out: it has no such algorithm"] = None
                if not block.ranks:
                    lines[f"a part of {name} is left out: it is for machines of more cores"] = None
    return list(lines)


def _resolved(block: Block, patterns: dict[str, PatternInfo], *, strict: bool) -> Block:
    """Return a block with its patterns listed one by one, checked."""
    present = sorted(name for name, info in patterns.items() if info.present)
    names = present if block.patterns == [ALL] else list(dict.fromkeys(block.patterns))
    if strict and block.patterns != [ALL]:
        for name in names:
            check_known([name], patterns)
            if name not in present:
                raise InputError(
                    f"pattern {name} is absent: the transport lacks {patterns[name].needs}",
                    "choose another --transport or --pattern",
                )
            check_ranks(patterns[name], block)
    infos = [patterns[name] for name in names if name in patterns]
    axis_texts = block.axes
    # An unknown pattern may have the axis: a missing axis is an error only if all are known.
    if len(infos) == len(names):
        check_algorithms(axis_texts, infos)
        if strict and block.patterns != [ALL]:
            check_each_has_one(axis_texts, infos)
        else:
            axis_texts = without_choice(axis_texts, infos)
        check_axes(axis_texts, [info.axes for info in infos])
    for info in infos:
        check_memory(info, block, min(placement.hosts for placement in block.parsed_placements))
    return msgspec.structs.replace(block, patterns=names, axes=axis_texts)


def check_known(names: Sequence[str], patterns: Collection[str]) -> None:
    """Raises InputError for a name of no pattern, with the closest ones."""
    for name in names:
        if name not in patterns:
            raise unknown("pattern", name, patterns, "nhalf run --list")


def check_ranks(info: PatternInfo, block: Block) -> None:
    """Raises InputError for a number of ranks that a pattern does not run on; suggests others."""
    if min(block.ranks, default=0) < info.ranks_min:
        raise InputError(
            f"{info.name} needs {info.ranks_min} ranks or more", f"give --ranks {info.ranks_min}"
        )
    for number in block.ranks:
        if not info.runs_on(number):
            suggestions = ", ".join(map(str, nearby(info.ranks_rule, number)))
            raise InputError(
                f"{info.name} runs on {WORDS[info.ranks_rule]}, and {number} is none",
                f"give --ranks such as {suggestions}",
            )
    _check_ranks_of_classes(info, block)


def _check_ranks_of_classes(info: PatternInfo, block: Block) -> None:
    """Raises InputError for more ranks than can share the data of a kernel's class."""
    for name, most in _limits(info, block):
        if max(block.ranks, default=0) > most:
            suggestions = ", ".join(map(str, largest(info.ranks_rule, most)))
            raise InputError(
                f"class {name} of {info.name} runs on {most} ranks at most, and "
                f"{max(block.ranks)} are asked for",
                f"give --ranks such as {suggestions}, or a larger --class",
            )


def _limits(info: PatternInfo, block: Block) -> list[tuple[str, int]]:
    """Return the requested classes with a limit, and their maximum number of ranks."""
    class_names = block.axes.get("class", "").split(",")
    return [(name, info.ranks_max[name]) for name in class_names if name in info.ranks_max]


def check_memory(info: PatternInfo, block: Block, hosts: int) -> None:
    """Raises InputError for a kernel's class that does not fit the memory of this many hosts."""
    for name in block.axes.get("class", "").split(","):
        needed_bytes = int(info.memory_bytes.get(name, 0) / hosts)
        if needed_bytes > memory_bytes():
            raise InputError(
                f"class {name} of {info.name} needs {format_size(needed_bytes)} on each of {hosts} "
                f"hosts, and this one has {format_size(memory_bytes())}",
                "give a smaller --class, or a --placement on more hosts",
            )


def _runs(info: PatternInfo | None, block: Block) -> bool:
    return info is not None and info.present and any(map(info.runs_on, block.ranks))


def _patterns(subjects: Sequence[Subject], block: Block) -> dict[str, PatternInfo]:
    """Return the patterns of a block's transports by name, preferring one that can run it."""
    patterns: dict[str, PatternInfo] = {}
    for subject in subjects:
        if not block.is_for(subject.transport, subject.setting):
            continue
        for name, info in subject.infos.items():
            if name not in patterns or info.present:
                patterns[name] = info
    return patterns
