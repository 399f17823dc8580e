"""Schedules in GOAL, as text or as LogGOPSim's txt2bin makes binary files of it.

Both hold, for each rank, operations (send, recv, calc in nanoseconds) and which of them others
require to be over, or to have begun (`irequires`). The format is that of txt2bin and its parser in
https://github.com/spcl/LogGOPSim.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nhalf.base.errors import InputError

SEND, RECEIVE, CALCULATE = "send", "recv", "calc"
COOKIE = 4223
"""The first number of a binary schedule."""
RANKS_MAX = 1 << 20
ANY = (1 << 32) - 1
"""A receive from any rank, or of any tag."""
BEGINNING = 4096
"""The first bytes of a file, which tell its format."""
_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_RANKS = re.compile(r"\s*num_ranks[ \t]+(\d+)")
_RANK = re.compile(r"rank[ \t]+(\d+)[ \t]*\{$")
_OPERATION = re.compile(
    r"(?:(?P<label>[a-zA-Z]\w*)[ \t]*:[ \t]*)?(?:calc[ \t]+(?P<time>\d+)|"
    r"(?P<kind>send|recv)[ \t]+(?P<size>\d+)b[ \t]+(?:to|from)[ \t]+(?P<peer>-1|\d+)"
    r"(?:[ \t]+tag[ \t]+(?P<tag>-1|\d+))?)(?:[ \t]+cpu[ \t]+(?P<cpu>\d+))?(?:[ \t]+nic[ \t]+\d+)?$"
)
_REQUIREMENT = re.compile(r"([a-zA-Z]\w*)[ \t]+(i?)requires[ \t]+([a-zA-Z]\w*)$")
_NODE = np.dtype(
    [
        ("required", "<u4"), ("kind", "u1"), ("peer", "<u4"), ("amount", "<u8"), ("tag", "<u4"),
        ("cpu", "u1"), ("nic", "u1"), ("after", "<u4"), ("after_at", "<u4"), ("begun", "<u4"),
        ("begun_at", "<u4"),
    ]
)  # fmt: skip
_KINDS = {1: SEND, 2: RECEIVE, 3: CALCULATE}


@dataclass(slots=True)
class GoalOperation:
    """An operation: bytes, or nanoseconds of a calculation; the places of what it requires.

    `after` have to be over, `begun` to have begun. `peer` is ANY of a receive from any rank.
    """

    kind: str
    amount: int
    peer: int = 0
    tag: int = 0
    cpu: int = 0
    after: list[int] = field(default_factory=list)
    begun: list[int] = field(default_factory=list)


GoalRanks = list[list[GoalOperation]]


def is_goal(path: Path) -> bool:
    """Whether a file begins as a schedule does, text or binary."""
    try:
        with path.open("rb") as file:
            start = file.read(BEGINNING)
    except OSError:
        return False
    text = _COMMENTS.sub("", start.decode("utf-8", errors="replace"))
    return _is_binary(start) or bool(_RANKS.match(text))


def read_goal(path: Path) -> GoalRanks:
    """The operations of each rank; raises InputError for what is no schedule."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    if _is_binary(content):
        return _of_binary(content, path)
    return _of_text(content.decode("utf-8", errors="replace"), path)


def _is_binary(content: bytes) -> bool:
    return content[:8] == COOKIE.to_bytes(8, "little")


def _no_schedule(path: Path, reason: str) -> InputError:
    return InputError(f"{path} is no schedule in GOAL: {reason}", "write it again")


def _ranks_of(count: int, path: Path) -> GoalRanks:
    if not 0 < count <= RANKS_MAX:
        raise _no_schedule(path, f"{count} ranks")
    return [[] for _ in range(count)]


def _of_text(text: str, path: Path) -> GoalRanks:
    # What a comment covers stays as lines, so that their numbers are those of the file.
    text = _COMMENTS.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    header = _RANKS.match(text)
    if header is None:
        raise _no_schedule(path, "it does not begin with num_ranks")
    ranks = _ranks_of(int(header[1]), path)
    operations: list[GoalOperation] | None = None
    labels: dict[str, int] = {}
    first_line = text.count("\n", 0, header.end()) + 1
    for number, line in enumerate(text[header.end() :].split("\n"), first_line):
        words = line.strip()
        if not words:
            continue
        where = f"line {number} has {words[:60]!r}"
        if operations is None:
            rank = _RANK.match(words)
            if rank is None or int(rank[1]) >= len(ranks):
                raise _no_schedule(path, where)
            operations, labels = ranks[int(rank[1])], {}
        elif words == "}":
            operations = None
        elif not _add(words, operations, labels):
            raise _no_schedule(path, where)
    if operations is not None:
        raise _no_schedule(path, "its last rank has no end")
    return ranks


def _add(words: str, operations: list[GoalOperation], labels: dict[str, int]) -> bool:
    """Add the operation or requirement of a line; False if it is neither."""
    operation_line = _OPERATION.match(words)
    if operation_line is not None:
        label, time, kind, size, peer, tag, cpu = operation_line.groups()
        if label is not None:
            labels[label] = len(operations)
        processor = int(cpu or 0)
        if time is not None:
            operations.append(GoalOperation(CALCULATE, int(time), cpu=processor))
        else:
            partner, number = (int(word) % (ANY + 1) for word in (peer, tag or "0"))
            operations.append(GoalOperation(kind, int(size), partner, number, processor))
        return True
    needs = _REQUIREMENT.match(words)
    if needs is None or needs[1] not in labels or needs[3] not in labels:
        return False
    operation = operations[labels[needs[1]]]
    (operation.begun if needs[2] else operation.after).append(labels[needs[3]])
    return True


def _of_binary(content: bytes, path: Path) -> GoalRanks:
    """The ranks of a binary schedule: a table of where each begins and ends, then their nodes."""
    try:
        (count,) = np.frombuffer(content, "<u4", 1, 8)
        ranks = _ranks_of(int(count), path)
        spans = np.frombuffer(content, "<u8", 2 * len(ranks), 14).reshape(-1, 2) + 8
        for rank, (start, end) in enumerate(spans.tolist()):
            ranks[rank].extend(_of_nodes(content[start:end]))
    except (ValueError, IndexError, KeyError) as error:
        raise _no_schedule(path, "it is damaged") from error
    return ranks


def _of_nodes(part: bytes) -> Iterator[GoalOperation]:
    """The operations of a rank; a node has those that depend on it, by their places."""
    nodes, roots = np.frombuffer(part, "<u4", 2, 0).tolist()
    start = 8 + 4 * roots
    table = np.frombuffer(part, _NODE, nodes, start)
    dependent = np.frombuffer(part, "<u4", -1, start + nodes * _NODE.itemsize)
    operations = [
        GoalOperation(_KINDS[kind], amount, peer, tag, cpu)
        for kind, amount, peer, tag, cpu in table[["kind", "amount", "peer", "tag", "cpu"]].tolist()
    ]
    for place, node in enumerate(table):
        for later in _named(dependent, int(node["after_at"]), int(node["after"])):
            operations[later].after.append(place)
        for later in _named(dependent, int(node["begun_at"]), int(node["begun"])):
            operations[later].begun.append(place)
    yield from operations


def _named(dependent: NDArray[np.uint32], start: int, count: int) -> list[int]:
    if start + count > len(dependent) and count:
        raise IndexError
    places: list[int] = dependent[start : start + count].tolist()
    return places
