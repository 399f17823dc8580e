"""The reported gap: from round trips, or from the stream if those show only noise."""

from __future__ import annotations

from nhalf.results.logp.times import GAP, Times, positive, signed
from nhalf.statistics.intervals import Interval


def from_round_trips(times: Times) -> Interval | None:
    """g(1) = RTT(1) - RTT(0) + g(0), which may come out below 0."""
    return signed(times.gap_s(1))


def from_stream(times: Times) -> Interval | None:
    """The gap of the stream of one byte or, if that was not measured, of empty messages."""
    of_one_byte = positive(times(GAP, 1))
    return of_one_byte if of_one_byte is not None else positive(times(GAP, 0))


def is_noise(gap: Interval | None) -> bool:
    """Whether a difference of round trips is indistinguishable from 0: a gap is positive."""
    return gap is not None and gap.low <= 0


def reported(times: Times) -> Interval | None:
    """The gap of one byte: from round trips as in the method, if the result is positive."""
    gap, stream = from_round_trips(times), from_stream(times)
    return stream if stream is not None and is_noise(gap) else gap
