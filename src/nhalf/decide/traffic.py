"""Predicted throughput of permutations without pauses, between nodes and within them.

Ranks send message after message of the mean size without waiting; shared resources are divided by
max-min fairness. Unpublished values are drawn from their range, so that rates are intervals.

In uniform traffic a rank's next message begins when its last one is through. That is a closed
network of queues, and with exponential sizes its throughput is one over the mean time of a message
beside one of each other rank (product form: F. Baskett, K. Chandy, R. Muntz, F. Palacios, "Open,
closed, and mixed networks of queues with different classes of customers", J. ACM 22, 1975).

Destinations are permutations of native/patterns/bases/traffic.
"""

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.base.errors import InputError, unknown
from nhalf.base.native_files import library
from nhalf.decide.b_eff import range_reasons
from nhalf.machines.draws import Draws, PredictedRate
from nhalf.machines.layout import Layout
from nhalf.machines.machine import Machine
from nhalf.machines.message import Messages
from nhalf.machines.network import LIBRARY
from nhalf.machines.together import ConcurrentMessages

RULES = (
    *("bit-reversal", "butterfly", "complement", "transpose", "shuffle", "neighbour", "cube"),
    *("baseline", "butterfly-all", "baseline-all"),
)
"""Butterfly, cube and baseline have the highest stage, or all stages one after the other; all
stages of cube are `complement`."""
UNIFORM = "uniform"
"""Any other rank, drawn for each message: no permutation."""
UNIFORM_RANKS_MAX = 128
"""More take a minute, for their many draws."""
ALL = "-all"
STAGED = {"butterfly": 2, "baseline": 2, "cube": 1, "butterfly-all": 2, "baseline-all": 2}
"""The least number of bits of rules with stages."""


def destinations(rule: str, ranks: int) -> list[tuple[int, int]]:
    """Pairs of source and destination; a rank that is its own destination sends nothing.

    The largest power of two of ranks takes part. Raises InputError for an unknown rule, and if no
    rank sends.
    """
    if rule not in RULES:
        raise unknown("permutation", rule, [*RULES, UNIFORM])
    if not _sends(rule, ranks):
        raise InputError(f"{rule} of {ranks} ranks sends nothing", "ask for more --ranks")
    return _pairs(rule, ranks)


def drawn_destinations(ranks: int, times: int) -> list[list[tuple[int, int]]]:
    """For this many times, pairs of every rank and another one, drawn alike on every machine.

    Raises InputError for more ranks than UNIFORM_RANKS_MAX.
    """
    if ranks > UNIFORM_RANKS_MAX:
        reason = f"uniform traffic of {ranks} ranks is not predicted"
        raise InputError(reason, f"ask for up to {UNIFORM_RANKS_MAX}, or simulate it")
    further = np.random.default_rng(1).integers(1, ranks, (times, ranks))
    receivers = (np.arange(ranks) + further) % ranks
    return [list(enumerate(row)) for row in receivers.tolist()]


def _pairs(rule: str, ranks: int) -> list[tuple[int, int]]:
    bits, name = ranks.bit_length() - 1, rule.removesuffix(ALL)
    receivers = (ctypes.c_int32 * (1 << bits))()
    library(LIBRARY).nhalf_permutation(name.encode(), bits, name != rule, receivers)
    return [(rank, to) for rank, to in enumerate(receivers) if rank != to]


def _sends(rule: str, ranks: int) -> bool:
    return ranks.bit_length() > STAGED.get(rule, 1) and bool(_pairs(rule, ranks))


def rules_of(rule: str, ranks: int) -> list[str]:
    """The requested rule; if none is, every rule by which some of these ranks send."""
    if rule:
        return [rule]
    rules = [name for name in RULES if _sends(name, ranks)]
    if not rules:
        raise InputError(f"no permutation of {ranks} ranks sends anything", "ask for more --ranks")
    return rules


RANKS_MAX = 512
DRAWS = 200
MESSAGES = 2048
"""This many destinations are drawn; the mean of their times has an error of 1 %."""
UNREADY = (0.5, 1.0)
"""What is left where messages come to ranks that are not ready for them. Published rates are 0.51,
0.57 and 0.70 of the network's on the Sun Fire (16, 32 and 64 ranks), and 0.98 on Myrinet."""
PLACES = {"other-node": "off-node", "same-node": "on-node"}


@dataclass(frozen=True)
class PermutationRate:
    """The joint rate of all senders of a permutation, between nodes or within them.

    `drawn_Bps` is the rate with each draw of what is unpublished.
    """

    to: str
    place: str
    senders: int
    rate: PredictedRate
    published_Bps: float | None
    drawn_Bps: Floats = field(compare=False, repr=False)


@dataclass(frozen=True)
class PredictedTraffic:
    """Rates of permutations of a layout's ranks, and why they are ranges; `bytes` is the mean."""

    machine: str
    layout: Layout
    size_bytes: int
    rows: tuple[PermutationRate, ...]
    reasons: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The output of `nhalf predict traffic --json`."""
        rows = [
            {
                "figure": f"{row.to} {PLACES[row.place]}",
                "senders": row.senders,
                "rate_Bps": row.rate.middle_Bps if row.rate.is_certain else None,
                "rate_Bps_interval": [row.rate.low, row.rate.high],
                "published_Bps": row.published_Bps,
            }
            for row in self.rows
        ]
        whole = {"pattern": "traffic", "machine": self.machine, "ranks": self.layout.ranks}
        where = {
            "nodes": self.layout.hosts,
            "placement": str(self.layout),
            "bytes": self.size_bytes,
        }
        return {**whole, **where, "rows": rows, "notes": list(self.reasons)}


def predict_traffic(
    machine: Machine, rules: Sequence[str], layout: Layout, size_bytes: int, mpi: str = ""
) -> PredictedTraffic:
    """Predict the throughput if all ranks send by each of these rules, messages of this mean size.

    Raises InputError for more ranks than RANKS_MAX or the machine has, messages without bytes, and
    rules by which no rank sends.
    """
    _check(machine, layout, size_bytes)
    draws = Draws(DRAWS)
    together = ConcurrentMessages(Messages(machine, mpi), draws, layout.per_host, cold=True)
    ready = draws.of(UNREADY)
    rows: list[PermutationRate] = []
    for to in rules:
        if to == UNIFORM:
            rows += _uniform(together, layout, size_bytes, ready)
        else:
            rows += _rows(together, to, layout, size_bytes)
    reasons = tuple(range_reasons(machine))
    return PredictedTraffic(machine.name, layout, size_bytes, tuple(rows), reasons)


def _rows(
    together: ConcurrentMessages, to: str, layout: Layout, size_bytes: int
) -> Iterator[PermutationRate]:
    """The rates of one permutation between nodes and within them, as far as it has any."""
    pairs = destinations(to, layout.ranks)
    placed = _placed(layout, pairs)
    rates_Bps = together.rates_Bps(placed, size_bytes)
    away = together.crosses_nodes(placed)
    published = published_Bps(together.machine, to, layout.ranks)
    for place, mask in (("other-node", away), ("same-node", ~away)):
        if mask.any():
            drawn_Bps = rates_Bps[:, mask].sum(axis=1)
            rate = PredictedRate.of(drawn_Bps)
            yield PermutationRate(to, place, int(mask.sum()), rate, published.get(place), drawn_Bps)


def _uniform(
    together: ConcurrentMessages, layout: Layout, size_bytes: int, ready: Floats
) -> Iterator[PermutationRate]:
    """The rates of messages to any other rank, each of which waits for the one before it."""
    ranks = layout.ranks
    drawn = drawn_destinations(ranks, -(-MESSAGES // ranks))
    moments = [_placed(layout, pairs) for pairs in drawn]
    s_per_B = np.mean([1 / together.rates_Bps(pairs, size_bytes) for pairs in moments], axis=(0, 2))
    all_pairs = [(rank, to) for rank in range(ranks) for to in range(ranks) if rank != to]
    away = float(together.crosses_nodes(_placed(layout, all_pairs)).mean())
    published = published_Bps(together.machine, UNIFORM, ranks)
    for place, share in (("other-node", away), ("same-node", 1 - away)):
        if share > 0:
            drawn_Bps = share * ranks * ready / s_per_B
            rate = PredictedRate.of(drawn_Bps)
            yield PermutationRate(UNIFORM, place, ranks, rate, published.get(place), drawn_Bps)


def _placed(layout: Layout, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pairs of ranks by their numbers if the nodes were filled one after the other."""
    if not layout.cyclic:
        return list(pairs)

    def place(rank: int) -> int:
        return rank % layout.hosts * layout.per_host + rank // layout.hosts

    return [(place(a), place(b)) for a, b in pairs]


def _check(machine: Machine, layout: Layout, size_bytes: int) -> None:
    nodes = machine.network.topology.nodes if machine.network else 1
    per_node = machine.node.ranks if machine.node else 0
    if size_bytes < 1:
        raise InputError("traffic without bytes has no rate", "ask for --bytes 10K")
    if not 1 < layout.ranks <= RANKS_MAX:
        raise InputError(
            f"traffic of {layout.ranks} ranks is not predicted", f"ask for 2 to {RANKS_MAX}"
        )
    if (nodes and layout.hosts > nodes) or (per_node and layout.per_host > per_node):
        message = f"{machine.name} has {nodes} nodes of {per_node}: {layout} is too much"
        raise InputError(message, "ask for less, or --set network.topology=...")


def published_Bps(machine: Machine, to: str, ranks: int) -> dict[str, float]:
    """Published rates of a permutation by place; with stages that of the highest, or of all."""
    key = ("traffic", ranks, f"to={to.removesuffix(ALL)}")
    marks = ("all stages composed",) if to.endswith(ALL) else ("", "the highest stage")
    return {
        point.placement: point.rate_Bps
        for point in machine.points
        if (point.pattern, point.ranks, point.axes) == key and point.rate_Bps is not None
        if point.what in marks
    }
