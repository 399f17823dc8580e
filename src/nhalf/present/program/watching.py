"""What is said of a program while it runs: one line for each change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from nhalf.base.dates import date_of
from nhalf.base.numbers import percent, times
from nhalf.base.units import format_duration
from nhalf.measure.traced.collect import listed
from nhalf.measure.traced.live import KILLED, SUMS, LiveTrace, RankCounts
from nhalf.measure.traced.tables import KINDS
from nhalf.mpi.identify import library_title
from nhalf.statistics.latecomers import Straggler

SAVED_MIN_S = 0.01
"""Less is not said to be saved."""


def clock(moment_s: float) -> str:
    """'14:02:31' for seconds since 1970."""
    date = date_of(moment_s)
    return date.strftime("%H:%M:%S") if date else "?"


def library_of(trace: LiveTrace) -> str:
    """The MPI library by its usual name and version; '' if no rank is known."""
    return library_title(" ".join(trace.ranks[0].process.library.split())) if trace.ranks else ""


def begin_line(trace: LiveTrace) -> str:
    """What is watched."""
    hosts = dict.fromkeys(rank.host for rank in trace.ranks)
    where = next(iter(hosts)) if len(hosts) == 1 else f"{len(hosts)} hosts"
    return f"watching {trace.size} ranks of {library_of(trace)} on {where}"


def late_line(straggler: Straggler) -> str:
    """'n3 (rank 3) enters 97 % of collectives 1.9x late since 14:02:31'."""
    return (
        f"{_named(straggler)} enters {percent(straggler.share)} of collectives "
        f"{times(straggler.ratio)} late since {clock(straggler.since_s)}"
    )


def on_time_line(straggler: Straggler) -> str:
    """That a straggler is no longer one."""
    return f"{_named(straggler)} is on time again"


def _named(straggler: Straggler) -> str:
    """A node by its name, with its ranks; a rank of a node whose other ranks are on time."""
    ranks = f"rank{listed(straggler.ranks)}"
    host = straggler.host
    return f"{host} ({ranks})" if straggler.is_whole_host else f"{ranks} on {host}"


def end_line(trace: LiveTrace, watched_s: float) -> str:
    """How it ended."""
    if trace.state != KILLED:
        return f"the program has ended; watched for {format_duration(watched_s)}"
    unfinished = [rank.process.rank for rank in trace.ranks if not rank.has_finished]
    return f"killed: rank{listed(unfinished)} ended without MPI_Finalize"


def ways_line(ranks: Sequence[RankCounts]) -> str:
    """'1,204 collectives per rank take 31 % of the time: 92 % shared-memory, 8 % native; 0.4 s
    saved'; '' where none are routed.
    """
    calls_by_way: Counter[str] = Counter()
    for counts in ranks:
        for name, (calls, *_) in counts.sums_per_way.items():
            calls_by_way[name.partition(" ")[2]] += calls
    calls = sum(calls_by_way.values())
    if not calls:
        return ""
    time_s = sum(float(counts.sums_per_kind[2].sum()) for counts in ranks)
    all_s = time_s + sum(counts.computing_s for counts in ranks)
    ways = (f"{percent(of_way / calls)} {way}" for way, of_way in calls_by_way.most_common())
    saved_s = max(counts.saved_s for counts in ranks)
    return (
        f"{round(calls / len(ranks)):,} collectives per rank take {percent(time_s / all_s)} of the "
        f"time: {', '.join(ways)}"
        + (f"; {format_duration(saved_s)} saved" if saved_s >= SAVED_MIN_S else "")
    )


def counters_json(counts: RankCounts) -> dict[str, Any]:
    """The counters of a rank as JSON."""
    kinds = [
        {"kind": kind, **dict(zip(SUMS, map(float, sums), strict=True))}
        for kind, sums in zip(KINDS, counts.sums_per_kind.T, strict=True)
    ]
    ways = [
        {
            **dict(zip(("operation", "way"), name.split(" "), strict=True)),
            **dict(zip(SUMS, map(float, sums), strict=True)),
        }
        for name, sums in counts.sums_per_way.items()
    ]
    return {
        **({"ways": ways, "saved_s": counts.saved_s} if ways else {}),
        **{"rank": counts.rank, "host": counts.host, "up": counts.is_up},
        **{"computing_s": counts.computing_s, "kinds": kinds},
    }
