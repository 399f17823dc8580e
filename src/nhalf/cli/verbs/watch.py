"""`nhalf watch`: the counters of a program while it runs, and who comes late."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nhalf.base.errors import InputError
from nhalf.base.printable import say
from nhalf.base.request import REQUIRED, option, word
from nhalf.base.units import format_duration, parse_duration
from nhalf.cli.lazy import lazily
from nhalf.cli.options import JsonOption

if TYPE_CHECKING:
    from prometheus_client import Metric

    from nhalf.statistics.latecomers import Straggler

with lazily(globals()):
    from nhalf.exchange import metrics
    from nhalf.exchange.metrics import parse_address, served
    from nhalf.measure.traced.live import LiveTrace
    from nhalf.present.program import watching
    from nhalf.present.terminal.output import emit_json
    from nhalf.statistics.latecomers import Lateness

GROUP = "program"
POLL_S = 0.25
TOLD_S = 60.0
"""How often a line has the counters of routed collectives."""
BUSY_SHARE = 0.001
"""The part of one processor that looking may take."""
NEWEST_SHARE = 1 / 16
"""The part of the newest look in the mean of what looks take."""
LOOKS_TOGETHER = 4
"""Looks that are judged at a time, which takes less than one by one."""


@dataclass(frozen=True, kw_only=True)
class Request(JsonOption, heading="What to watch"):
    """The program to watch, and what to do with its counters."""

    run: Path = word(REQUIRED, "Folder of a trace that is being made, or of mpi preload.", "RUN")
    once: bool = option(False, "Print the counters as OpenMetrics text, and end.")
    listen: str = option(
        "",
        "Serve them for Prometheus at this port, e.g. 9400, of this host alone; for others "
        "0.0.0.0:9400.",
        metavar="[HOST:]PORT",
    )
    timeout: str = option("1m", "Give up if no rank has come out of MPI_Init for this long.")
    silence: str = option("1h", "Give up if ranks on other hosts make no call for this long.")


def command(request: Request) -> None:
    """Watch a traced or preloaded program while it runs: counters, and who comes late.

    It reads files that the ranks map, sends nothing and needs no root. It ends with the program.

    nhalf watch runs/traced
    nhalf watch runs/traced --listen 9400
    nhalf watch runs/traced --once
    """
    if request.once and request.listen:
        raise InputError("--once serves nothing", "leave out --once or --listen")
    address = parse_address(request.listen) if request.listen else None
    watch = Watch(request.run)
    watch.wait(parse_duration(request.timeout))
    if request.once and not request.json:
        sys.stdout.write(metrics.openmetrics(watch.families()))
        return
    with served(*address, watch.families) if address else nullcontext() as url:
        say(f"serving {url}" if url else "")
        try:
            for line in () if request.once else watch.lines(parse_duration(request.silence)):
                if not request.json:
                    sys.stdout.write(f"{watching.clock(time.time())}  {line}\n")
                    sys.stdout.flush()
        finally:
            if request.json:
                emit_json(watch.as_json())


class Watch:
    """A program that runs, and what has been found of it."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._trace = folder, LiveTrace(folder)
        self._began_s = time.time()
        self._lateness: Lateness | None = None
        self._looks: list[tuple[float, list[int], list[float]]] = []
        self._late: dict[tuple[int, ...], Straggler] = {}
        self._past: list[tuple[Straggler, float]] = []

    def wait(self, timeout_s: float) -> None:
        """Wait for the first rank. Raises InputError if none comes."""
        end_s = time.monotonic() + timeout_s
        self._trace.look()
        while not self._trace.ranks:
            if time.monotonic() >= end_s:
                raise InputError(
                    f"no rank writes into {self._folder}",
                    "name the folder of nhalf trace or mpi preload --out, or give a longer "
                    "--timeout",
                )
            time.sleep(POLL_S)
            self._trace.look()

    def lines(self, silence_s: float) -> Iterator[str]:
        """Look until the program has ended, and yield a line for each change.

        Whether ranks of other hosts run is not seen from here. Raises InputError if all ranks are
        there and none has written anything for silence_s seconds.
        """
        yield watching.begin_line(self._trace)
        look_s, before_s, told_s = 0.0, _used_s(), time.monotonic()
        while self._trace.state == "running":
            if self._trace.silent_s >= silence_s:
                raise InputError(
                    f"no rank has made a call for {format_duration(silence_s)}, and none runs here",
                    "watch on a host of the program, or give a longer --silence",
                )
            self._trace.look()
            yield from self._changes()
            if time.monotonic() >= told_s + TOLD_S:
                told_s = time.monotonic()
                yield from self._ways()
            # A mean: the first look takes long, and says little of those that follow.
            used_s = _used_s()
            look_s += (used_s - before_s - look_s) * NEWEST_SHARE
            before_s = used_s
            time.sleep(max(POLL_S, look_s / BUSY_SHARE))
        yield from self._ways()
        yield watching.end_line(self._trace, time.time() - self._began_s)

    def families(self) -> Iterator[Metric]:
        """Everything that is known now, as metrics."""
        self._trace.look()
        ratios = {}
        if self._lateness is not None:
            ratios = dict(zip(self._lateness.ranks, map(float, self._lateness.ratios), strict=True))
        library = watching.library_of(self._trace)
        late = list(self._late.values())
        return metrics.families_of_job(self._trace.counts(), library, ratios, late)

    def as_json(self) -> dict[str, Any]:
        """Everything that is known, with who was late before."""
        late = [*self._past, *((straggler, None) for straggler in self._late.values())]
        return {
            "run": str(self._folder),
            "library": watching.library_of(self._trace),
            "ranks": self._trace.size,
            "state": self._trace.state,
            "watched_s": time.time() - self._began_s,
            "stragglers": [{**asdict(of), "until_s": until_s} for of, until_s in late],
            "counters": [watching.counters_json(counts) for counts in self._trace.counts()],
        }

    def _ways(self) -> Iterator[str]:
        """What routed collectives take, if there are any."""
        if self._trace.ranks[0].is_routed and (line := watching.ways_line(self._trace.counts())):
            yield line

    def _changes(self) -> Iterator[str]:
        """Who has become late, and who is no longer."""
        ranks = self._trace.ranks
        if len(ranks) < self._trace.size or self._trace.state != "running":
            return
        collectives = [rank.collectives for rank in ranks]
        self._looks.append((time.time(), collectives, [rank.computed_s for rank in ranks]))
        if len(self._looks) < LOOKS_TOGETHER:
            return
        if self._lateness is None:
            self._lateness = Lateness(
                [rank.process.rank for rank in ranks], [rank.host for rank in ranks]
            )
        for look in self._looks:
            self._lateness.add(*look)
        self._looks.clear()
        late_now = {straggler.ranks: straggler for straggler in self._lateness.stragglers()}
        for ranks_late, straggler in late_now.items():
            if ranks_late not in self._late:
                yield watching.late_line(straggler)
        for ranks_late, straggler in self._late.items():
            if ranks_late not in late_now:
                self._past.append((straggler, time.time()))
                yield watching.on_time_line(straggler)
        self._late = late_now


def _used_s() -> float:
    """The processor time of this thread."""
    usage = resource.getrusage(resource.RUSAGE_THREAD)
    return usage.ru_utime + usage.ru_stime
