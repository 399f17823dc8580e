"""perftest: latency and bandwidth of ib_send, ib_write and ib_read, the layer below MPI.

Latencies are half a round trip of sends and writes, and the whole of reads, microseconds: the
typical one counts, which is the median. Rates are averages, in 10^6 or 2^20 bytes or 10^9 bits per
second, and count both directions where both send. Of two sides' memories a log says its own.
"""

import math
import re
from dataclasses import dataclass, field

from nhalf.exchange.importers import Imported, Importer
from nhalf.exchange.logs.part import LogPart, is_row, is_time, ratio, slug
from nhalf.exchange.titles import memory_axis

TRANSPORT = "verbs"
_TITLE = re.compile(
    r"\b(Send|RDMA_Write|RDMA_Read|RDMA Write|RDMA Read|Write|Read|Atomic\b.{0,40}?|[A-Z]\w{2,30})"
    r"(?: Post List)? (Bidirectional )?(BW|Latency|Bandwidth) Test\b"
)
_COMMAND = re.compile(r"\bib_(send|write|read|atomic)_(lat|bw)\b(.{0,400})")
_OF_GPU = re.compile(r"\s--use_(?:cuda|rocm|hl|mlu)|bytes GPU buffer|allocated GPU buffer")
_BOTH_WAYS = re.compile(r"\s(?:-b|--bidirectional)(?=\s|$)")
_SETTING = re.compile(
    r"(Number of qps|Connection type|Mtu|Number of messages)\s{1,20}:\s?(\S{1,20})"
)
_COLUMN = re.compile(
    r"#bytes|#iterations|t_\w{3,8}\[usec\]|99(?:\.9+)?% percentile\[usec\]|"
    r"BW (?:peak|average)\s?\[[^\]]{2,10}\]|MsgRate\s?\[Mpps\]|tps average"
)
_RATES = {"MB/sec": 2**20, "MiB/sec": 2**20, "Gb/sec": 1e9 / 8, "Gbit/sec": 1e9 / 8}
"""Bytes per second of a unit: what perftest calls megabytes are 2^20 bytes."""
_VALUES_S = {
    "t_min[usec]": "minimum_s", "t_max[usec]": "maximum_s", "t_avg[usec]": "average_s",
    "99% percentile[usec]": "p99_s", "99.9% percentile[usec]": "p99_9_s",
}  # fmt: skip

_PATTERNS = {
    ("send", False): "pingpong", ("send", True): "stream",
    ("write", False): "put-pingpong", ("write", True): "put-stream",
    ("read", False): "get", ("read", True): "get-stream",
}  # fmt: skip
"""By operation, and whether the table has rates."""


@dataclass
class _Table:
    number: int
    operation: str = ""
    is_rate: bool = False
    both_ways: bool = False
    columns: list[str] = field(default_factory=list)
    head: dict[str, str] = field(default_factory=dict)
    memory: str = "host"
    has_rows: bool = False


class Perftest(Importer):
    """Tables by their columns' names."""

    description = "perftest (ib_send, ib_write and ib_read, _lat and _bw)"
    marks = ("#iterations",)
    head = r"#bytes +#iterations"

    def recognises(self, text: str) -> bool:
        """Whether there is a title or a head of perftest; OSU's titles are others."""
        return re.search(r"#bytes\s{1,12}#iterations", text) is not None

    def read(self, part: LogPart) -> list[Imported]:
        """Every valid row of every table."""
        points: list[Imported] = []
        table = _Table(0)
        memory = "host"
        for place, line in enumerate(part.lines):
            memory = "device" if _OF_GPU.search(line[:1000]) else memory
            if title := _TITLE.search(line[:200]):
                operation = title[1].lower().replace("rdma", "").strip(" _")
                table = _Table(table.number + 1, operation, title[3] != "Latency", bool(title[2]))
            elif command := _COMMAND.search(line[:1000]):
                ways = _BOTH_WAYS.search(command[3])
                table = _Table(table.number + 1, command[1], command[2] == "bw", bool(ways))
            elif "#bytes" in line and "#iterations" in line:
                if table.has_rows:
                    # The title of another run was lost.
                    table = _Table(table.number + 1)
                table.columns = [" ".join(c.split()) for c in _COLUMN.findall(line[:400])]
            elif settings := _SETTING.findall(line[:200]):
                table.head |= {slug(name): slug(value) for name, value in settings}
            elif table.columns and is_row(line):
                if not table.has_rows:
                    table.has_rows, table.memory, memory = True, memory, "host"
                point = _row(line.split(), table, part)
                if point is None:
                    part.pass_over(place)
                else:
                    points.append(point)
        return points


def _row(tokens: list[str], table: _Table, part: LogPart) -> Imported | None:
    if len(tokens) != len(table.columns):
        return None
    rate = next((name for name in table.columns if name.startswith("BW average")), "")
    if (table.operation, bool(rate)) not in _PATTERNS or table.is_rate != bool(rate):
        _refuse(table, part)
        return None
    cells = dict(zip(table.columns, map(part.number, tokens), strict=True))
    size_bytes = part.size(tokens[0])
    ways = 2 if table.both_ways else 1
    if rate:
        unit = _RATES.get(rate.partition("[")[2].rstrip("]"), 0.0)
        time_s = ratio(ways * size_bytes, cells[rate] * unit)
    else:
        time_s = cells.get("t_typical[usec]", cells.get("t_avg[usec]", 0.0)) / 1e6
    if size_bytes < 0 or not is_time(time_s):
        return None
    values = {
        _VALUES_S[name]: value / 1e6
        for name, value in cells.items()
        if name in _VALUES_S and math.isfinite(value)
    }
    pattern = _PATTERNS[table.operation, bool(rate)]
    axes = {**memory_axis(table.memory), **({"ways": "both"} if table.both_ways else {})}
    return Imported(
        pattern, size_bytes, (time_s,), 2, ways * size_bytes, table.number, axes, values, (),
        TRANSPORT, "", head=dict(table.head),
    )  # fmt: skip


def _refuse(table: _Table, part: LogPart) -> None:
    if table.operation and (table.operation, False) not in _PATTERNS:
        reason = f"has a table of perftest's test of {table.operation}, which is not read"
        part.refuse(reason, "take this table out of the log")
    else:
        remedy = "keep the line with its title, such as: Send Latency Test"
        part.refuse("does not name the test of perftest (send, write or read)", remedy)
