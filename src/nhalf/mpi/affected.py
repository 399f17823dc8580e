"""Which part of a program a setting of a library can affect."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Affected:
    """Calls by what they do and by size: `operations` names collectives, none for no collective.

    `messages` are all calls that move data between two ranks; `everything` is all of MPI, the
    start of the ranks, and with `computing` the time between calls as well. Of collectives only
    those of `ranks` ranks are affected, unless it is 0.
    """

    everything: bool = False
    computing: bool = False
    messages: bool = False
    operations: tuple[str, ...] = ()
    from_bytes: float = 0
    to_bytes: float = math.inf
    ranks: int = 0

    def holds(self, size_bytes: float) -> bool:
        """Whether a size is among those affected."""
        return self.from_bytes <= size_bytes <= self.to_bytes


ALL = Affected(everything=True, computing=True)
"""Where ranks run, and what else takes their cores: nothing is left out."""
MPI = Affected(everything=True)
"""How a library sends anything at all."""
MESSAGES = Affected(messages=True)
