"""Metrics as Prometheus has them: of a traced program while it runs or afterwards, and of a run.

Families of prometheus-client, which writes them as OpenMetrics text and serves them. Labels are
numbers of ranks, hosts, kinds of calls, libraries and what tells points apart: no command line, no
path and no variable of anybody.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from nhalf.base.errors import InputError
from nhalf.exchange.exporters import Subject, the_facts
from nhalf.facts.program.critical_path import computing_s
from nhalf.facts.program.program import Program
from nhalf.measure.traced.live import SUMS, RankCounts
from nhalf.measure.traced.tables import KINDS

if TYPE_CHECKING:
    from prometheus_client import Metric

    from nhalf.facts.facts import Facts
    from nhalf.statistics.latecomers import Straggler


COUNTERS = (
    ("nhalf_mpi_calls", "", "MPI calls that have ended."),
    ("nhalf_mpi_bytes", "bytes", "Bytes that they moved."),
    ("nhalf_mpi_time_seconds", "seconds", "Time in MPI calls."),
    ("nhalf_mpi_waiting_seconds", "seconds", "Part of it that they waited for other ranks."),
)
"""Name, unit and text of the counters by rank and kind of call, in the order of SUMS."""
WAY_COUNTERS = (
    ("nhalf_collective_calls", "", "Routed collective calls that have ended."),
    ("nhalf_collective_bytes", "bytes", "Their bytes: of the message, the vector or a block."),
    ("nhalf_collective_time_seconds", "seconds", "Time in them."),
)
"""Counters of routed collectives by operation and way."""
SAVED = ("nhalf_collective_saved_seconds", "seconds", "What ways have saved, as they learned it.")
COMPUTING = ("nhalf_computing_seconds", "seconds", "Time outside MPI, until the last collective.")
POINT_LABELS = ("pattern", "algorithm", "transport", "mpi", "placement", "ranks", "bytes", "axes")
POINT_GAUGES = {
    "median_s": ("nhalf_point_time_seconds", "seconds", "Time of an operation, by points."),
    "ci_low_s": ("nhalf_point_time_low_seconds", "seconds", "Lower end of its 95 % interval."),
    "ci_high_s": ("nhalf_point_time_high_seconds", "seconds", "Upper end of its 95 % interval."),
}


def families_of(subject: Subject, mpi: str = "") -> list[Metric]:
    """The metrics of a trace, or of a run's points, of one library if `mpi` names it.

    Raises InputError if there is nothing to tell.
    """
    if isinstance(subject, Program):
        return list(families_of_ranks(list(_ranks_of(subject)), subject.library))
    families = _families_of_run(the_facts(subject, "these metrics"), mpi)
    if not families:
        raise InputError("there are no sound points to export", "measure again")
    return families


def families_of_ranks(ranks: Sequence[RankCounts], library: str) -> Iterator[Metric]:
    """The counters of ranks, as they are or as they were at the end."""
    for row, counter in enumerate(COUNTERS):
        samples = [
            ({**_labels(counts), "kind": kind}, value)
            for counts in ranks
            for kind, value in zip(KINDS, counts.sums_per_kind[row], strict=True)
        ]
        yield _family("counter", *counter, samples)
    computing = [(_labels(counts), counts.computing_s) for counts in ranks]
    yield _family("counter", *COMPUTING, computing)
    info = {"library": library, "ranks": str(len(ranks))}
    yield _family("info", "nhalf_job", "", "The program and its MPI library.", [(info, 1.0)])


def families_of_job(
    ranks: Sequence[RankCounts],
    library: str,
    ratios: Mapping[int, float],
    stragglers: Iterable[Straggler],
) -> Iterator[Metric]:
    """The counters, and what is known while it runs; `ratios` by rank: how late each is."""
    yield from families_of_ranks(ranks, library)
    yield from _families_of_ways(ranks)
    late = {rank for straggler in stragglers for rank in straggler.ranks}
    for name, text, values in (
        ("nhalf_rank_up", "Whether the rank runs.", [counts.is_up for counts in ranks]),
        (
            *("nhalf_rank_lateness_ratio", "Its computing over the median of the other ranks."),
            [ratios.get(counts.rank, math.nan) for counts in ranks],
        ),
        ("nhalf_straggler", "Whether it is late.", [counts.rank in late for counts in ranks]),
    ):
        yield _family("gauge", name, "", text, zip(map(_labels, ranks), values, strict=True))


def _families_of_ways(ranks: Sequence[RankCounts]) -> Iterator[Metric]:
    """What routed collectives took, by operation and way; nothing of a program that is traced."""
    routed = [counts for counts in ranks if counts.sums_per_way]
    if not routed:
        return
    for row, counter in enumerate(WAY_COUNTERS):
        samples = []
        for counts in routed:
            for name, sums in counts.sums_per_way.items():
                operation, _, way = name.partition(" ")
                labels = {**_labels(counts), "operation": operation, "way": way}
                samples.append((labels, sums[row]))
        yield _family("counter", *counter, samples)
    yield _family("gauge", *SAVED, [(_labels(counts), counts.saved_s) for counts in routed])


def _labels(counts: RankCounts) -> dict[str, str]:
    return {"rank": str(counts.rank), "host": counts.host}


def _ranks_of(program: Program) -> Iterator[RankCounts]:
    """The counters of a trace that was collected."""
    outside_s = computing_s(program) if program.is_timed else {}
    columns = pl.col("count", "bytes", "time_s", "waiting_s").sum()
    sums = program.calls.group_by("rank", "kind").agg(columns)
    sums_by_kind = {(rank, kind): values for rank, kind, *values in sums.iter_rows()}
    for record in program.trace.ranks:
        values = [sums_by_kind.get((record.rank, kind), [0.0] * len(SUMS)) for kind in KINDS]
        computed_s = outside_s.get(record.rank, 0.0)
        yield RankCounts(record.rank, record.host, np.array(values, float).T, computed_s, False)


def _families_of_run(facts: Facts, mpi: str) -> list[Metric]:
    """The reported time of each sound point of runs."""
    points = facts.summary.filter(pl.col("verified") & pl.col("median_s").is_finite())
    if mpi:
        points = points.filter(pl.col("mpi") == mpi)
    rows = list(points.iter_rows(named=True))
    names = ("run", *POINT_LABELS) if points["run"].n_unique() > 1 else POINT_LABELS
    labels = [{name: str(row[name]) for name in names if row[name] != ""} for row in rows]
    return [
        _family("gauge", *gauge, zip(labels, (row[column] for row in rows), strict=True))
        for column, gauge in POINT_GAUGES.items()
        if rows
    ]


def _family(
    kind: str, name: str, unit: str, text: str, samples: Iterable[tuple[dict[str, str], float]]
) -> Metric:
    from prometheus_client import Metric

    family = Metric(name, text, kind, unit)
    suffix = {"counter": "_total", "info": "_info"}.get(kind, "")
    for labels, value in samples:
        family.add_sample(name + suffix, labels, float(value))
    return family


@dataclass(frozen=True)
class Collected:
    """What prometheus-client writes and serves: families that are collected anew each time."""

    collect: Callable[[], Iterable[Metric]]


def openmetrics(families: Iterable[Metric]) -> str:
    """The families as OpenMetrics text."""
    from prometheus_client.openmetrics.exposition import generate_latest

    collected = Collected(lambda: families)
    return str(generate_latest(collected).decode())  # type: ignore[no-untyped-call]


_TAG = str.maketrans({",": "\\,", "=": "\\=", " ": "\\ ", "\n": " ", "\\": "/"})


def influx(families: Iterable[Metric], moment_s: float | None = None) -> str:
    """The families as Influx lines, one for each sample that has a number; `moment_s` is when that
    was, in seconds since 1970.
    """
    end = "" if moment_s is None else f" {round(moment_s * 1e9)}"
    lines = []
    for sample in (sample for family in families for sample in family.samples):
        tags = (f",{name}={text.translate(_TAG)}" for name, text in sorted(sample.labels.items()))
        if math.isfinite(sample.value):
            lines.append(f"{sample.name}{''.join(tags)} value={sample.value!r}{end}\n")
    return "".join(lines)


LOOPBACK = "127.0.0.1"
PORT_MAX = 65535


def parse_address(text: str) -> tuple[str, int]:
    """Host and port: '9400' is of this host alone, for others '0.0.0.0:9400' or '[::]:9400'; 0 is
    any port that is free. Raises InputError for any other text.
    """
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdecimal() and int(port) <= PORT_MAX) or text.startswith(":"):
        raise InputError(f"{text!r} is no address to listen at", "write 9400 or 0.0.0.0:9400")
    return host.strip("[]") or LOOPBACK, int(port)


@contextmanager
def served(host: str, port: int, collect: Callable[[], Iterable[Metric]]) -> Iterator[str]:
    """Serve what `collect` returns, from threads apart, while the block lasts; yields the URL.

    Raises InputError if nothing can listen there.
    """
    from prometheus_client import start_http_server

    try:
        server, thread = start_http_server(port, host, Collected(collect))
    except OSError as error:
        text = f"cannot listen at {host}, port {port}: {error.strerror}"
        raise InputError(text, "choose another --listen") from error
    try:
        yield f"http://{f'[{host}]' if ':' in host else host}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
