"""Barriers when messages queue on a shared wire or at an adapter.

On a wire shared by all nodes, an operation takes as long as its messages one after the other,
however few rounds it has (Krishnamurthy, "Performance of Barriers and NAS Parallel Benchmarks on
the Intel Clusters", 1998). At an adapter the messages of a node's ranks are serialised, outgoing
and incoming ones, whenever all ranks send in the same round.
"""

from dataclasses import replace

from nhalf.base.arrays import Floats
from nhalf.base.operations import NATIVE
from nhalf.machines.algorithms import Algorithm
from nhalf.machines.machine import Machine
from nhalf.machines.parts import Parts
from nhalf.machines.shared import Amount, middle
from nhalf.models.expression import parse

FOLD = "2 ** floor(log2(p))"
"""The largest power of two that is no more than the ranks: those take the steps of a hypercube."""
MESSAGES = {
    "barrier": {
        NATIVE: f"(2 * {FOLD} * floor(log2(p)) + 8 * (p - {FOLD}))",
        "central": "2 * (p - 1)",
        "central-bcast": "2 * (p - 1)",
        "dissemination": "p * log2(p)",
        "dissemination-mcs": "p * log2(p)",
        "mcs-tree": "2 * (p - 1)",
        "mcs-tree-bcast": "2 * (p - 1)",
        "total-exchange": "p * (p - 1)",
        "tournament": "p",
        "tournament-mcs": "2 * (p - 1)",
    }
}
"""Number of messages by operation and algorithm: dissemination as the study counts it; a tournament
has a message of each loser, and the champion's flag that all receive. The library's barrier is that
of MPICH 1 (its source, intra_fns.c): every two ranks of a hypercube meet, and each rank beyond it
meets its partner before and after. Each meeting counts as two messages, both answered."""


def shares_a_wire(machine: Machine) -> bool:
    """Whether all nodes of a machine share one wire."""
    return any(resource.what == "medium" for resource in machine.shared)


def on_one_wire(operation: str) -> dict[str, Algorithm]:
    """Costs of algorithms on a shared wire by name, if their messages are counted."""
    source = "messages one after the other on a shared wire"
    return {
        name: Algorithm(name, "", source, parse(f"{messages} * T(n)"))
        for name, messages in MESSAGES.get(operation, {}).items()
    }


def waits_at_adapters(machine: Machine) -> tuple[Amount, ...]:
    """How long each message keeps an adapter busy at least; () where that is unknown."""
    if machine.node is None:
        return ()
    return tuple(
        resource.per_message_s for resource in machine.shared if resource.per_message_s is not None
    )


def waiting_at_adapters(machine: Machine, parts: Parts) -> Parts:
    """Parts in which each message waits for those of the other ranks of full nodes."""
    assert machine.node is not None
    other_messages = 2 * machine.node.ranks - 1
    waiting_s = other_messages * middle(waits_at_adapters(machine)[0])
    alone = parts.functions["T"]

    def time_s(size_bytes: Floats) -> Floats:
        return alone(size_bytes) + waiting_s

    sources = (*parts.sources, f"each message waits for {other_messages} at its adapter")
    return replace(parts, functions={**parts.functions, "T": time_s}, sources=sources)
