"""The cost of messages: what a replay knows of each, and what a curve says of it.

Of what a library does once, connections and choices at the first use of an operation, a trace has
that of its own library only. In virtual time on four ranks, Open MPI 5.0.11 spent on it what 150
empty messages take one after the other, MPICH 5.0.2 and Intel MPI 2021.19 less than 10.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.facts.program.distinct import Whole
from nhalf.facts.program.program import Program
from nhalf.machines.curve import SoftwareCosts
from nhalf.machines.message import Message, Messages
from nhalf.mpi.vendors import libraries_in, vendors

FIRST_USE_MESSAGES = 200
"""How many empty messages long it may be, a third more than was seen."""


def first_use_s(program: Program, messages: Messages, library: str) -> float:
    """By how many seconds a run on a library may differ for that; 0 with that of the trace.

    It is 0 as well if either library is not known, as those of machines of record.
    """
    if library.partition("-")[0] not in vendors() or not program.library:
        return 0.0
    if libraries_in(program.library, [library]):
        return 0.0
    _, curve = messages.between_nodes[0]
    return FIRST_USE_MESSAGES * float(Message(curve).time_s(np.array([0.0]))[0])


BUSY_SHARE = 0.5
"""Share of a message within a node per side: the sender copies it in, the receiver out."""


class MessageTimes(NamedTuple):
    """Seconds of messages: from the start of a send to the end of a receive posted in time, alone
    and while another one goes the opposite way; processor time of sender and receiver; and for how
    long each keeps the next one of its sender from leaving, 0 if unknown.
    """

    way_s: Floats
    crossing_s: Floats
    sending_s: Floats
    receiving_s: Floats
    port_s: Floats


@dataclass(frozen=True)
class MessageCosts:
    """Messages within a node, or between nodes.

    The additional time of messages that cross, where it is known, is processor time of each rank.
    """

    message: Message
    software: SoftwareCosts
    between: bool
    both_ways: Message | None = None

    def times(self, size_bytes: Floats | Whole) -> MessageTimes:
        """By the curve: measured overheads between nodes; half of the message each within one."""
        way_s = self.message.time_s(size_bytes)
        crossing_s = self.both_ways.time_s(size_bytes) if self.both_ways else way_s
        bytes_s = np.maximum(way_s - self.message.time_s(np.zeros(1)), 0.0)
        send_s, receive_s, gap_s = self.software
        busy_s = np.minimum(BUSY_SHARE * np.maximum(way_s, crossing_s), way_s)
        sending_s, receiving_s = (
            np.minimum(cost_s, BUSY_SHARE * way_s) if self.between else busy_s
            for cost_s in (send_s, receive_s)
        )
        return MessageTimes(way_s, crossing_s, sending_s, receiving_s, np.maximum(gap_s, bytes_s))
