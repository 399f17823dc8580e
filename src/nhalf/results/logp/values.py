"""The parameters of the LogP family for one run."""

from __future__ import annotations

from dataclasses import dataclass

from nhalf.statistics.intervals import (
    Interval,
)


@dataclass(frozen=True)
class Size:
    """The parameters at one size, each None if it was not measured.

    `gap_s` follows from round trips; `stream_gap_s` was measured in a saturated stream.
    """

    size_bytes: int
    send_overhead_s: Interval | None
    recv_overhead_s: Interval | None
    gap_s: Interval | None
    stream_gap_s: Interval | None


@dataclass(frozen=True)
class LogP:
    """The parameters of one library, in seconds (G: seconds per byte), None if unknown.

    `identifiable` is whether the interval of L lies above 0; None without an interval. `missing`
    says what was not measured, `doubts` what contradicts the model, in sentences.
    """

    launches: int
    half_round_trip_s: Interval | None
    send_overhead_s: Interval | None
    recv_overhead_s: Interval | None
    overhead_s: Interval | None
    gap_s: Interval | None
    latency_s: Interval | None
    gap_per_byte_s: Interval | None
    gap_per_byte_published_s: Interval | None
    parameterised_latency_s: Interval | None
    saturation_gap_s: Interval | None
    busy_share: Interval | None
    identifiable: bool | None
    sizes: tuple[Size, ...] = ()
    missing: str = ""
    doubts: tuple[str, ...] = ()
