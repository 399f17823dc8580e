"""The ports out of ranks and into them, which each message occupies for a time.

Messages leave a rank one after the other, and come into one in the order in which they came when
the program was traced: a replay that goes through ranks one by one does not know a later one yet.
That order has no circle, since every message waits for earlier ones only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.decide.program.costs import Costs
from nhalf.facts.program.script import Script


class Ports:
    """By message: how long it occupies a port, and what its sender is busy before."""

    def __init__(self, script: Script, costs: Costs) -> None:
        self._source = [script.routes[route][0] for route in script.route]
        busy_s = np.array([costs.busy_s(*route)[0] for route in script.routes])
        occupancy_s = np.array([costs.port_s(*route) for route in script.routes])
        self._busy_s: list[float] = busy_s[script.route].tolist()
        self.occupancy_s: list[float] = occupancy_s[script.route].tolist()
        self._free_s: dict[int, float] = {}

    def delay_s(self, message: int, sent_s: float) -> float:
        """Send a message; returns by how much a busy port delays it."""
        occupancy_s = self.occupancy_s[message]
        if occupancy_s == 0:
            return 0.0
        source, ready_s = self._source[message], sent_s + self._busy_s[message]
        begins_s = max(ready_s, self._free_s.get(source, 0.0))
        self._free_s[source] = begins_s + occupancy_s
        return begins_s - ready_s


def before_each(script: Script, ports: Ports, arrived_s: Floats) -> NDArray[np.int64]:
    """The message that came into the same rank before each one, -1 if there is none."""
    targets = np.array([target for _, target, _ in script.routes], np.int64)[script.route]
    order = np.lexsort((arrived_s, targets))
    order = order[(np.array(ports.occupancy_s)[order] > 0) & np.isfinite(arrived_s[order])]
    before = np.full(len(arrived_s), -1)
    is_same = targets[order[1:]] == targets[order[:-1]]
    before[order[1:][is_same]] = order[:-1][is_same]
    return before
