"""The resources that messages share on a machine; some are known only as a range.

A message alone is as fast as the curve of its ping-pong; several together are bounded by what they
share: the max-rate model (W. Gropp, L. Olson, P. Samfass, "Modeling MPI communication performance
on SMP nodes: is it time to retire the ping pong test", EuroMPI 2016), here with both directions.

Operations that a machine performs in its shared memory are known in the same way.
"""

import math
from typing import Annotated, Literal

import msgspec


class Evidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A published point that a number was inferred from, by the record that has it."""

    machine: str
    pattern: str
    ranks: int = 2
    size_bytes: int | None = None
    axes: str = ""


Positive = Annotated[float, msgspec.Meta(gt=0)]
Ends = Annotated[tuple[Positive, ...], msgspec.Meta(min_length=2, max_length=2)]
Amount = Positive | Ends
"""A number, or where it was not published a range (low, high)."""


class Shared(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What messages share of one thing: `one_way` each direction, `both_ways` together.

    - `rank`: the processor of a rank. Instead of rates it has `both_ways_ratio`: what it sends and
      receives at once over what it does in a ping-pong; 1 where the one halves the other, 2 where
      neither minds the other.
    - `memory`: of a node, or of each `ranks` consecutive ranks of it. A message counts for its
      sender and for its receiver, so that one within the node counts twice.
    - `adapter`, `bus`: between a node and the network; messages within a node do not pass them.
      `per_message_s` is how long each message keeps one busy at least, whatever its direction.
    - `medium`: one wire for the whole machine, of one message at a time.

    Rates are bytes per second. `why` says where a number is from, or why a range has its ends;
    `inferred_from` are the published points of patterns that it was inferred from.
    """

    what: Literal["rank", "memory", "adapter", "bus", "medium"]
    why: str
    ranks: Annotated[int, msgspec.Meta(ge=1)] | None = None
    one_way_Bps: Amount | None = None
    both_ways_Bps: Amount | None = None
    both_ways_ratio: Amount | None = None
    per_message_s: Amount | None = None
    inferred_from: tuple[Evidence, ...] = ()

    def __post_init__(self) -> None:
        check_rising(self.one_way_Bps, self.both_ways_Bps, self.both_ways_ratio)
        if (self.what == "rank") != (self.both_ways_ratio is not None):
            raise ValueError("both_ways_ratio is what a rank has, and all that it has")


LONG_WITHIN = "rate of long messages within a node"
"""A rate that is published as falling, without how far."""
LONG_BYTES = 1 << 16
"""Messages are long from this size on."""


class Unpublished(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A range for a number that stands in the file although it was not published.

    `of` names it; the file's own number is the geometric middle of the range.
    """

    of: Literal[
        "latency between nodes",
        "rate between nodes",
        "bandwidth of a link",
        "rate of long messages within a node",
    ]
    low: Positive
    high: Positive
    why: str

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"the range of the {self.of} does not rise")


def check_rising(*amounts: Amount | None) -> None:
    """Raises ValueError for a range whose ends are in the wrong order."""
    for amount in amounts:
        if isinstance(amount, tuple) and not amount[0] < amount[1]:
            raise ValueError(f"the range {amount} does not rise")


def ends(amount: Amount) -> tuple[float, float]:
    """The lower and the upper end; equal if the number is known."""
    return (amount[0], amount[1]) if isinstance(amount, tuple) else (amount, amount)


def middle(amount: Amount) -> float:
    """The number, or the geometric mean of its range."""
    low, high = ends(amount)
    return math.sqrt(low * high)


def shared_with_rate_factor(
    shared: tuple[Shared, ...], kinds: tuple[str, ...], factor: float
) -> tuple[Shared, ...]:
    """Resources with the rates of these kinds multiplied by a factor."""

    def scaled(amount: Amount | None) -> Amount | None:
        if amount is None:
            return None
        low, high = ends(amount)
        return (low * factor, high * factor) if low < high else low * factor

    return tuple(
        msgspec.structs.replace(
            resource,
            one_way_Bps=scaled(resource.one_way_Bps),
            both_ways_Bps=scaled(resource.both_ways_Bps),
        )
        if resource.what in kinds
        else resource
        for resource in shared
    )


IN_MEMORY = ("barrier", "reduce", "alltoall")
"""Operations whose time in a shared memory is modelled (machines/in_memory.py)."""


class OperationMethod(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a machine performs an operation, where its messages alone do not say it.

    In a shared memory, `level_s` is what a level of a tree of flags takes: a rank writes a cache
    line, another one reads it; `operand_Bps` is how fast a rank adds up vectors while all do. With
    `algorithm` the library takes that one, made of messages. Numbers are published or inferred, the
    latter `inferred_from` published points; `why` says how.
    """

    pattern: str
    why: str
    origin: Literal["published", "inferred"] = "inferred"
    algorithm: str = ""
    level_s: Amount | None = None
    operand_Bps: Amount | None = None
    inferred_from: tuple[Evidence, ...] = ()

    def __post_init__(self) -> None:
        check_rising(self.level_s, self.operand_Bps)
        if bool(self.algorithm) == (self.level_s is not None):
            raise ValueError("an operation has either an algorithm or level_s")
        if self.level_s is not None and self.pattern not in IN_MEMORY:
            raise ValueError(f"in a shared memory there are {', '.join(IN_MEMORY)}")
        if (self.operand_Bps is not None) != (self.pattern == "reduce" and not self.algorithm):
            raise ValueError("operand_Bps is what a reduction in a shared memory has")
