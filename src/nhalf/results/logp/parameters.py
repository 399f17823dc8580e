"""The parameters of the LogP family from four patterns, by the parameterised method.

o_s(m), o_r(m) are the processor time of a send and of a receive of m bytes, g(m) is the time
between two messages, L the rest of the transfer. Only g(0) needs a saturated network (T. Kielmann,
H. Bal, K. Verstoep, Fast Measurement of LogP Parameters for Message Passing Platforms, IPDPS 2000
Workshops, LNCS 1800):

    g(0) from a stream of empty messages;  RTT(m): m bytes there, an empty message back
    g(m) = RTT(m) - RTT(0) + g(0)          L = RTT(0)/2 - g(0)

and, in the terms of LogP (D. Culler et al., PPoPP 1993) and LogGP (A. Alexandrov et al., SPAA
1995), in which L excludes the processors' work,

    L_LogP = L + g(1) - o_s(1) - o_r(1)    o = (o_s(1) + o_r(1))/2    g = g(1)
    G = slope of g(m) over large m; published values are g(m)/m at the largest m

Each launch gives one set of parameters, and intervals are taken over those sets: a disturbance of
a whole launch cancels in the differences. Nothing is clipped: results that contradict the model's
assumptions are reported (`doubts`). If g(1) is indistinguishable from 0 because of noise, the gap
timed in the stream is reported (gap.py), with a warning.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np
import polars as pl

from nhalf.base.listing import listed
from nhalf.results.logp import gap
from nhalf.results.logp.times import (
    GAP,
    NEEDED,
    PATTERNS,
    RECEIVE,
    ROUND_TRIP,
    ROUNDING,
    SEND,
    Times,
    divided,
    positive,
    signed,
)
from nhalf.results.logp.values import LogP, Size
from nhalf.results.logp.warnings import with_warnings
from nhalf.statistics.intervals import (
    Floats,
    Interval,
)
from nhalf.statistics.summary import reported_medians
from nhalf.store.keys import RUN_SUBJECT

LARGE = 16
"""G is the slope over the sizes of at least a sixteenth of the largest one."""
GROWTH = 2.0
"""G is reported if the largest size has at least this many times the gap of an empty message:
otherwise no measured time depends on the size."""
IN_STATE = "in the state of the machine that most of the run was measured in"


def each_logp(stated: pl.DataFrame) -> list[tuple[dict[str, Any], LogP]]:
    """The parameters of every subject (RUN_SUBJECT) for which one of the patterns was measured.

    `stated` are all visits of the runs with their states (`stated_visits`): the parameters are
    those in the state of the machine that most of a run was measured in.
    """
    sound = pl.col("pattern").is_in(list(PATTERNS)) & pl.col("verified")
    launches = reported_medians(stated.filter(sound))
    elsewhere = stated.filter(sound & pl.col("elsewhere"))
    parameters = []
    for key, rows in launches.group_by(RUN_SUBJECT, maintain_order=True):
        subject = dict(zip(RUN_SUBJECT, key, strict=True))
        lost = elsewhere.filter(*(pl.col(name) == value for name, value in subject.items()))
        parameters.append((subject, logp(rows, set(lost.select("pattern", "bytes").rows()))))
    return parameters


def logp(launches: pl.DataFrame, elsewhere: Set[tuple[str, int]] = frozenset()) -> LogP:
    """The parameters of one library from its launch medians.

    `launches` has the columns pattern, bytes, launch and median_s (seconds), of valid points only;
    `elsewhere` are the patterns and sizes that were measured in another state of the machine.
    """
    times = Times(launches)
    half_s = times(ROUND_TRIP, 0) / 2
    empty_gap_s = times(GAP, 0)
    send_s, receive_s = times(SEND, 1), times(RECEIVE, 1)
    # In the sum L + g(1) the gap of empty messages cancels: L is known without it.
    latency_s = signed(times(ROUND_TRIP, 1) - half_s - send_s - receive_s)
    parameterised_s = signed(half_s - empty_gap_s)
    slopes = _slopes(times)
    largest = max(times.sizes(ROUND_TRIP), default=0)
    sizes = tuple(_size(times, size) for size in times.sizes())
    parameters = LogP(
        launches=times.count,
        half_round_trip_s=positive(half_s),
        send_overhead_s=positive(send_s),
        recv_overhead_s=positive(receive_s),
        overhead_s=positive((send_s + receive_s) / 2),
        gap_s=gap.reported(times),
        latency_s=latency_s,
        gap_per_byte_s=signed(slopes),
        gap_per_byte_published_s=signed(times.gap_s(largest) / largest) if largest else None,
        parameterised_latency_s=parameterised_s,
        saturation_gap_s=positive(empty_gap_s),
        busy_share=positive(divided(send_s + receive_s, half_s)),
        identifiable=_identifiable(latency_s, positive(half_s), times.count),
        sizes=sizes,
        missing=_missing(times, slopes, elsewhere),
    )
    return with_warnings(parameters, times)


def _size(times: Times, size: int) -> Size:
    return Size(
        size_bytes=size,
        send_overhead_s=positive(times(SEND, size)),
        recv_overhead_s=positive(times(RECEIVE, size)),
        gap_s=signed(times.gap_s(size)),
        stream_gap_s=positive(times(GAP, size)),
    )


def _slopes(times: Times) -> Floats:
    """G of each launch: the median of the slopes between all pairs of large sizes.

    (H. Theil, Indagationes Mathematicae 12 (1950) 85; P. Sen, JASA 63 (1968) 1379.) A single
    outlier does not bias it. NaN for launches with fewer than two large sizes.
    """
    nothing = np.full(times.count, np.nan)
    measured = times.sizes(ROUND_TRIP)
    if not measured or not _grows(times, measured[-1]):
        return nothing
    large = [size for size in measured if size >= measured[-1] / LARGE]
    gaps = np.array([times.gap_s(size) for size in large])
    first, second = np.triu_indices(len(large), k=1)
    between = np.subtract(*(np.array(large, dtype=np.float64)[i] for i in (second, first)))
    slopes = (gaps[second] - gaps[first]) / between[:, None]
    some = np.isfinite(slopes).any(axis=0)
    nothing[some] = np.nanmedian(slopes[:, some], axis=0)
    return nothing


def _grows(times: Times, largest: int) -> bool:
    """Whether the largest message costs much more than an empty one."""
    ratio = signed(divided(times.gap_s(largest), times(GAP, 0)))
    return ratio is not None and ratio.median >= GROWTH


def _missing(times: Times, slopes: Floats, elsewhere: Set[tuple[str, int]]) -> str:
    """What was not measured, in a sentence; '' if nothing is missing."""
    lacking = [(p, s) for p, s in NEEDED if not np.isfinite(times(p, s)).any()]
    if lacking:
        points = listed([f"{pattern} of {size} B" for pattern, size in lacking])
        state = f" {IN_STATE}" if elsewhere >= set(lacking) else ""
        return f"{points} {'was' if len(lacking) == 1 else 'were'} not measured{state}"
    together = np.isfinite(sum(times(pattern, size) for pattern, size in NEEDED))
    if not together.any():
        return "no launch measured all the points that the parameters need"
    if not np.isfinite(slopes).any():
        return "G needs two large sizes, whose messages clearly take longer than an empty one"
    return ""


def _identifiable(
    latency_s: Interval | None, half_s: Interval | None, launches: int
) -> bool | None:
    """Whether the interval of L excludes 0; None without an interval."""
    if latency_s is None or half_s is None or launches < 2:
        return None
    return latency_s.low > ROUNDING * half_s.median
