"""nvbandwidth: tables of the screen, and the JSON of -j: copies between host and GPU memory.

Rates are in 10^9 bytes per second, the median of some samples (3) in one process; host memory is
pinned. Latencies are nanoseconds of a load that waits for the one before it, in 2 MiB. The output
does not hold the size of the copies: it is that of the command (-b), else the program's default.
A cell becomes a point of one GPU; GPU 0 has no axis. What is copied the other way at the same time
in a bidirectional test is not counted, as there.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nhalf.exchange.importers import Imported, Importer
from nhalf.exchange.logs.part import LogPart, is_time, ratio
from nhalf.exchange.titles import memory_axis

TRANSPORT = "gpu"
DEFAULT_BYTES, LATENCY_BYTES = 512 << 20, 2 << 20
_COPY = re.compile(
    r"(host_to_device|device_to_host|all_to_host|host_to_all)(_bidirectional)?_memcpy_(ce|sm)"
)
_BETWEEN = re.compile(r"device_to_device_memcpy_(?:read|write)_(ce|sm)")
_LATENCY = {"host_device_latency_sm": "pinned", "device_to_device_latency_sm": "device"}
_SIZE = re.compile(r"nvbandwidth\b.{0,200}?\s(?:-b|--bufferSize)[\s=]?(\d{1,7})\b")
_RUNNING = re.compile(r"Running (\w{4,60})\.\s*$")
_RECORD = re.compile(r'\{\s{0,80}"(?:average|bandwidth_description|name)"\s{0,4}:')
_SMALLER = "buffer size that is smaller"
_RATE, _TIME = "(GB/s)", "(ns)"


@dataclass
class _Table:
    """A matrix: its test, what its cells are, and the GPU of every column."""

    number: int
    test: str = ""
    description: str = ""
    columns: list[str] = field(default_factory=list)


class Nvbandwidth(Importer):
    """Every cell of every matrix, of the screen and of JSON."""

    description = "nvbandwidth (screen and JSON)"
    marks = ('"nvbandwidth"', "nvbandwidth Version:", "GPU(column)")
    head = r'"nvbandwidth" ?:|nvbandwidth Version:|Running \w{4,60}\.|(?<!")memcpy .{0,30}GPU\(col'

    def read(self, part: LogPart) -> list[Imported]:
        """The points of all matrices; other tests than copies and latencies are passed over."""
        text = "\n".join(part.lines)
        sizes = {int(size) << 20 for size in _SIZE.findall(text)}
        size_bytes = sizes.pop() if len(sizes) == 1 else DEFAULT_BYTES
        if sizes or (size_bytes == DEFAULT_BYTES and _SMALLER in text):
            reason = "does not say how large the copies of nvbandwidth were"
            part.refuse(reason, "put the command above each output, such as: nvbandwidth -b 64 -j")
            return []
        points = _of_json(text, part, size_bytes)
        table = _Table(0)
        for place, line in enumerate(part.lines):
            if '"' in line:
                continue
            if running := _RUNNING.search(line[:200]):
                table = _Table(table.number + 1, running[1])
            elif "GPU(column)" in line:
                table = _Table(table.number + 1, table.test, line.strip())
            elif words := line.split():
                points += _row(words, table, part, place, size_bytes)
        return points


def _row(
    words: Sequence[str], table: _Table, part: LogPart, place: int, size_bytes: int
) -> list[Imported]:
    """The points of a line of the screen; the first one below a description names the columns."""
    if not table.description or not words[0].isdecimal():
        return []
    if not table.columns:
        table.columns = list(words)
        return []
    points = []
    if len(words) == len(table.columns) + 1:
        points = list(_cells(table, int(words[0][:4]), words[1:], part, size_bytes))
    if not points:
        part.pass_over(place)
    return points


def _of_json(text: str, part: LogPart, size_bytes: int) -> list[Imported]:
    decode = json.JSONDecoder(strict=False).raw_decode
    points: list[Imported] = []
    for number, match in enumerate(_RECORD.finditer(text) if '"nvbandwidth"' in text else ()):
        try:
            record, _ = decode(text[match.start() :])
        except (ValueError, RecursionError):
            record = {"status": "incomplete"}
        status, matrix = record.get("status"), record.get("bandwidth_matrix")
        rows = matrix if isinstance(matrix, list) and status == "Passed" else []
        description = str(record.get("bandwidth_description"))
        table = _Table(-1 - number, str(record.get("name")), description)
        cells = [
            point
            for row_number, row in enumerate(rows)
            if isinstance(row, list)
            for point in _cells(table, row_number, list(map(str, row)), part, size_bytes)
        ]
        if not cells and status != "Waived":
            part.pass_over(text.count("\n", 0, match.start()))
        points += cells
    return points


def _cells(
    table: _Table, row: int, cells: Sequence[str], part: LogPart, size_bytes: int
) -> Iterator[Imported]:
    """The points of one row of a matrix; none of a test that is not known."""
    is_latency = table.description.endswith(_TIME)
    is_between = "GPU(row)" in table.description
    identity = _identity(table)
    if identity is None or not (is_latency or table.description.endswith(_RATE)):
        return
    pattern, axes = identity
    size_bytes = LATENCY_BYTES if is_latency else size_bytes
    for column, cell in enumerate(cells):
        value = part.number(cell)
        time_s = value / 1e9 if is_latency else ratio(size_bytes, value * 1e9)
        if not is_time(time_s):
            continue
        ends = (row, column) if "->" in table.description else (column, row)
        gpu = "-".join(map(str, ends)) if is_between else str(column)
        yield Imported(
            pattern, size_bytes, (time_s,), 1, 0 if is_latency else size_bytes, table.number,
            {**axes, **({"gpu": gpu} if gpu != "0" else {})}, {}, (), TRANSPORT, "",
        )  # fmt: skip


def _identity(table: _Table) -> tuple[str, dict[str, str]] | None:
    """Pattern and axes of a test, None for others."""
    if table.test in _LATENCY:
        return "gpu-load", memory_axis(_LATENCY[table.test])
    if table.test == "device_local_copy":
        return "gpu-copy", memory_axis("device")
    if between := _BETWEEN.fullmatch(table.test):
        return "gpu-copy", {**memory_axis("device"), **_engine(between[1])}
    if copy := _COPY.fullmatch(table.test):
        is_to_device = copy[1] in ("host_to_device", "host_to_all")
        axes = memory_axis("pinned", "device") if is_to_device else memory_axis("device", "pinned")
        axes |= {"ways": "both"} if copy[2] else {}
        axes |= {"load": "all"} if "all" in copy[1] else {}
        return "gpu-copy", {**axes, **_engine(copy[3])}
    return None


def _engine(name: str) -> dict[str, str]:
    """The axis of copies by a kernel instead of the copy engine."""
    return {"engine": "kernel"} if name == "sm" else {}
