"""For what an algorithm is best: completion, a root that is soon free, or idle processors.

Who overlaps an operation with other work chooses by how long it keeps processors, as Abandah did
for broadcasts (Modeling the Communication and Computation Performance of the IBM SP2, 1995, section
3.9).
"""

from collections.abc import Mapping, Sequence
from functools import partial

from nhalf.base.errors import InputError, unknown
from nhalf.base.operations import has_root
from nhalf.decide.way import COMPOSED, ValidityRange, Way
from nhalf.decide.ways import COMPLETION, with_full_name
from nhalf.machines.algorithms import Algorithm
from nhalf.machines.composed import CRITERIA, RANKS_MAX, Composer
from nhalf.machines.message import Messages
from nhalf.machines.one_wire import MESSAGES, shares_a_wire
from nhalf.machines.parts import parts_of
from nhalf.machines.spread import over_nodes
from nhalf.models.expression import PART_BYTES

ROOT, PROCESSORS = CRITERIA[1:]
IN_WORDS = {
    COMPLETION: "the time of the whole operation",
    ROOT: "the time until the root is free",
    PROCESSORS: "the time of all ranks, added up",
}
CAVEATS = {
    ROOT: "until the root has sent its last message, or received it; with parts of {parts} B, of "
    "nhalf's algorithms alone",
    PROCESSORS: "what messages keep all ranks, added up: at either end as long as one rank's "
    "messages are apart; with parts of {parts} B, of nhalf's algorithms alone",
}


def chosen_by(criterion: str) -> str:
    """What a file says of the time by which it was chosen; '' for completion."""
    return "" if criterion == COMPLETION else f"chosen by {IN_WORDS[criterion]}: --for {criterion}"


def check_criterion(criterion: str, pattern: str) -> None:
    """Raises InputError for an unknown criterion, and for the root of an operation without one."""
    if criterion not in CRITERIA:
        raise unknown("criterion", criterion, CRITERIA)
    if criterion == ROOT and not has_root(pattern):
        raise InputError(f"{pattern} has no root", f"ask for --for {COMPLETION} or {PROCESSORS}")


def kept_ways(
    criterion: str,
    pattern: str,
    messages: Messages,
    algorithms: Mapping[str, Sequence[Algorithm]],
    extrapolate: bool = False,
    part_bytes: int = PART_BYTES,
) -> list[Way]:
    """How long each algorithm keeps the root, or all processors together, its messages followed.

    A library's own operation is none of them: published and fitted times are those of completion.
    Raises InputError if nothing is followed.
    """
    check_criterion(criterion, pattern)
    messages = over_nodes(with_full_name(messages))
    machine = messages.machine
    own = [algorithm for algorithm in algorithms.get(pattern, ()) if algorithm.cost is not None]
    if not own or (pattern in MESSAGES and shares_a_wire(machine)):
        raise InputError(
            f"messages of {pattern} on {machine.name} are not followed, which tell how long it "
            "keeps processors",
            f"ask for --for {COMPLETION}",
        )
    parts = parts_of(messages)
    composer = Composer(messages, parts)
    extent = ValidityRange(
        machine.ranks_max, parts.largest_bytes, machine.ranks_for_users, extrapolate
    )

    def kept_s(algorithm: Algorithm, ranks: int, size_bytes: int) -> float:
        extent.check(ranks, size_bytes)
        is_cut = algorithm.cost is not None and algorithm.cost.cuts
        cell = pattern, algorithm.name, ranks, size_bytes, part_bytes if is_cut else PART_BYTES
        found_s = composer.time_s(*cell, criterion=criterion)
        if found_s is None:
            reason = f"{pattern} on {ranks} ranks has too many messages to follow"
            raise InputError(reason, f"ask for fewer ranks, {RANKS_MAX} at most")
        return found_s

    source = f"{COMPOSED}: each message followed"
    return [
        Way(algorithm.name, partial(kept_s, algorithm), source, extent.holds) for algorithm in own
    ]
