"""The machine file: models of a parallel computer, as typed and versioned TOML."""

import math
from typing import Literal

import msgspec

from nhalf.base.errors import InputError
from nhalf.machines.computing import Computing, GpuPart
from nhalf.machines.leftover import Leftover
from nhalf.machines.network import times_s
from nhalf.machines.published_table import PublishedTable
from nhalf.machines.shared import OperationMethod, Shared, Unpublished
from nhalf.machines.topology import Several, Topology
from nhalf.models.terms import value

SCHEMA = 1
"""Raised when an older reader would misread a newer file."""

Range = tuple[float, float]


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """T(n) = t0 + n/r_inf + root sqrt(n) from the first to the last size of a range.

    Times are seconds, sizes bytes, rates bytes per second; `_ci` are 95 % intervals (low, high),
    None if a publication gives none. Where time does not grow with size, the rate and n_half are
    infinite and absent in the file. Where only n_half is absent, it is t0 r_inf (R. Hockney, "The
    communication challenge for MPP: Intel Paragon and Meiko CS-2", Parallel Computing 20, 1994),
    and infinite where t0 is not positive. `root_s`, in seconds per square root of a byte, is in
    published models only.
    """

    from_bytes: int
    to_bytes: int
    t0_s: float
    t0_ci: Range | None = None
    r_inf_Bps: float = math.inf
    r_inf_ci: Range | None = None
    n_half_bytes: float = math.inf
    n_half_ci: Range | None = None
    root_s: float = 0.0

    def __post_init__(self) -> None:
        if math.isinf(self.n_half_bytes) and math.isfinite(self.r_inf_Bps) and self.t0_s > 0:
            msgspec.structs.force_setattr(self, "n_half_bytes", self.t0_s * self.r_inf_Bps)

    def time_s(self, size_bytes: float) -> float:
        """The time of a message of this many bytes."""
        return float(times_s([self.piece(0)], size_bytes))

    def piece(self, from_bytes: int) -> tuple[float, ...]:
        """It as a piece of a curve from a size on, as the network takes it."""
        return from_bytes, self.t0_s, 1 / self.r_inf_Bps, self.root_s


class Breakpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A change between two segments, somewhere in (low_bytes, high_bytes].

    `change_percent` is by how much the time is longer (or shorter: negative) in the right segment
    at the place of the break; `kind` is "jump", or "bend" where only the rate changes. `cause` is
    empty, "eager limit" where the library names one there, or where the end of a cache may be one
    "protocol or L2 cache", or either of the two where the run tells them apart.
    """

    low_bytes: int
    high_bytes: int
    at_bytes: float
    change_percent: float
    kind: str
    cause: str = ""


class PeriodicSteps(msgspec.Struct, frozen=True, kw_only=True):
    """Periodic steps: the time rises by `height_s` at offset + i period bytes, i = 0, 1, ..."""

    offset_bytes: int
    period_bytes: int
    height_s: float
    height_ci: Range


class FittedModel(msgspec.Struct, frozen=True, kw_only=True):
    """The segments of one pattern of one library, with their error on sizes not fitted.

    In publications `axes` "distance=8" says that ranks are 8 or more apart, up to the next such
    curve, and `source` is the place. `heldout_median` and `heldout_p95` are relative absolute
    errors; absent if there were too few sizes to leave any out. `is_table` says that the segments
    join points of a published table.
    """

    run: str = ""
    transport: str
    mpi: str = ""
    pattern: str
    algorithm: str = ""
    ranks: int
    placement: str = ""
    axes: str = ""
    segments: tuple[Segment, ...]
    breakpoints: tuple[Breakpoint, ...] = ()
    heldout_median: float | None = None
    heldout_p95: float | None = None
    heldout_sizes: int = 0
    packet_steps: PeriodicSteps | None = None
    source: str = ""
    is_table: bool = False

    @property
    def start_bytes(self) -> list[int]:
        """The first size to which each segment applies, 0 for the first segment.

        It is the place of the breakpoint, if known, else the first size of the segment.
        """
        if len(self.breakpoints) != len(self.segments) - 1:
            return [0, *(segment.from_bytes for segment in self.segments[1:])]
        return [0, *(math.ceil(change.at_bytes) for change in self.breakpoints)]

    @property
    def end_bytes(self) -> list[int]:
        """The sizes at which segments begin, and the last one: those of a published table."""
        starts = {segment.from_bytes for segment in self.segments}
        return sorted(starts | {segment.to_bytes for segment in self.segments[-1:]})

    @property
    def shortest_s(self) -> float:
        """The time of an empty message; of a published table, the shortest time of all."""
        of_ends_s = times_s(self.pieces, self.end_bytes).min() if self.is_table else math.inf
        return float(min(of_ends_s, max(self.segments[0].t0_s, 0.0)))

    @property
    def pieces(self) -> list[tuple[float, ...]]:
        """The pieces of the curve, as the network takes them."""
        return [own.piece(at) for own, at in zip(self.segments, self.start_bytes, strict=True)]

    def time_s(self, size_bytes: int) -> float:
        """The time of a size; raises InputError beyond the first and the last segment."""
        segments = self.segments
        if segments and segments[0].from_bytes <= size_bytes <= segments[-1].to_bytes:
            return float(times_s(self.pieces, size_bytes))
        ends = [(segment.from_bytes, segment.to_bytes) for segment in segments]
        ends = [(ends[0][0], ends[-1][1])] if self.is_table else ends
        ranges = ", ".join(f"{first} to {last}" for first, last in ends)
        remedy = f"take a size in {ranges or 'another model: this one is empty'}"
        raise InputError(f"the model of {self.pattern} says nothing of {size_bytes} B", remedy)


class Overheads(msgspec.Struct, frozen=True, kw_only=True):
    """The costs of messages of one size: o_s(m), o_r(m), g(m); None if unknown."""

    size_bytes: int
    send_overhead_s: float | None = None
    recv_overhead_s: float | None = None
    gap_s: float | None = None


class LogGP(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters of the LogP family for one library; None if not known.

    Seconds, `gap_per_byte_s` seconds per byte; `_ci` are 95 % intervals (low, high), None without
    any (one launch, a publication). Where `identifiable` is false, the interval of L reaches 0, and
    only `half_round_trip_s` = L + o_s + o_r should be used. L is that of LogP, without overheads;
    `parameterised_latency_s` is that of the parameterised model.
    """

    run: str = ""
    transport: str
    mpi: str = ""
    ranks: int = 2
    placement: str = ""
    launches: int = 0
    latency_s: float | None = None
    latency_ci: Range | None = None
    send_overhead_s: float | None = None
    send_overhead_ci: Range | None = None
    recv_overhead_s: float | None = None
    recv_overhead_ci: Range | None = None
    gap_s: float | None = None
    gap_ci: Range | None = None
    gap_per_byte_s: float | None = None
    gap_per_byte_ci: Range | None = None
    half_round_trip_s: float | None = None
    half_round_trip_ci: Range | None = None
    saturation_gap_s: float | None = None
    saturation_gap_ci: Range | None = None
    parameterised_latency_s: float | None = None
    parameterised_latency_ci: Range | None = None
    identifiable: bool | None = None
    sizes: tuple[Overheads, ...] = ()
    source: str = ""


class PatternModel(msgspec.Struct, frozen=True, kw_only=True):
    """T(n, p) = startup(p) + per_byte(p) n + per_root_byte(p) sqrt(n) of one pattern.

    The three are sums of terms (models/terms.py) in seconds, seconds per byte and seconds per
    square root of a byte; n is the size of a message, p the number of ranks, both within their
    ranges, whose ends belong to them; None: no end. Where one rank talks to all others (or they to
    it), `counts` may be "partners": the terms are then taken at p - 1. Of messages in a queue it is
    "depth": p, and the ranges of ranks, are then how many these are. `source` is the place in the
    publication, `what` says more of what was timed; `timing` is "completion" where that is known to
    be from the first start to the last end, which counts where two models speak of the same.

    Fits have 95 % intervals of their coefficients, and relative absolute errors on what was left
    out of the fit, of all sizes of the pattern: cells, and rank counts. `leftover` is
    what T is multiplied with, where that helps, or gives T itself between the cells measured. Their
    placement 'any x 2' is two ranks on each of any number of nodes, '1 x any' any number on one.
    """

    pattern: str
    transport: str = "mpi"
    mpi: str = ""
    algorithm: str = ""
    placement: str = ""
    from_bytes: int = 0
    to_bytes: int | None = None
    from_ranks: int = 2
    to_ranks: int | None = None
    startup_s: dict[str, float] = {}
    per_byte_s: dict[str, float] = {}
    per_root_byte_s: dict[str, float] = {}
    axes: str = ""
    counts: Literal["ranks", "partners", "depth"] = "ranks"
    startup_ci: dict[str, Range] = {}
    per_byte_ci: dict[str, Range] = {}
    heldout_median: float | None = None
    heldout_p95: float | None = None
    heldout_cells: int = 0
    heldout_ranks_median: float | None = None
    heldout_ranks_p95: float | None = None
    leftover: Leftover | None = None
    what: str = ""
    timing: str = ""
    source: str = ""

    def covers(self, size_bytes: int, ranks: int) -> bool:
        """Whether the model holds for messages of this size among this many ranks."""
        most_bytes = math.inf if self.to_bytes is None else self.to_bytes
        most_ranks = math.inf if self.to_ranks is None else self.to_ranks
        is_of_size = self.from_bytes <= size_bytes <= most_bytes
        return is_of_size and self.from_ranks <= ranks <= most_ranks

    def time_s(self, size_bytes: float, ranks: int) -> float:
        """The time of the pattern, whether or not the model covers it."""
        time_s = self.sums_s(size_bytes, ranks)
        if self.leftover is None:
            return time_s
        if self.leftover.whole:
            inside = self.leftover.holds(size_bytes, ranks)
            return self.leftover.time_s(size_bytes, ranks) if inside else time_s
        return time_s * self.leftover.factor(size_bytes, ranks)

    def sums_s(self, size_bytes: float, ranks: int) -> float:
        """The time from its sums, without the correction for residuals."""
        counted = self.counted(ranks)
        return (
            value(self.startup_s, counted)
            + value(self.per_byte_s, counted) * size_bytes
            + value(self.per_root_byte_s, counted) * math.sqrt(size_bytes)
        )

    @property
    def letter(self) -> str:
        """The letter in formulas for the argument of the terms: p ranks, q partners, d deep."""
        return {"partners": "q", "depth": "d"}.get(self.counts, "p")

    @property
    def is_fitted(self) -> bool:
        """Whether the model was fitted to a run: publications give no intervals."""
        return bool(self.startup_ci or self.per_byte_ci)

    def counted(self, ranks: int) -> int:
        """The argument of the terms, ranks or partners, among this many ranks."""
        return ranks - 1 if self.counts == "partners" else ranks


class PublishedPoint(msgspec.Struct, frozen=True, kw_only=True):
    """Published data on a pattern at a point: a time, a rate, both, or a ratio.

    `pattern` is one of nhalf's own, or says what else was timed ("primitive", "put"); `what` says
    it in words. `size_bytes` is None if there is none or where it was not published.
    """

    pattern: str
    ranks: int = 2
    size_bytes: int | None = None
    placement: str = ""
    axes: str = ""
    time_s: float | None = None
    rate_Bps: float | None = None
    ratio: float | None = None
    what: str = ""
    source: str = ""


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """One node: the number of ranks that it holds, and its total memory bandwidth.

    `memory_Bps` bounds the messages within a node together; None if it is unknown. Where users get
    only some of the nodes, `nodes_for_users` says how many.
    """

    ranks: Several = 1
    memory_Bps: float | None = None
    nodes_for_users: Several | None = None


class Network(msgspec.Struct, frozen=True, kw_only=True):
    """The network between the nodes. None if it is unknown.

    `bandwidth_Bps` and `latency_s` are those of one link in one direction, `adapter_Bps` that of a
    node's way into the network where it is narrower than a link; in a half-duplex network both
    directions share them.
    """

    topology: Topology
    bandwidth_Bps: float | None = None
    latency_s: float | None = None
    adapter_Bps: float | None = None
    duplex: bool = True


class Protocol(msgspec.Struct, frozen=True, kw_only=True):
    """How a message layer sends: below `rendezvous_bytes` a send does not wait for its receive."""

    rendezvous_bytes: int | None = None


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """A machine: its components, its models and their sources.

    `source` is the origin of the numbers (a run, a publication), `environment` tells of the
    machine; `unknown` names useful values that were not published, `assumptions` values that the
    source does not contain, `ranges` their ranges. `collectives_by` says what operations of many
    ranks are made of, where that is no messages; `operations` are modelled so. `tables` name
    `sources` by number; in a file that was read they are curves and points.
    """

    name: str
    schema: int = SCHEMA
    title: str = ""
    year: int | None = None
    source: str = ""
    sources: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    collectives_by: str = ""
    node: Node | None = None
    computing: Computing | None = None
    gpu: GpuPart | None = None
    network: Network | None = None
    protocol: Protocol | None = None
    shared: tuple[Shared, ...] = ()
    ranges: tuple[Unpublished, ...] = ()
    patterns: tuple[PatternModel, ...] = ()
    operations: tuple[OperationMethod, ...] = ()
    points: tuple[PublishedPoint, ...] = ()
    tables: tuple[PublishedTable, ...] = ()
    environment: dict[str, str] = {}
    models: tuple[FittedModel, ...] = ()
    loggp: tuple[LogGP, ...] = ()

    @property
    def ranks_max(self) -> int | None:
        """The number of ranks that the machine holds, one per core; None if unknown."""
        per_node = self.node.ranks if self.node else 1
        if self.network is None:
            return per_node if self.node else None
        return self.network.topology.nodes * per_node or None

    @property
    def ranks_for_users(self) -> int | None:
        """The number of ranks that users get, one per core; None if unknown."""
        if self.node is None or self.node.nodes_for_users is None:
            return self.ranks_max
        return self.node.nodes_for_users * self.node.ranks

    def range_of(self, name: str) -> Range | None:
        """The range of a number that was not published, whose geometric middle the file has.

        `name` is that of an entry of `ranges`; None if the number was published.
        """
        ranges = ((entry.low, entry.high) for entry in self.ranges if entry.of == name)
        return next(ranges, None)

    @property
    def largest_bytes(self) -> int | None:
        """The largest message of all curves; None if there is none."""
        ends_bytes = (model.segments[-1].to_bytes for model in self.models if model.segments)
        return max(ends_bytes, default=None)
