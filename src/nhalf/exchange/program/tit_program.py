"""A time-independent trace of SimGrid as a program: calls in their order, not timed.

Counts are of elements of a type by its number in SimGrid, bytes if there is none (doubles if
`init` has an argument). What has no tags (before SimGrid 3.20) has one for all. Computing is in
operations, whose rate the user gives; that of a reduction is part of its time on the machine. A
test is left out where its message is waited for later, else it waits. Format: the documentation of
SMPI's trace replay.
"""

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.exchange.program.tit_file import (
    COLLECTIVES,
    COMPLETIONS,
    MESSAGES,
    NO_EFFECT,
    Action,
    input_bytes,
    read_actions,
    size_bytes,
)
from nhalf.exchange.program.written import ScheduleRows
from nhalf.facts.program.program import Program
from nhalf.measure.traced.tables import NO_PARTNER

NOTE = (
    "a time-independent trace of SimGrid: calls are in their order, and their times are not "
    "measured"
)
COMPUTED = "computing is at {:g} operations per second, as given"
_NAMES = {
    "send": ("MPI_Send", "sent"),
    "isend": ("MPI_Isend", "sent"),
    "recv": ("MPI_Recv", "received"),
    "irecv": ("MPI_Irecv", "received"),
}
Key = tuple[int, int, int]
"""Source, target and tag of a message."""


def read_tit(path: Path, flop_rate: float = 0.0) -> Program:
    """The program of a trace; `flop_rate` is how many operations a rank does per second.

    Raises InputError for what is no trace, for computing without a rate, receives from any rank,
    and messages and collective operations that not all of their ranks have.
    """
    ranks = read_actions(path)
    has_tags = not any(map(_is_without_tags, (action for rank in ranks for action in rank)))
    doubles = any(action.name == "init" and action.arguments for rank in ranks for action in rank)
    rows, ends_s, tags = ScheduleRows(), list[float](), dict[int, int]()
    computes = False
    for rank, actions in enumerate(ranks):
        default_bytes = 8 if doubles else 1
        player = _Rank(rank, len(ranks), rows, tags, has_tags, default_bytes, flop_rate)
        for action in _without_polls(actions, rank):
            player.add(action)
        ends_s.append(player.end_s())
        computes = computes or player.computes
    if not len(rows):
        raise InputError(f"{path} holds no message", "name a trace with calls")
    _check_operations(rows, len(ranks), path)
    _take_sizes_of_senders(rows, path)
    return rows.program(path, ends_s, [NOTE, *([COMPUTED.format(flop_rate)] if computes else [])])


def _is_without_tags(action: Action) -> bool:
    """Whether an action has the form that SimGrid had before messages had tags."""
    if action.name in COMPLETIONS:
        return not action.arguments
    return action.name in MESSAGES and len(action.arguments) == 2


def _without_polls(actions: Sequence[Action], rank: int) -> list[Action]:
    """The actions without tests of what is waited for later."""
    chosen, waited, waits_for_all = [], set[tuple[str, ...]](), False
    for action in reversed(actions):
        if action.name == "waitall":
            waits_for_all = True
        elif action.name in COMPLETIONS:
            if action.name == "test" and (waits_for_all or action.arguments in waited):
                continue
            waited.add(action.arguments)
        elif action.name in ("isend", "irecv"):
            partner, tag = (*action.arguments, "", "")[:2]
            ends = (str(rank), partner) if action.name == "isend" else (partner, str(rank))
            waited.discard((*ends, tag))
        chosen.append(action)
    return chosen[::-1]


class _Rank:
    """Adds the calls of a rank; `computes` is whether it has computing in operations."""

    def __init__(
        self,
        rank: int,
        ranks: int,
        rows: ScheduleRows,
        tags: dict[int, int],
        has_tags: bool,
        default_bytes: int,
        flop_rate: float,
    ) -> None:
        self._rank, self._ranks, self._rows, self._tags = rank, ranks, rows, tags
        self._has_tags, self._default_bytes, self._flop_rate = has_tags, default_bytes, flop_rate
        self._now_s = 0.0
        self._begun: list[tuple[Key, int, bool]] = []
        self.computes = False

    def add(self, action: Action) -> None:
        """Add an action; raises InputError for what cannot be done."""
        name = action.name
        if name in NO_EFFECT:
            return
        if name == "sleep":
            self._now_s += _amount(action, 0)
        elif name == "compute":
            self._compute(action)
        elif name in MESSAGES:
            self._message(action)
        elif name == "sendrecv":
            self._both_ways(action)
        elif name in COMPLETIONS:
            self._complete(action)
        elif name == "waitall":
            self._wait_for(list(self._begun))
        else:
            call, kind = COLLECTIVES[name], "collective"
            moved, root = input_bytes(action, self._rank, self._ranks, self._default_bytes)
            self._call((call, kind), (NO_PARTNER if root is None else root, 0, moved))

    def end_s(self) -> float:
        """When the rank ends, after all that is under way."""
        self._wait_for(list(self._begun))
        return self._now_s

    def _call(self, name: tuple[str, str], about: tuple[int, int, int]) -> None:
        self._now_s = self._rows.append((self._rank, 0), name, about, self._now_s)

    def _compute(self, action: Action) -> None:
        operations = _amount(action, 0)
        if operations <= 0:
            return
        if not self._flop_rate:
            raise InputError(
                f"{action.path} has computing in operations, and how many a rank does per second "
                "is not in it",
                "give the rate to nhalf predict or nhalf import, for example --flop-rate 2e9",
            )
        self.computes = True
        self._now_s += operations / self._flop_rate

    def _message(self, action: Action) -> None:
        words = action.arguments
        if self._has_tags and len(words) in (3, 4):
            partner, tag, count, *kind = words
        elif not self._has_tags and len(words) in (2, 3):
            (partner, count, *kind), tag = words, "0"
        else:
            raise action.error("its arguments are not those of a message")
        moved = size_bytes(action, count, kind[0] if kind else "", self._default_bytes)
        self._begin(action, action.name, partner, tag, moved)

    def _begin(self, action: Action, name: str, partner: str, tag: str, moved: int) -> None:
        peer, number = _whole(action, partner.removeprefix("p")), _whole(action, tag)
        is_receive = _NAMES[name][1] == "received"
        if is_receive and (peer < 0 or number < 0):
            raise action.error("which message a receive from any rank or of any tag takes is open")
        if not 0 <= peer < self._ranks:
            raise action.error(f"there are {self._ranks} ranks")
        ends = (peer, self._rank) if is_receive else (self._rank, peer)
        if name[0] == "i":
            self._begun.append(((*ends, number), len(self._rows), is_receive))
        about = (peer, self._tags.setdefault(number, len(self._tags)), moved)
        self._call(_NAMES[name], about)

    def _both_ways(self, action: Action) -> None:
        """Bytes and target of the send, bytes and source of the receive, and their types."""
        if len(action.arguments) not in (4, 6):
            raise action.error("its arguments are not those of a message")
        sent, target, received, source, *kinds = action.arguments
        types = kinds or ["", ""]
        moved = size_bytes(action, received, types[1], self._default_bytes)
        self._begin(action, "irecv", source, "0", moved)
        moved = size_bytes(action, sent, types[0], self._default_bytes)
        self._begin(action, "isend", target, "0", moved)
        self._wait_for(self._begun[-2:])

    def _complete(self, action: Action) -> None:
        """Wait for the message that is named, or else for the last; none if it is over."""
        words = action.arguments
        if not words:
            self._wait_for(self._begun[-1:])
            return
        if len(words) != 3:
            raise action.error("a wait has source, target and tag")
        source, target, tag = (_whole(action, word.removeprefix("p")) for word in words)
        key = (source, target, tag)
        self._wait_for([begun for begun in self._begun if begun[0] == key][:1])

    def _wait_for(self, ended: list[tuple[Key, int, bool]]) -> None:
        if not ended:
            return
        received = [row for _, row, is_receive in ended if is_receive]
        ends_all = len(ended) == len(self._begun) > 1
        self._now_s = self._rows.wait((self._rank, 0), received, ends_all, self._now_s)
        rows = {row for _, row, _ in ended}
        self._begun = [begun for begun in self._begun if begun[1] not in rows]


def _amount(action: Action, place: int) -> float:
    """An argument that is a number from 0 on."""
    try:
        value = float(action.arguments[place])
    except (ValueError, IndexError):
        value = math.nan
    if not 0 <= value < math.inf:
        raise action.error("it has no amount")
    return value


def _whole(action: Action, word: str) -> int:
    try:
        number = int(word)
    except ValueError as error:
        raise action.error(f"{word[:20]!r} is no rank and no tag") from error
    if abs(number) >= 1 << 31:
        raise action.error(f"{word[:20]!r} is no rank and no tag")
    return number


def _check_operations(rows: ScheduleRows, ranks: int, path: Path) -> None:
    """Raises InputError unless all ranks have the same collective operations in one order."""
    calls: list[list[str]] = [[] for _ in range(ranks)]
    columns = (rows.columns[name] for name in ("rank", "call", "kind"))
    for rank, call, kind in zip(*columns, strict=True):
        if kind == "collective":
            calls[rank].append(call)
    for rank, own in enumerate(calls):
        if own != calls[0]:
            raise InputError(
                f"{path}: the collective operations of rank {rank} are not those of rank 0, and "
                "the trace does not say which ranks do one",
                "write it again; operations of some ranks have to be messages",
            )


def _take_sizes_of_senders(rows: ScheduleRows, path: Path) -> None:
    """Receives take the sizes of their messages, since SimGrid may not know them.

    Raises InputError for messages with one end only.
    """
    names = ("rank", "partner", "tag", "kind")
    sizes = rows.columns["size_bytes"]
    sent: dict[Key, list[int]] = {}
    received: list[tuple[Key, int]] = []
    for row, (rank, partner, tag, kind) in enumerate(
        zip(*(rows.columns[name] for name in names), strict=True)
    ):
        if kind == "sent":
            sent.setdefault((rank, partner, tag), []).append(sizes[row])
        elif kind == "received":
            received.append(((partner, rank, tag), row))
    receives = Counter(key for key, _ in received)
    for key in sent.keys() | receives.keys():
        count = len(sent.get(key, ()))
        if count != receives[key]:
            source, target, _ = key
            raise InputError(
                f"{path}: rank {source} sends {count} messages of one tag to rank {target}, which "
                f"receives {receives[key]}",
                "write it again: the trace is cut off or damaged",
            )
    following = {key: iter(counts) for key, counts in sent.items()}
    for key, row in received:
        sizes[row] = next(following[key])
