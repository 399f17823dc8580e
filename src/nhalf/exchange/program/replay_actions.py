"""A timeline as the actions that SimGrid's SMPI replays, one text for each rank.

Time outside MPI is slept. Barriers, all-to-alls and allgathers of all ranks are left to SMPI and
its choice of algorithms; others, and those of some ranks, are written as messages: the format knows
one communicator only. The format is that of "time-independent traces" of SimGrid 3.32 (F. Desprez
et al., 2011).

SimGrid 3.32 fails if a rank ends while its last message is under way. So at the end all ranks sleep
for AFTERWARDS_S, which has to be subtracted, or meet in a barrier.

Collective operations as messages, for programs without collective operations.

Broadcasts and reductions are binomial trees, gathers and scatters one message for each pair with
the root, all-to-alls one for each pair of ranks; all others are dissemination.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nhalf.base.errors import InputError
from nhalf.base.operations import BY_NAME
from nhalf.facts.program.operations import operation
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import (
    COLLECTIVE,
    POST,
    SEND,
    WAIT,
    Actor,
    Message,
    ScheduledCall,
    members_of,
    paired_messages,
    schedule,
)


@dataclass(frozen=True)
class Round:
    """One step of a rank: a send, a receive, or both at once."""

    to: int | None
    source: int | None
    size_bytes: int


def rounds_of(step: ScheduledCall, rank: int, ranks: Sequence[int]) -> Iterator[Round]:
    """The steps of a rank in a collective operation among `ranks`."""
    name, size_bytes, count = operation(step.call), step.size_bytes, len(ranks)
    position = ranks.index(rank)
    root = ranks.index(step.partner) if step.partner in ranks else 0
    row = BY_NAME.get(name, BY_NAME["barrier"])
    if row.is_rooted and not row.has_blocks:
        downwards = row.flow == "from_root"
        yield from _tree(downwards, (position - root) % count, root, ranks, size_bytes)
    elif row.is_rooted:
        partners = (
            [ranks[root]] if position != root else [member for member in ranks if member != rank]
        )
        takes = (position == root) == (row.flow == "to_root")
        for partner in partners:
            yield Round(None if takes else partner, partner if takes else None, size_bytes)
    elif (row.flow, row.data) == ("among_all", "blocks"):
        for by in range(1, count):
            to, source = ranks[(position + by) % count], ranks[(position - by) % count]
            yield Round(to, source, size_bytes // count)
    else:
        by = 1
        while by < count:
            yield Round(ranks[(position + by) % count], ranks[(position - by) % count], size_bytes)
            by *= 2


def _tree(
    downwards: bool, place: int, root: int, ranks: Sequence[int], size_bytes: int
) -> Iterator[Round]:
    count = len(ranks)
    parent, children = binomial(place, count)
    above = [] if parent is None else [ranks[(parent + root) % count]]
    below = [ranks[(child + root) % count] for child in children]
    first, last = (above, below) if downwards else (below[::-1], above)
    for source in first:
        yield Round(None, source, size_bytes)
    for to in last:
        yield Round(to, None, size_bytes)


def binomial(place: int, count: int) -> tuple[int | None, list[int]]:
    """The parent of a place in the binomial tree of place 0, and its children, farthest first."""
    step = 1
    while step < count and not place & step:
        step *= 2
    children = []
    parent = place - step if place else None
    while step > 1:
        step //= 2
        if place + step < count:
            children.append(place + step)
    return parent, children


BYTE = 6
SLEEP_MIN_S = 1e-9
AFTERWARDS_S = 1000.0
SLEEP, BARRIER = f"sleep {AFTERWARDS_S}", "barrier"
"""What ranks do at the end."""
SPLIT_BYTES = 2048
"""From this size on MPICH's allreduce divides the vector among the ranks."""


class _Numbers:
    """A unique tag for each message between two ranks."""

    def __init__(self) -> None:
        self._tags: dict[tuple[object, ...], int] = {}
        self._next: dict[tuple[int, int], int] = {}

    def of(self, source: int, target: int, *key: object) -> int:
        """The tag of a message, equal at both ends."""
        whole = (source, target, *key)
        if whole not in self._tags:
            self._tags[whole] = self._next.get((source, target), 0)
            self._next[source, target] = self._tags[whole] + 1
        return self._tags[whole]


def check_timeline(program: Program, needs: str) -> None:
    """Raises InputError for a program of which only counts are known; `needs` says why."""
    if program.timeline.is_empty():
        remedy = "trace the program with --detail timeline"
        raise InputError(f"{program.path} has counts only, and {needs}", remedy)


def replay_actions(
    program: Program,
    computing_ratio: float = 1.0,
    afterwards: str = SLEEP,
    actors: Sequence[Actor] | None = None,
) -> list[str]:
    """The actions of each rank; `afterwards` is what it does at the end. `actors` replace those of
    the program's schedule.

    Raises InputError without a timeline, and if a rank has several threads that communicate.
    """
    actors = schedule(program) if actors is None else actors
    check_timeline(program, "a simulation needs the order of the calls")
    if len({actor.rank for actor in actors}) < len(actors):
        remedy = "of such a program the actions of a rank have no order"
        raise InputError(f"in {program.path} several threads of a rank communicate", remedy)
    paired, members, numbers = paired_messages(program), members_of(actors), _Numbers()
    texts = {
        actor.rank: "".join(
            f"{actor.rank} {line}\n"
            for line in (
                *("init", *_lines(actor, computing_ratio, program.ranks, paired, members, numbers)),
                *(afterwards, "finalize"),
            )
        )
        for actor in actors
    }
    empty = f"{{0}} init\n{{0}} {afterwards}\n{{0}} finalize\n"
    return [texts.get(rank, empty.format(rank)) for rank in range(program.ranks)]


def _lines(
    actor: Actor,
    computing_ratio: float,
    ranks: int,
    paired: set[Message],
    members: dict[int, list[int]],
    numbers: _Numbers,
) -> Iterator[str]:
    yield from _sleep(actor.begin_s)
    sent = []
    for step in actor.steps:
        yield from _sleep(step.before_s * computing_ratio)
        if step.kind == COLLECTIVE:
            yield from _collective(step, actor.rank, members[step.communicator], ranks, numbers)
        elif step.kind == WAIT:
            for message in step.completes:
                if message in paired:
                    yield _wait(message, numbers)
        elif step.message in paired and step.message is not None:
            line, is_begun = _message(step, step.message, numbers)
            yield line
            if is_begun:
                sent.append(step.message)
    for message in sent:
        yield _wait(message, numbers)
    yield from _sleep(actor.after_s * computing_ratio)


def _sleep(time_s: float) -> Iterator[str]:
    if time_s >= SLEEP_MIN_S:
        yield f"sleep {time_s:.9f}"


def _wait(message: Message, numbers: _Numbers) -> str:
    source, target = message[:2]
    return f"wait {source} {target} {numbers.of(source, target, message)}"


def _message(step: ScheduledCall, message: Message, numbers: _Numbers) -> tuple[str, bool]:
    """The line of a message, and whether it is a send that has to be waited for at the end."""
    source, target = message[:2]
    tag = numbers.of(source, target, message)
    if step.kind == SEND:
        name = "send" if step.blocks else "isend"
        return f"{name} {target} {tag} {step.size_bytes} {BYTE}", not step.blocks
    name = "irecv" if step.kind == POST else "recv"
    return f"{name} {source} {tag} {step.size_bytes} {BYTE}", False


def _collective(
    step: ScheduledCall, rank: int, members: Sequence[int], ranks: int, numbers: _Numbers
) -> Iterator[str]:
    native_actions = _native_actions(step, ranks) if len(members) == ranks else []
    if native_actions:
        yield from native_actions
        return
    key = ("collective", step.communicator, step.number)
    for place, exchange in enumerate(rounds_of(step, rank, members)):
        if exchange.source is not None:
            tag = numbers.of(exchange.source, rank, *key, place if exchange.to is not None else 0)
            begin = "irecv" if exchange.to is not None else "recv"
            yield f"{begin} {exchange.source} {tag} {exchange.size_bytes} {BYTE}"
        if exchange.to is not None:
            tag_to = numbers.of(
                rank, exchange.to, *key, place if exchange.source is not None else 0
            )
            yield f"send {exchange.to} {tag_to} {exchange.size_bytes} {BYTE}"
            if exchange.source is not None:
                yield f"wait {exchange.source} {rank} {tag}"


def _native_actions(step: ScheduledCall, ranks: int) -> list[str]:
    """The actions of an operation among all ranks; none if it has to be written as messages.

    Replayed broadcasts and reductions end SimGrid 3.32 (segmentation fault) with MPICH's choice of
    algorithms: they are messages here, except large allreduces, which are a reduce-scatter and an
    allgather in MPICH, and move the same bytes as these actions.
    """
    name, size_bytes = operation(step.call), step.size_bytes
    blocks = f"{size_bytes // ranks} {size_bytes // ranks} {BYTE} {BYTE}"
    if name == "barrier":
        return ["barrier"]
    if name in ("alltoall", "alltoallv"):
        return [f"alltoall {blocks}"]
    if name == "allgather":
        return [f"allgather {size_bytes} {size_bytes} {BYTE} {BYTE}"]
    if name == "allreduce" and size_bytes >= max(SPLIT_BYTES, ranks):
        return [f"alltoall {blocks}", f"allgather {blocks}"]
    return []
