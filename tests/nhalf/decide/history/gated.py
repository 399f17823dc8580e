"""Gates of a cluster of four nodes, of which a core, a node's links and a link become slower."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import combinations

import numpy as np

from nhalf.store.gates import PAIRS, GateRecord

BEGIN = datetime(2026, 3, 1, 4, tzinfo=UTC)
NODES = ("n1", "n2", "n3", "n10")
NOISE = 0.01
Slower = Callable[[str, int], float]


def cluster(
    gates: int, slower: Slower = lambda name, gate: 1.0, seed: int = 1, noise: float = NOISE
) -> Iterator[GateRecord]:
    """A gate of each node and one of all pairs a day; `slower` has a factor by 'n3 core 0'."""
    random = np.random.default_rng(seed)

    def seen(node: str, at: datetime, gate: int, names: list[str]) -> GateRecord:
        about = "" if node.startswith(PAIRS) else f"{node} "
        times_s = {
            name: float(np.exp(noise * random.standard_normal())) * slower(about + name, gate)
            for name in names
        }
        return GateRecord(node=node, at=at, verdict="go", times_s=times_s, counts=True)

    for gate in range(gates):
        at = BEGIN + timedelta(days=gate)
        for number, node in enumerate(NODES):
            names = ["core 0", "core 1", "memory 0", "messages"]
            yield seen(node, at + timedelta(minutes=number), gate, names)
        pairs = [f"{kind} {a} {b}" for kind in ("latency", "transfer")
                 for a, b in combinations(sorted(NODES), 2)]  # fmt: skip
        yield seen(f"{PAIRS}n1", at + timedelta(hours=1), gate, pairs)


def three_faults(name: str, gate: int) -> float:
    """Core 1 of n2 from the 13th gate on, all transfers of n3 from the 17th, one latency."""
    if name == "n2 core 1" and gate >= 12:
        return 1.3
    if name.startswith("transfer") and "n3" in name.split() and gate >= 16:
        return 2.0
    return 1.5 if name == "latency n1 n10" and gate >= 8 else 1.0
