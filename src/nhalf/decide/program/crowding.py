"""How much longer operations may take of communicators that work at once and share links."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import permutations

from nhalf.base.errors import NhalfError
from nhalf.facts.program.operations import with_any_root
from nhalf.facts.program.script import Work
from nhalf.machines.composed import follow
from nhalf.machines.draws import Draws
from nhalf.machines.message import Messages
from nhalf.machines.together import ConcurrentMessages

PAIRS_MOST = 20_000
"""What more pairs of ranks share is left open."""
MESSAGE_BYTES = 65536.0
Nodes = tuple[int, ...]
_Key = tuple[str, int, Nodes]
"""A call, its size, and the nodes of its ranks."""


def at_once(works: Iterable[Work]) -> dict[tuple[str, int], list[tuple[int, ...]]]:
    """By call and size the ranks of communicators that may do it at the same time."""
    groups: dict[tuple[str, int], list[tuple[int, ...]]] = defaultdict(list)
    for call, members, size_bytes in sorted(works):
        before = groups[with_any_root(call), size_bytes]
        if call and len(members) > 1 and not any(set(members) & set(group) for group in before):
            before.append(members)
    return groups


def followed_ratio(
    messages: Messages, nodes: Sequence[Nodes], own: Nodes, performed: Iterable[str]
) -> float | None:
    """How many times as long one of several communicators, by the nodes of their ranks, takes
    beside the others, by the messages of an operation; of several ways to do it the least. None if
    none can be followed.
    """
    ratios = []
    for words in performed:
        alone_s, together_s = (_followed_s(messages, some, words) for some in ([own], nodes))
        if alone_s and together_s:
            ratios.append(together_s / alone_s)
    return min(ratios, default=None)


def _followed_s(messages: Messages, nodes: Sequence[Nodes], words: str) -> float:
    """When the last rank ends; 0 if it is not followed."""
    lines: list[str] = []
    for own in nodes:
        members = range(len(lines) // 2, len(lines) // 2 + len(own))
        lines += ["rank", f"perform {words} {' '.join(map(str, members))}"] * len(own)
    answer = follow(messages, [node for own in nodes for node in own], lines)
    return max(answer[1]) if answer else 0.0


def slower_ratios(
    messages: Messages, works: Iterable[Work], nodes: Sequence[int]
) -> dict[_Key, float]:
    """How many times as long at most: where others of the same call and size have other ranks.

    By what every pair of a communicator's ranks moves at the same time as all others, over what it
    moves beside those of its own communicator.
    """
    ratios_of: dict[tuple[tuple[int, ...], ...], list[float]] = {}
    slower_ratio: dict[_Key, float] = {}
    for (call, size_bytes), of_call in at_once(works).items():
        key = tuple(of_call)
        if len(key) > 1 and key not in ratios_of:
            ratios_of[key] = _slower(messages, key, nodes)
        for members, ratio in zip(key, ratios_of.get(key, ()), strict=False):
            place = call, size_bytes, tuple(nodes[rank] for rank in members)
            slower_ratio[place] = max(slower_ratio.get(place, 1.0), ratio)
    return slower_ratio


def _slower(
    messages: Messages, groups: Sequence[tuple[int, ...]], nodes: Sequence[int]
) -> list[float]:
    """By group; 1 where nobody knows what they share."""
    nothing = [1.0] * len(groups)
    if sum(len(group) ** 2 for group in groups) > PAIRS_MOST:
        return nothing
    per_node, ranks_on = max(Counter(nodes).values()), Counter[int]()
    places: dict[int, int] = {}
    for rank in sorted(rank for group in groups for rank in group):
        places[rank] = nodes[rank] * per_node + ranks_on[nodes[rank]]
        ranks_on[nodes[rank]] += 1
    pairs = [list(permutations((places[rank] for rank in group), 2)) for group in groups]
    with suppress(NhalfError):
        shared = ConcurrentMessages(messages, Draws(1), per_node)
        beside = shared.rates_Bps([pair for own in pairs for pair in own], MESSAGE_BYTES)[0]
        ratios = []
        for own in pairs:
            slowest_Bps, beside = min(beside[: len(own)]), beside[len(own) :]
            ratios.append(max(1.0, min(shared.rates_Bps(own, MESSAGE_BYTES)[0]) / slowest_Bps))
        return ratios
    return nothing
