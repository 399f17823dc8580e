"""HPC Challenge: latency and bandwidth of ping-pongs and rings, from the summary of hpccoutf.txt.

Latencies are of messages of 8 bytes, in microseconds, bandwidths of 2,000,000 bytes, 10^9 bytes per
second and process. Of ping-pongs the slowest pair counts, as in the benchmark's results; the others
are values. In a ring every process sends to both neighbours at once: the bandwidth of a process
counts the bytes that it sends both ways.
"""

import re

from nhalf.exchange.importers import Imported, Importer
from nhalf.exchange.logs.part import LogPart, is_time

LATENCY_BYTES, BANDWIDTH_BYTES = 8, 2_000_000
_ENTRY = re.compile(r"\s*([A-Za-z]\w{3,60})=(\S{1,40})\s*$")
_RINGS = (("NaturallyOrderedRing", "natural"), ("RandomlyOrderedRing", "random"))
_KINDS = (
    ("Latency_usec", LATENCY_BYTES, "Min", "Max"),
    ("Bandwidth_GBytes", BANDWIDTH_BYTES, "Max", "Min"),
)
"""A quantity's name, the size of its messages, and which end is the fastest and the slowest."""


class Hpcc(Importer):
    """Entries NAME=VALUE of the summary; a second summary is another table."""

    description = "HPC Challenge (latency and bandwidth in the summary)"
    marks = ("Begin of Summary section", "Latency-Bandwidth-Benchmark R", "PingPongLatency_usec=",
             "OrderedRingLatency_usec=")  # fmt: skip
    head = r"Begin of Summary section|Begin of LatencyBandwidth section|CommWorldProcs="

    def read(self, part: LogPart) -> list[Imported]:
        """The points of every summary."""
        all_points: list[Imported] = []
        entries: dict[str, float] = {}
        table = 0
        for place, line in enumerate(part.lines):
            part.note_launcher(line, place)
            if "Begin of Summary section" in line:
                all_points += _points(entries, table, part)
                entries, table = {}, table + 1
            elif entry := _ENTRY.match(line[:200]):
                entries[entry[1]] = part.number(entry[2])
        return all_points + _points(entries, table, part)


def _points(entries: dict[str, float], table: int, part: LogPart) -> list[Imported]:
    points = []
    processes = entries.get("CommWorldProcs", 0.0)
    ranks = int(processes) if 0 < processes < 1 << 20 else 0
    for quantity, size_bytes, fastest, slowest in _KINDS:
        slow_s = _time_s(entries.get(f"{slowest}PingPong{quantity}", 0.0), quantity, size_bytes)
        if is_time(slow_s):
            values = {}
            for name, value_name in ((fastest, "minimum_s"), ("Avg", "average_s")):
                value = entries.get(f"{name}PingPong{quantity}", 0.0)
                if is_time(time_s := _time_s(value, quantity, size_bytes)):
                    values[value_name] = time_s
            axes = {"pair": "slowest"}
            points.append(
                Imported("pingpong", size_bytes, (slow_s,), 2, size_bytes, table, axes, values)
            )
        for name, order in _RINGS:
            ring_s = _time_s(entries.get(f"{name}{quantity}", 0.0), quantity, size_bytes)
            if not is_time(ring_s):
                continue
            count = ranks or part.ranks_of(table, "HPC Challenge")
            axes = {"order": order}
            moved = size_bytes * count
            points.append(Imported("hpcc-ring", size_bytes, (ring_s,), count, moved, table, axes))
    return points


def _time_s(value: float, quantity: str, size_bytes: int) -> float:
    """The time of a message, seconds; 0 without a value."""
    if not value > 0:
        return 0.0
    return value / 1e6 if quantity.startswith("Latency") else size_bytes / (value * 1e9)
