"""A processor: what its units do in a cycle, and its caches; published, or measured by itself."""

import math
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from nhalf.base.errors import InputError
from nhalf.base.numbers import fixed
from nhalf.machines.computing import ComputingRatio

SCHEMA = 1
APART = 0.9
"""Rates are different where the lower one is at most this share of the higher."""

Name = Literal[
    "add",
    "multiply",
    "fused_multiply_add",
    "divide",
    "square_root",
    "load",
    "store",
    "integer_load",
    "integer_store",
    "forwarded_load",
    "updated_load",
    "integer",
    "permute",
    "shuffle",
    "minimum",
    "logical",
    "convert",
    "across",
    "compare",
    "gather",
    "scatter",
    "integer_multiply",
    "taken_branch",
    "line_change_store",
]
"""What a unit can do. `load` and `store` access floating-point numbers, `integer_load` and
`integer_store` integers; a `forwarded_load` is an integer load of what was stored just before, an
`updated_load` one of what a read-modify-write instruction stored just before; `integer` is integer
arithmetic, including that of addresses; `permute` moves numbers from any lane of a vector to any
other and `shuffle` within a part of it; `convert` converts between integers and floating-point
numbers, `across` moves bits between their registers, `compare` compares floating-point numbers for
a branch or a conditional move; a `taken_branch` is a jump that is taken, a `line_change_store` a
store to another line than the one before.
"""
Pair = Literal["move", "integer_move", "integer_load"]
"""What is fused with arithmetic on its result in the same register: a move between registers of
floating-point numbers or of integers, and an integer load."""
FLOATING_POINT_ACCESSES = {"integer_load": "load", "integer_store": "store"}
"""Accesses to floating-point numbers by those to integers, which they stand in for."""
Kind = Literal["floating_point", "memory", "fixed_point"]
Positive = Annotated[float, Meta(gt=0)]
NotNegative = Annotated[float, Meta(ge=0)]
Count = Annotated[int, Meta(ge=1)]
Range = tuple[float, float]


def key_of(name: str, lanes: int) -> str:
    """The name of an operation in units: `add`, or with lanes `add.4`."""
    return name if lanes == 1 else f"{name}.{lanes}"


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Part of a description: its numbers are finite."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{name} is {value}, no finite number")


class ProcessorOperation(_Part, frozen=True, kw_only=True):
    """One operation on numbers of eight bytes: `lanes` of them at once, 1 for a scalar.

    `per_cycle` operations begin in a cycle where nothing else does; `latency_cycles` later the
    result of one can be used, None if that is unknown. For a load it is from the address to
    the use of a value in the first-level cache. `latency_to_others_cycles` is the latency where
    what uses the result is of another kind, if that differs. `_ci` are ends of what was measured.
    `doubt` is why a measured rate may not be that of the unit; the upper end is then what it may
    be at most.
    """

    name: Name
    lanes: Count = 1
    per_cycle: Positive
    latency_cycles: Positive | None = None
    latency_to_others_cycles: Positive | None = None
    per_cycle_ci: Range | None = None
    latency_ci: Range | None = None
    doubt: str | None = None

    @property
    def most_per_cycle(self) -> float:
        """The upper end of what is known of its rate: what a bound has to reckon with."""
        return max(self.per_cycle_ci) if self.per_cycle_ci else self.per_cycle

    @property
    def least_cycles(self) -> float | None:
        """The lower end of what is known of its latency."""
        return min(self.latency_ci) if self.latency_ci else self.latency_cycles

    @property
    def key(self) -> str:
        """Its name in units."""
        return key_of(self.name, self.lanes)

    @property
    def width(self) -> str:
        """'scalar', or the bits of its operands."""
        return "scalar" if self.lanes == 1 else f"{64 * self.lanes} bits"

    @property
    def title(self) -> str:
        """Its name and width in words: 'add, 256 bits'."""
        return f"{self.name.replace('_', ' ')}, {self.width}"


class Unit(_Part, frozen=True, kw_only=True):
    """What several operations share: each keeps the unit busy for `cycles`, by its key.

    A pair of adders and multipliers that begin two operations in a cycle has 0.5 for each. A loop
    takes at least the sum over its operations; that of one operation alone is in `per_cycle`.
    """

    name: str
    kind: Kind
    cycles: dict[str, Positive]


class Cache(_Part, frozen=True, kw_only=True):
    """One level: 1 is next to the core. None if it is unknown.

    `hit_cycles` is from the address of a load to the use of its value; `load_miss_cycles` and
    `store_miss_cycles` are what an access takes longer when it misses this level. `size_ci` is the
    95 % interval of a size that was measured. Lines of this level that are loaded, or stored to,
    one after the other take `load_line_cycles` and `store_line_cycles` each.
    """

    level: Count
    size_bytes: Count
    line_bytes: Count
    ways: Count | None = None
    hit_cycles: Positive | None = None
    load_miss_cycles: NotNegative | None = None
    store_miss_cycles: NotNegative | None = None
    load_line_cycles: Positive | None = None
    store_line_cycles: Positive | None = None
    size_ci: Range | None = None


class Processor(_Part, frozen=True, kw_only=True):
    """A processor as bounds of loops see it: `clock_hz` and `issue_per_cycle` instructions a cycle.

    `store_forward_cycles` is the latency of store-to-load forwarding of a floating-point number,
    `integer_store_forward_cycles` that of an integer at a fixed address.
    `reorder_buffer_instructions` can be in flight, and `scheduler_instructions` of these wait for
    operands or a unit. `fused_pairs` take one issue slot. With `quad_word`, two neighbouring
    numbers are loaded or stored as one; with `always_fuses`, multiply-adds are fused in any
    program. A processor that is `in_order` stalls while an access misses; others may overlap all
    of that. `source` says where the numbers come from: a publication, or when and where they were
    measured.
    """

    name: str
    schema: int = SCHEMA
    title: str = ""
    year: int | None = None
    source: str = ""
    unknown: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    clock_hz: Positive
    issue_per_cycle: Positive
    store_forward_cycles: Positive | None = None
    integer_store_forward_cycles: NotNegative | None = None
    reorder_buffer_instructions: Positive | None = None
    scheduler_instructions: Positive | None = None
    fused_pairs: tuple[Pair, ...] = ()
    quad_word: bool = False
    always_fuses: bool = False
    in_order: bool = False
    operations: tuple[ProcessorOperation, ...]
    units: tuple[Unit, ...] = ()
    caches: tuple[Cache, ...] = ()
    environment: dict[str, str] = {}

    def __post_init__(self) -> None:
        super().__post_init__()
        keys = [operation.key for operation in self.operations]
        for key in keys:
            if keys.count(key) > 1:
                raise ValueError(f"operation {key} is there twice")
        for unit in self.units:
            for key in unit.cycles:
                if key not in keys:
                    raise ValueError(f"unit {unit.name} does {key}, which is no operation")
        levels = [cache.level for cache in self.caches]
        if levels != list(range(1, len(levels) + 1)):
            raise ValueError(f"levels of caches are {levels}, not 1, 2, … in order")

    def operation(self, name: str, lanes: int = 1) -> ProcessorOperation | None:
        """The operation of this name and width; None if it is not described."""
        key = key_of(name, lanes)
        return next((operation for operation in self.operations if operation.key == key), None)

    @property
    def doubts(self) -> tuple[str, ...]:
        """The operations whose rates are doubtful, why, and what bounds reckon with."""
        return tuple(
            f"{operation.title}: {operation.doubt}; bounds reckon with up to "
            f"{fixed(operation.most_per_cycle, 2)}"
            for operation in self.operations
            if operation.doubt
        )

    def forwarded_cycles(self, name: Literal["forwarded_load", "updated_load"]) -> float:
        """Cycles that an integer load of what was just stored keeps the load unit busy.

        0 where such loads are as fast as all others: a processor that predicts the number has to
        check it afterwards.
        """
        forwarded, usual = self.operation(name), self.operation("integer_load")
        if forwarded is None or usual is None or forwarded.per_cycle > APART * usual.per_cycle:
            return 0.0
        return 1 / forwarded.per_cycle

    def busy_cycles(self, name: str, lanes: int = 1) -> float:
        """Cycles that an operation keeps its unit busy; 0 if it is not described.

        Those of the nearest described width count. Accesses to integers are like those to
        floating-point numbers where only these are described.
        """
        for described_name in (name, FLOATING_POINT_ACCESSES.get(name, name)):
            widths = [
                operation for operation in self.operations if operation.name == described_name
            ]
            if widths:
                nearest = min(widths, key=lambda operation: abs(operation.lanes - lanes))
                return 1 / nearest.most_per_cycle
        return 0.0


FLOPS = {"fused_multiply_add": 2, "add": 1, "multiply": 1}
"""Floating-point operations of each; which of them a program has is unknown."""


def time_ratio(base: Processor, target: Processor) -> ComputingRatio:
    """The time on the target to that on the base: a mean, and each part.

    The parts are scalar arithmetic, loads, stores, and chains: sums, or sums of products, of which
    each waits for the one before it.

    A program is limited by one of them, which is unknown, so that all have equal weight; caches
    and memory are not in it. Raises InputError if nothing is described of both processors.
    """
    base_per_s, target_per_s = _rates_per_s(base), _rates_per_s(target)
    each_ratio = {
        name: rate / target_per_s[name] for name, rate in base_per_s.items() if name in target_per_s
    }
    if not each_ratio:
        message = f"processors {base.name} and {target.name} have no rates in common"
        raise InputError(message, "describe add, multiply, load or store of both")
    mean_log = sum(map(math.log, each_ratio.values())) / len(each_ratio)
    return ComputingRatio(math.exp(mean_log), each_ratio, "by the cores")


def _rates_per_s(processor: Processor) -> dict[str, float]:
    """Scalar operations a second that a processor begins, and ends in chains, by their kind."""
    scalar = [operation for operation in processor.operations if operation.lanes == 1]
    per_cycle = {operation.name: operation.per_cycle for operation in scalar}
    flops = (FLOPS[name] * per_cycle[name] for name in FLOPS if name in per_cycle)
    arithmetic = max(flops, default=0)
    latency = {own.name: own.latency_cycles for own in scalar if own.latency_cycles}
    sums = latency.get("add", math.inf)
    products = latency.get("fused_multiply_add", math.inf) if processor.always_fuses else sums
    rates = {
        "arithmetic": arithmetic,
        **{f"{name}s": per_cycle.get(name, 0) for name in ("load", "store")},
        "chains of sums": 1 / sums,
        "chains of products": 1 / products,
    }
    return {name: processor.clock_hz * rate for name, rate in rates.items() if rate > 0}
