"""What a trace says of a simulated machine, on which its program ran in virtual time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from nhalf.base.errors import InputError

REGION = "NHALF_FABRIC"
"""By this variable ranks find their machine."""
VARIABLE = "NHALF_FABRIC_ABOUT"
"""By this variable ranks get it as JSON; the library that traces copies it."""
TRACE_FIRST = "nhalf trace goes before nhalf try"
REMEDY = "write: nhalf trace -- nhalf try --machine M --ranks N -- ./program"


class TracedMachine(msgspec.Struct, frozen=True):
    """A machine of record, the node of each rank, and how computing was counted.

    `computing_factor` is by how much the processor's time was multiplied, 0 if it did not count.
    """

    machine: str
    nodes: tuple[int, ...]
    computing_factor: float = 0.0

    def host(self, rank: int) -> str:
        """The name of the node of a rank."""
        return f"node{self.nodes[rank]}"


def refuse_to_trace_each_rank(command: Sequence[str]) -> None:
    """Raises InputError if the program of a virtual machine is `nhalf trace` itself."""
    words = [Path(command[0]).name, *command[1:4]]
    if "trace" in words[1:] and "nhalf" in words[: words.index("trace")]:
        raise InputError(TRACE_FIRST, REMEDY)


def refuse_inside() -> None:
    """Raises InputError in a process of a virtual machine: each rank would make its own trace."""
    if REGION in os.environ:
        raise InputError(TRACE_FIRST, REMEDY)
