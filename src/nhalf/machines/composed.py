"""Times of algorithms on a machine, composed message by message on its network.

A program (native/composer) runs the unchanged algorithm on ranks whose messages carry no data and
pass the network of the machine in virtual time (native/network), as those of an MPI library do on
the virtual network: LogGP (Alexandrov et al., SPAA 1995) with curves for its lines, and fair
sharing of what messages pass at once.
"""

from __future__ import annotations

import subprocess
import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

import numpy as np

from nhalf.base.errors import FailedError, InputError
from nhalf.base.native_files import executable
from nhalf.machines.curve import is_between_nodes
from nhalf.machines.message import Messages
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
    """Times of algorithms on one machine; raises MissingError if the program was not built.

    `nodes` are those of the ranks on the plain network below a library; None: one for each rank.
    """

    def __init__(
        self, messages: Messages, parts: Parts, nodes: Sequence[int] | None = None
    ) -> None:
        self.messages = messages
        self.nodes = nodes
        self.parts = parts
        self.ranks = 0
        self.times_s: dict[tuple[str, str, int, int, int], list[float]] = {}
        self.program = subprocess.Popen(
            [str(executable("compose"))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._end = weakref.finalize(self, _close, self.program)

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
        lines = [f"compose {operation} {algorithm} {size_bytes} {part_bytes}"]
        if ranks != self.ranks:
            try:
                machine = self._description(ranks).splitlines()
            except InputError:
                return []
            lines = [f"machine {len(machine)}", *machine, *lines]
            self.ranks = ranks
        answer = self._answer("\n".join(lines) + "\n")
        return [] if answer == "-" else [float(word) for word in answer.split()]

    def _answer(self, question: str) -> str:
        to, back = _pipes(self.program)
        answer = ""
        with suppress(BrokenPipeError):
            to.write(question)
            to.flush()
            answer = back.readline().strip()
        if not answer:
            raise FailedError(
                "the program that follows messages has ended",
                "if it does so again: is nhalf built anew after an update?",
            )
        return answer

    def _description(self, ranks: int) -> str:
        """The machine with this many ranks, on nodes of their own while there are enough."""
        nodes = _spread(self.messages, ranks) if self.nodes is None else self.nodes
        return description(self.messages, nodes)


def _spread(messages: Messages, ranks: int) -> list[int]:
    """The node of every rank: one of its own while there are enough, if messages pass between."""
    if not any(is_between_nodes(curve.placement) for curve in messages.curves):
        return [0] * ranks
    network = messages.machine.network
    nodes = (network.topology.nodes if network else 0) or ranks
    per_node = -(-ranks // nodes)
    return [rank // per_node for rank in range(ranks)]


def _pipes(program: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    assert program.stdin is not None
    assert program.stdout is not None
    return program.stdin, program.stdout


def _close(program: subprocess.Popen[str]) -> None:
    for pipe in _pipes(program):
        with suppress(BrokenPipeError):
            pipe.close()
    program.wait()
