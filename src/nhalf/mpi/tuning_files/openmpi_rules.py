"""Open MPI's file of dynamic rules as numbers, in versions 1 and 2.

    N collectives: each an id and a number of communicator sizes,
        each a size and a number of message sizes,
            each: message size, algorithm, fan-in and fan-out, segment size,
                in version 2 a number of requests may follow

Blanks separate numbers, '#' begins a comment. The block of the largest communicator size that
is not above the actual one applies; one that is smaller than all takes the first block, therefore a
block of size 0 goes first. Likewise for message sizes, where a first one that is not 0 makes the
library ignore the whole file. Algorithm 0 leaves the choice to the library. Sizes are those of the
whole message (bcast), vector (reduce, allreduce) or all blocks together (the others).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from nhalf.base.errors import FailedError
from nhalf.base.operations import PER_RANK
from nhalf.mpi.decision_table import NATIVE, Rule
from nhalf.mpi.tuner import rejected
from nhalf.mpi.tuning_files.openmpi_numbers import (
    HEADLINE,
    NumberBlocks,
    NumberSteps,
    RuleFile,
    RuleNumbers,
    read_file,
)
from nhalf.mpi.tuning_files.steps import (
    RANK_BLOCKS_MAX,
    Steps,
    blocks_of,
    changed_between,
    rules_from,
)

OPERATION_IDS = {
    "allgather": 0,
    "allreduce": 2,
    "alltoall": 3,
    "barrier": 6,
    "bcast": 7,
    "gather": 9,
    "reduce": 11,
    "reduce-scatter": 13,
    "scatter": 15,
}


def rules_text(
    rules: Sequence[Rule],
    number_of: Callable[[str, str], int],
    fan_of: Callable[[str, str], int],
    version: int,
) -> str:
    """The text of the file; `number_of` and `fan_of` take an operation and an algorithm's name."""
    operations = sorted({rule.operation for rule in rules}, key=OPERATION_IDS.__getitem__)
    lines = [f"{HEADLINE}{version}"] if version > 1 else []
    lines.append(f"{len(operations)} # collectives")
    for operation in operations:
        blocks = blocks_of(rules, operation)
        lines.append(f"{OPERATION_IDS[operation]} # {operation}")
        lines.append(f"{len(blocks)} # communicator sizes")
        for ranks, steps in blocks:
            lines.append(f"{ranks} {len(steps)} # from this many ranks on, number of message sizes")
            factor = ranks if operation in PER_RANK else 1
            for begin_bytes, algorithm in steps:
                name, _, segment = algorithm.partition(":")
                numbers = [begin_bytes * factor, number_of(operation, name)]
                numbers += [fan_of(operation, name), int(segment or 0)]
                lines.append(f"{' '.join(map(str, numbers))} # {algorithm}")
    return "\n".join(lines) + "\n"


def with_rules(
    file: RuleFile,
    rules: Sequence[Rule],
    number_of: Callable[[str, str], int],
    fan_of: Callable[[str, str], int],
) -> RuleFile:
    """A file in which rules decide for their ranks and sizes; everything else stays as it is."""
    blocks = {identity: list(held) for identity, held in file.blocks.items()}
    for rule in reversed(rules):
        identity = OPERATION_IDS[rule.operation]
        name, _, segment = rule.algorithm.partition(":")
        fan = fan_of(rule.operation, name)
        chosen = RuleNumbers(number_of(rule.operation, name), fan, int(segment or 0))
        held = blocks.get(identity) or [(0, [(0, RuleNumbers(0))])]
        # The first block is that of fewer ranks, too.
        held[0] = (0, held[0][1])
        for from_ranks, to_ranks in _ranges(rule):
            held = changed_between(held, from_ranks, to_ranks, _deciding(rule, chosen))
        blocks[identity] = held
    return RuleFile(file.version, blocks)


def _ranges(rule: Rule) -> list[tuple[int, float]]:
    """The ranks of a rule, one by one where its sizes are counted for all of them together."""
    count = rule.to_ranks - rule.from_ranks
    if rule.operation not in PER_RANK or count > RANK_BLOCKS_MAX:
        return [(rule.from_ranks, rule.to_ranks)]
    return [(ranks, ranks) for ranks in range(rule.from_ranks, int(rule.to_ranks) + 1)]


def _deciding(rule: Rule, chosen: RuleNumbers) -> Callable[[int, NumberSteps], NumberSteps]:
    """What a rule makes of the message sizes of a block."""

    def changed(ranks: int, steps: NumberSteps) -> NumberSteps:
        factor = max(ranks, 1) if rule.operation in PER_RANK else 1
        begin, end = rule.from_bytes * factor, (rule.to_bytes + 1) * factor - 1
        return changed_between(steps, begin, end, lambda size_bytes, before: chosen)

    return changed


def read_rules(path: Path, text: str, names_of: Callable[[str], Mapping[int, str]]) -> list[Rule]:
    """The rules in a file; `names_of` gives an operation's algorithms by number.

    The first block is that of fewer ranks as well. Raises FailedError naming the line if the
    library would ignore the file.
    """
    file = read_file(path, text)
    rules: list[Rule] = []
    for identity, blocks in file.blocks.items():
        operation = operation_of(identity)
        if operation:
            from_no_ranks = [(0, blocks[0][1]), *blocks[1:]]
            named_blocks = _named(path, operation, from_no_ranks, names_of(operation))
            rules += rules_from(operation, named_blocks)
    return rules


def operation_of(identity: int) -> str:
    """The operation of a number in the file; '' for one that nhalf does not measure."""
    return next((key for key, number in OPERATION_IDS.items() if number == identity), "")


def first_block_note(file: RuleFile) -> str:
    """Which operations begin with a block of more ranks, which smaller communicators take too."""
    begins = [
        f"{operation_of(identity) or f'collective {identity}'} ({blocks[0][0]} ranks)"
        for identity, blocks in file.blocks.items()
        if blocks[0][0] > 0
    ]
    if not begins:
        return ""
    return f"smaller communicators take the first block as well: {', '.join(begins)}"


def _named(
    path: Path, operation: str, blocks: NumberBlocks, names: Mapping[int, str]
) -> list[tuple[int, Steps]]:
    """Blocks with the names of algorithms, in nhalf's sizes."""
    with_names: list[tuple[int, Steps]] = []
    for ranks, steps in blocks:
        factor = max(ranks, 1) if operation in PER_RANK else 1
        with_names.append(
            (
                ranks,
                [(-(-size // factor), _name(path, operation, names, rule)) for size, rule in steps],
            )
        )
    return with_names


def _name(path: Path, operation: str, names: Mapping[int, str], rule: RuleNumbers) -> str:
    """The name of an algorithm with its segment size; raises FailedError for an unknown one."""
    if rule.algorithm and rule.algorithm not in names:
        error: FailedError = rejected(
            path,
            rule.line,
            f"{operation} has no algorithm {rule.algorithm}, only 0 to {max(names, default=0)}",
        )
        raise error
    if not rule.algorithm:
        return NATIVE
    name = names[rule.algorithm]
    return f"{name}:{rule.segment_bytes}" if rule.segment_bytes else name
