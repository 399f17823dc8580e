"""Times of algorithms on a machine, composed message by message on its network.

The library of the network (native/composer) runs the unchanged algorithm on ranks whose messages
carry no data and pass the network of the machine in virtual time (native/network), as those of an
MPI library do on the virtual network: LogGP (Alexandrov et al., SPAA 1995) with curves for its
lines, and fair sharing of what messages pass at once.
"""

import ctypes
import math
from collections.abc import Sequence

import numpy as np

from nhalf.base.errors import InputError
from nhalf.machines.curve import is_between_nodes
from nhalf.machines.message import Messages
from nhalf.machines.network import ask
from nhalf.machines.parts import Parts
from nhalf.machines.wires import description
from nhalf.models.expression import PART_BYTES

RANKS_MAX = 512
"""With more ranks, an algorithm in which all send to all has too many messages to follow."""
CRITERIA = ("completion", "root", "processors")
"""What is told of an algorithm: when its last rank ends, when its root is free, and for how long
messages keep all processors together."""
LONGEST_S = 1e4
"""Virtual time holds two hundred days, and messages that follow each other take it up."""


class Composer:
    """Times of algorithms on one machine; raises MissingError if the library was not built.

    `nodes` are those of the ranks on the plain network below a library; None: one for each rank.
    """

    def __init__(
        self, messages: Messages, parts: Parts, nodes: Sequence[int] | None = None
    ) -> None:
        self.messages = messages
        self.nodes = nodes
        self.parts = parts
        self._machine, self._ranks = "", 0
        self.times_s: dict[tuple[str, str, int, int, int], list[float]] = {}

    def time_s(
        self,
        operation: str,
        algorithm: str,
        ranks: int,
        size_bytes: int,
        part_bytes: int = PART_BYTES,
        *,
        criterion: str = CRITERIA[0],
    ) -> float | None:
        """Seconds of an algorithm; None if it is unknown, has too many messages or takes too long.

        Only algorithms that cut messages are known with other parts than those of PART_BYTES, and
        of patterns only their completion.
        """
        # A larger part holds the whole message, too.
        part_bytes = min(part_bytes, max(size_bytes, PART_BYTES))
        key = (operation, algorithm, ranks, size_bytes, part_bytes)
        if ranks > RANKS_MAX:
            return None
        if key not in self.times_s:
            self.times_s[key] = self._composed_s(*key)
        return dict(zip(CRITERIA, self.times_s[key], strict=False)).get(criterion)

    def _composed_s(
        self, operation: str, algorithm: str, ranks: int, size_bytes: int, part_bytes: int
    ) -> list[float]:
        """Seconds by CRITERIA, as far as there are any."""
        # All that a rank may send, one after the other, has to fit into virtual time.
        longest_s = float(self.parts.functions["T"](np.array([float(ranks * size_bytes)]))[0])
        if not longest_s < LONGEST_S:
            return []
        if ranks != self._ranks:
            try:
                nodes = _spread(self.messages, ranks) if self.nodes is None else self.nodes
                self._machine, self._ranks = description(self.messages, nodes), ranks
            except InputError:
                return []
        words = (word.encode() for word in (self._machine, operation, algorithm))
        sizes = map(ctypes.c_uint64, (size_bytes, part_bytes))
        times_s = (ctypes.c_double * len(CRITERIA))()
        if wrong := ask("nhalf_compose", *words, *sizes, times_s):
            raise ValueError(wrong)
        return [time_s for time_s in times_s if not math.isnan(time_s)]


def follow(
    messages: Messages, nodes: Sequence[int], lines: Sequence[str]
) -> tuple[int, list[float]] | None:
    """Follow a program of ranks on nodes, as the lines of native/composer/program.hpp say it: the
    rank that ends last, and when each of its steps ended, in seconds. None if that takes too long,
    or longer than virtual time goes.
    """
    try:
        machine = description(messages, nodes)
    except InputError:
        return None
    last, steps = ctypes.c_uint64(), ctypes.c_uint64()
    ends_s = (ctypes.c_double * len(lines))()
    words = (text.encode() for text in (machine, "\n".join(lines)))
    if wrong := ask("nhalf_follow", *words, ctypes.byref(last), ctypes.byref(steps), ends_s):
        raise ValueError(wrong)
    return (last.value, ends_s[: steps.value]) if steps.value else None


def _spread(messages: Messages, ranks: int) -> list[int]:
    """The node of every rank: one of its own while there are enough, if messages pass between."""
    if not any(is_between_nodes(curve.placement) for curve in messages.curves):
        return [0] * ranks
    network = messages.machine.network
    nodes = (network.topology.nodes if network else 0) or ranks
    per_node = -(-ranks // nodes)
    return [rank // per_node for rank in range(ranks)]
