"""Open MPI's file of dynamic rules as JSON, from version 6 on; the first matching rule applies.

A block of rules may be for communicators whose ranks share a node, or are alone on theirs. Keys and
values are those of tuned_dynamic_file_schema.json in Open MPI's documentation, but for the name of
reduce_scatter_block, for which the library takes the one that its parameters have.

Open MPI silently ignores a rule with an unknown algorithm, and the whole file for any other error.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nhalf.base.errors import FailedError
from nhalf.base.operations import CALLS, PER_RANK
from nhalf.mpi.decision_table import NATIVE, Rule, blocks_of, call_of

VERSION = 3
_TOP = {"rule_file_version", "module", "collectives"}
_BLOCK = {"comm_size_min", "comm_size_max", "comm_rank_distribution", "rules"}
ANY, SINGLE_NODE, ONE_PER_NODE = "any", "single-node", "one-per-node"
DISTRIBUTIONS = (ANY, SINGLE_NODE, ONE_PER_NODE)
_RULE = {"msg_size_min", "msg_size_max", "alg", "faninout", "seg_size", "reqs"}


def distribution(nodes: int, ranks: int) -> str:
    """What the file calls the placement of ranks on nodes; no nodes are unknown ones."""
    if nodes == 1:
        return SINGLE_NODE
    return ONE_PER_NODE if nodes == ranks else ANY


def json_text(
    rules: Sequence[Rule],
    fan_of: Callable[[str, str], int],
    distribution_of: Callable[[int], str] = lambda ranks: ANY,
) -> str:
    """The text of the file; `fan_of` takes an operation and the name of an algorithm.

    `distribution_of` takes the number of ranks from which rules hold.
    """
    collectives: dict[str, list[dict[str, Any]]] = {}
    for operation in sorted({rule.operation for rule in rules}):
        blocks = blocks_of(rules, operation)
        blocks_json = collectives[call_of(operation)] = []
        for number, (ranks, steps) in enumerate(blocks):
            last = number + 1 == len(blocks)
            factor = ranks if operation in PER_RANK else 1
            entries = []
            for place, (begin_bytes, algorithm) in enumerate(steps):
                if algorithm == NATIVE:
                    continue
                name, _, segment = algorithm.partition(":")
                final = place + 1 == len(steps)
                entry: dict[str, Any] = {
                    "msg_size_min": begin_bytes * factor,
                    "msg_size_max": "inf" if final else steps[place + 1][0] * factor - 1,
                    "alg": name,
                }
                if fan_of(operation, name):
                    entry["faninout"] = fan_of(operation, name)
                if segment:
                    entry["seg_size"] = int(segment)
                entries.append(entry)
            if entries:
                limits: dict[str, Any] = {"comm_size_min": ranks}
                if not last:
                    limits["comm_size_max"] = blocks[number + 1][0] - 1
                if distribution_of(ranks) != ANY:
                    limits["comm_rank_distribution"] = distribution_of(ranks)
                blocks_json.append({**limits, "rules": entries})
    whole = {"rule_file_version": VERSION, "module": "tuned", "collectives": collectives}
    return json.dumps(whole, indent=1) + "\n"


def json_with(text: str, added_text: str) -> str:
    """A file with the blocks of another one before its own.

    Behind the rules of each stand those that held for its ranks, so that they decide where they
    did, whether the library goes on to the next block or not.
    """
    whole, added = json.loads(text), json.loads(added_text)
    collectives = dict(whole["collectives"])
    for name, blocks in added["collectives"].items():
        own = collectives.get(name, [])
        parts = [part for block in blocks for part in _parts(block, own)]
        collectives[name] = [*(_before(part, own) for part in parts), *own]
    return json.dumps({**whole, "collectives": collectives}, indent=1) + "\n"


def _parts(block: dict[str, Any], own: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A block cut where one of a file's own begins or ends."""
    first, last = block.get("comm_size_min", 0), float(block.get("comm_size_max", "inf"))
    ends = [float(held.get("comm_size_max", "inf")) for held in own]
    begins = {held.get("comm_size_min", 0) for held in own}
    begins |= {int(end) + 1 for end in ends if math.isfinite(end)}
    inside = sorted({first, *(begin for begin in begins if first < begin <= last)})
    limits = [*(begin - 1 for begin in inside[1:]), block.get("comm_size_max", "inf")]
    return [
        {**block, "comm_size_min": begin, "comm_size_max": end}
        for begin, end in zip(inside, limits, strict=True)
    ]


def _before(block: dict[str, Any], own: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A block with the rules of the first of a file's own that holds for its first ranks."""
    ranks = block.get("comm_size_min", 0)
    placed = (ANY, block.get("comm_rank_distribution", ANY))
    for held in own:
        last = held.get("comm_size_max", "inf")
        is_within = held.get("comm_size_min", 0) <= ranks <= float(last)
        if is_within and held.get("comm_rank_distribution", ANY) in placed:
            return {**block, "rules": [*block["rules"], *held["rules"]]}
    return block


def read_json(path: Path, text: str, numbers_of: Callable[[str], Mapping[str, int]]) -> list[Rule]:
    """The rules in a file; `numbers_of` gives an operation's algorithms by name."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _wrong(path, "", f"it is not JSON: {error}") from None
    _keys(path, "the file", whole, _TOP, {"collectives"})
    if whole.get("rule_file_version", VERSION) != VERSION:
        raise _wrong(path, "rule_file_version", f"it is not {VERSION}")
    if not isinstance(whole["collectives"], dict):
        raise _wrong(path, "collectives", "it is not an object")
    names = {call: operation for operation, call in CALLS.items()}
    rules: list[Rule] = []
    for name, blocks in whole["collectives"].items():
        operation = str(names.get(name, name))
        numbers_by_name = numbers_of(operation)
        if not numbers_by_name:
            raise _wrong(path, name, "there is no such collective with a choice")
        if not isinstance(blocks, list):
            raise _wrong(path, name, "it is not a list")
        for number, block in enumerate(blocks):
            rules += _block(path, f"{name}[{number}]", block, (operation, numbers_by_name))
    return rules


def _block(
    path: Path, where: str, block: Any, collective: tuple[str, Mapping[str, int]]
) -> list[Rule]:
    """The rules of one range of communicator sizes."""
    operation, numbers_by_name = collective
    _keys(path, where, block, _BLOCK, {"rules"})
    low, high = (block.get("comm_size_min", 0), block.get("comm_size_max", "inf"))
    from_ranks, to_ranks = (_end(path, where, value) for value in (low, high))
    if block.get("comm_rank_distribution", ANY) not in DISTRIBUTIONS:
        listed = ", ".join(DISTRIBUTIONS)
        raise _wrong(path, where, f"comm_rank_distribution is none of {listed}")
    factor = max(from_ranks, 1) if operation in PER_RANK else 1
    rules = []
    for number, entry in enumerate(block["rules"]):
        place = f"{where}.rules[{number}]"
        _keys(path, place, entry, _RULE, {"alg"})
        names = {number: name for name, number in numbers_by_name.items()}
        algorithm = names.get(entry["alg"], entry["alg"])
        if algorithm not in numbers_by_name:
            raise _wrong(path, place, f"{operation} has no algorithm {entry['alg']!r}")
        first, last = entry.get("msg_size_min", 0), entry.get("msg_size_max", "inf")
        from_bytes, to_bytes = (_end(path, place, value) for value in (first, last))
        if from_bytes > to_bytes or from_ranks > to_ranks:
            raise _wrong(path, place, "nothing can match an empty range")
        end_bytes = to_bytes if math.isinf(to_bytes) else (int(to_bytes) + 1) // factor - 1
        begin_bytes = -(-int(from_bytes) // int(factor))
        segment = entry.get("seg_size", 0)
        algorithm_name = f"{algorithm}:{segment}" if segment else str(algorithm)
        rules.append(
            Rule(operation, int(from_ranks), to_ranks, begin_bytes, end_bytes, algorithm_name)
        )
    return rules


def _keys(path: Path, where: str, value: Any, allowed: set[str], required: set[str]) -> None:
    if not isinstance(value, dict):
        raise _wrong(path, where, "it is not an object")
    for name in sorted(set(value) - allowed):
        raise _wrong(path, where, f"{name!r} means nothing")
    for name in sorted(required - set(value)):
        raise _wrong(path, where, f"{name!r} is missing")


def _end(path: Path, where: str, value: Any) -> float:
    if isinstance(value, str) and value.lower() == "inf":
        return math.inf
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _wrong(path, where, f"{value!r} is neither a number nor inf")
    return value


def _wrong(path: Path, where: str, why: str) -> FailedError:
    text = f"{path}, {where}: {why}" if where else f"{path}: {why}"
    return FailedError(text, "the library would ignore it silently")
