"""What a rank does, in its order: loops that it computes, calls, and waits for what it began."""

from dataclasses import dataclass, field
from typing import TypeAlias

from nhalf.loops.source.counts import LoopCounts

SENT, RECEIVED, COLLECTIVE, WAITING = "sent", "received", "collective", "waiting"


Label: TypeAlias = tuple[str, int]
"""A call, or what else takes time, and its line."""


@dataclass(frozen=True, eq=False)
class InnermostLoop:
    """A loop that was read; one is the same only as itself."""

    counts: LoopCounts


@dataclass(frozen=True, slots=True)
class Computed:
    """Iterations of an innermost loop; its arrays by their names there, and the memory that these
    stand for. `nest` has its trips, and those of the loops around it whose iterations are alike,
    from within, each with its counter.
    """

    loop: InnermostLoop
    nest: tuple[tuple[str, int], ...]
    iterations: int
    arrays: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Called:
    """A message or an operation: `partner` is the other end or the root, -2 for none, a rank of
    MPI_COMM_WORLD.

    `with_next` is the send of a call that receives as well: both begin at one time. Of such a
    call with one end only `written` is its own name.
    """

    call: str
    line: int
    kind: str
    partner: int
    tag: int
    size_bytes: int
    begins: bool = False
    with_next: bool = False
    written: str = ""
    communicator: int = 0

    @property
    def label(self) -> Label:
        """The call as it is written, and its line."""
        return self.written or self.call, self.line


@dataclass(frozen=True, slots=True)
class WaitedFor:
    """A wait for calls that were begun: how many events before it each was."""

    call: str
    line: int
    begun: tuple[int, ...]

    @property
    def label(self) -> Label:
        """The call, and its line."""
        return self.call, self.line


Event: TypeAlias = Computed | Called | WaitedFor


@dataclass
class RankEvents:
    """The events of a rank, and what of its computing is not in them: line and reason."""

    events: list[Event] = field(default_factory=list)
    left_out: dict[tuple[int, str], None] = field(default_factory=dict)
