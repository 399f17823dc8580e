"""ucx_perftest: latency and bandwidth of UCX's two layers, UCP and UCT, below MPI.

Latencies are microseconds: half a round trip of ping-pongs, the whole of reads and atomic
operations. The median counts where it is printed ("typical", "50.0%ile"), else the overall average.
Rates are overall, in 2^20 bytes per second. A table does not say its test and its size: the frame
does, which the server prints, or the command.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from nhalf.exchange.importers import Imported, Importer
from nhalf.exchange.logs.part import LogPart, is_time, ratio
from nhalf.exchange.titles import memory_axis

MEGABYTE = 1 << 20
DEFAULT_BYTES = 8
_COMMAND = re.compile(r"\bucx_perftest\s(?:.{0,400}\s)?-t\s?([a-z_]{3,20})\b")
_OPTION = re.compile(r"(?<=\s)(-[sbmO])\s?([^\s&|;)]{1,200})")
_FIELD = re.compile(
    r"\s{0,40}\| (API|Test|Data layout|Send memory|Recv memory|Message size|Window size): +"
)
_HEAD = re.compile(r"# iterations \| +(?:typical|(\d{1,3}(?:[.,]\d{1,3})?)%ile) +\|")
_CSV = re.compile(r"iterations,(?:typical|(\d{1,3}(?:\.\d{1,3})?)_percentile)_lat,avg_lat,")
_KIND = re.compile(r"\| +(latency|overhead) \(usec\) +\|")
_BATCH = re.compile(r"\s{0,40}\+[^-+\s]")
_STAGE = re.compile(r"^\s*(?:Final:|\[thread \d{1,4}\])")
_TEST = re.compile(
    r"(?:UCP )?(active message|am|tag match|tag sync match|stream|put|get|atomic add|"
    r"atomic fetch-and-add|atomic swap|atomic compare-and-swap) (latency|bandwidth|message rate)"
    r"(?: / [a-z /]{4,40})?"
)
_NAMED = re.compile(r"(ucp_)?(am|tag|tag_sync|stream|put|get|add|fadd|swap|cswap)(?:_(lat|bw|mr))?")
_OPERATIONS = {
    "active message": "am", "tag match": "tag", "tag sync match": "tag_sync", "atomic add": "add",
    "atomic fetch-and-add": "fadd", "atomic swap": "swap", "atomic compare-and-swap": "cswap",
}  # fmt: skip
_OF_UCP = ("tag", "tag_sync", "stream")
_PATTERNS = {
    ("put", False): "put-pingpong", ("put", True): "put-stream",
    ("get", False): "get", ("get", True): "get-stream",
    ("add", False): "atomic-add-pingpong", ("add", True): "atomic-add-stream",
    ("fadd", False): "atomic-fetch-add", ("swap", False): "atomic-swap",
    ("cswap", False): "atomic-compare-swap",
}  # fmt: skip
"""By operation, and whether the rate counts. Others are messages, with the axis `call`."""
CELLS, OF_THREADS = 8, 4
"""The numbers of a row, and of the last one of several threads."""
_OTHER = {True: "latency", False: "overhead"}
"""What the head says where a table is of the other kind, by whether its rate counts."""
_PLACES = {
    "cuda": "device", "rocm": "device", "ze-device": "device", "ze-host": "pinned",
    "cuda-managed": "managed", "rocm-managed": "managed", "ze-managed": "managed",
}  # fmt: skip


_Row = tuple[int, list[float]]
"""The number of a line, and its cells."""


@dataclass
class _Table:
    """The frame's fields, the operation and size that it or the command says, and the rows."""

    number: int
    fields: dict[str, str] = field(default_factory=dict)
    is_clear: bool = True
    layer: str = ""
    operation: str = ""
    is_rate: bool = False
    size_bytes: int = -1
    kind: str = ""
    percent: float = -1.0
    final_row: _Row | None = None


class UcxPerftest(Importer):
    """The last row of every table: on the screen, with -f, and as CSV."""

    description = "ucx_perftest (screen, -f and CSV)"
    marks = ("# iterations |", "_lat,avg_lat,overall_lat", "| Message size:", "ucx_perftest")
    head = r"\| API:  |\| +(?:Stage|Test) +\| # iterations|\| # iterations \|"

    def recognises(self, text: str) -> bool:
        """Whether there is a table's head, a frame, or a command that names its test."""
        return any(mark in text for mark in self.marks[:-1]) or _COMMAND.search(text) is not None

    def read(self, part: LogPart) -> list[Imported]:
        """The point of every table."""
        tables = [_Table(0)]
        for place, line in enumerate(_joined(part.lines)):
            tables.append(_after(tables[-1], line[:1000]))
            _take_row(tables[-1], place, line[:400], part)
            if tables[-1] is tables[-2]:
                tables.pop()
        points = [_point(table, *table.final_row, part) for table in tables if table.final_row]
        return [point for point in points if point is not None]


def _joined(lines: Sequence[str]) -> list[str]:
    """The lines, commands with those that continue them."""
    joined = list(lines)
    for place, line in enumerate(joined[:-1]):
        if line.endswith("\\") and "ucx_perftest" in line:
            joined[place] = f"{line[:-1]} {joined[place + 1]}"
    return joined


def _after(table: _Table, line: str) -> _Table:
    """The table after a line: a command begins another, and a frame or a head below rows."""
    command = _COMMAND.search(line) if "ucx_perftest" in line else None
    entry, kind = _FIELD.match(line), _KIND.search(line)
    head = _HEAD.search(line) or _CSV.search(line)
    if _BATCH.match(line):
        # A test of a batch file, whose settings are only there.
        return _Table(table.number + 1, percent=table.percent, kind=table.kind)
    if command or ((entry or kind or head) and table.final_row):
        table = _Table(table.number + 1)
    if command:
        _take_command(table, command[1], line[command.start() :])
    elif entry:
        _take_field(table, entry[1], line[entry.end() :].rstrip("| \t"))
    elif kind:
        table.kind = kind[1]
    elif head:
        table.percent = float((head[1] or "50").replace(",", "."))
        # Old heads call every time a latency.
        table.kind = table.kind if "Stage" in line or "Test" in line else ""
    return table


def _take_command(table: _Table, test: str, command: str) -> None:
    if name := _NAMED.fullmatch(test):
        table.layer = "ucp" if name[1] or name[2] in _OF_UCP else "uct"
        table.operation, table.is_rate = name[2], name[3] in ("bw", "mr")
    options = dict(_OPTION.findall(command))
    sizes = options.get("-s", str(DEFAULT_BYTES)).split(",")
    if "-b" not in options and all(size.isdecimal() and len(size) < 14 for size in sizes):
        table.size_bytes = sum(map(int, sizes))
    if places := options.get("-m", ""):
        send, _, receive = places.partition(",")
        table.fields |= {"Send memory": send, "Recv memory": receive or send}
    if "-O" in options:
        table.fields["Window size"] = options["-O"]


def _take_field(table: _Table, name: str, value: str) -> None:
    """A line of the frame; two frames before a table's rows are of different tests."""
    if table.fields.get(name, value) != value:
        table.is_clear = False
    table.fields[name] = value
    if name == "API":
        table.layer = {"protocol layer": "ucp", "transport layer": "uct"}.get(value, "")
    elif name == "Message size":
        table.size_bytes = int(value) if value.isdecimal() and len(value) < 14 else -1
    elif name == "Test":
        test = _TEST.fullmatch(value)
        table.operation = _OPERATIONS.get(test[1], test[1]) if test else ""
        table.is_rate = test is not None and test[2] != "latency"


def _take_row(table: _Table, place: int, line: str, part: LogPart) -> None:
    cells, is_named = _cells(line, part) if table.percent >= 0 else ([], False)
    if cells:
        table.final_row = (place, cells)
        # The name of a test of a batch file, whose settings are only there.
        table.size_bytes = -1 if is_named else table.size_bytes


def _cells(line: str, part: LogPart) -> tuple[list[float], bool]:
    """The numbers of a row, none of a line that is no row, and whether a test's name is before."""
    line = _STAGE.sub("", line)
    tokens = line.split() if " " in line.strip() else line.strip().split(",")
    if not tokens or "|" in line:
        return [], False
    begin = next((place for place, token in enumerate(tokens) if _is_number(token)), len(tokens))
    end = next((p for p in range(begin, len(tokens)) if not _is_number(tokens[p])), len(tokens))
    cells = [part.number(token) for token in tokens[begin:end]]
    is_row = begin <= 3 and len(cells) in (OF_THREADS, CELLS)
    return (cells, begin > 0) if is_row else ([], False)


def _is_number(token: str) -> bool:
    return token[:1].isdigit() or token[:1] in "-." or token in ("nan", "inf")


def _point(table: _Table, place: int, cells: list[float], part: LogPart) -> Imported | None:
    """The point of a table's last row; a refusal if it is not known what was measured."""
    is_known = table.is_clear and table.operation and table.kind != _OTHER[table.is_rate]
    if not is_known or table.size_bytes < 0:
        missing = "size of the messages" if is_known else "test"
        part.refuse(
            f"does not say the {missing} of a table of ucx_perftest",
            "keep the frame that the server prints (Test, Message size), or the command with -t "
            "and -s",
        )
        return None
    if len(cells) == OF_THREADS:
        part.refuse("has a table of ucx_perftest with several threads", "take it out of the log")
        return None
    _, percentile_us, _, average_us, _, rate, _, messages = cells
    if not _agree(rate * MEGABYTE, messages, table.size_bytes):
        part.refuse(
            f"has a table of ucx_perftest whose rates are not of messages of {table.size_bytes} "
            "bytes",
            "keep each table with the frame or the command of its own run",
        )
        return None
    is_median = table.percent == 50
    times_s = {f"p{table.percent:g}".replace(".", "_") + "_s": percentile_us / 1e6}
    if table.is_rate:
        time_s, values = ratio(table.size_bytes, rate * MEGABYTE), {}
    elif is_median:
        time_s, values = percentile_us / 1e6, {"average_s": average_us / 1e6}
    else:
        time_s, values = average_us / 1e6, times_s
    if not all(map(is_time, (time_s, *values.values()))):
        part.pass_over(place)
        return None
    pattern, axes = _identity(table)
    head = {"window-size": table.fields["Window size"]} if "Window size" in table.fields else {}
    return Imported(
        pattern, table.size_bytes, (time_s,), 2, table.size_bytes, table.number, axes, values,
        (), table.layer or ("ucp" if table.operation in _OF_UCP else "ucx"), "", head=head,
    )  # fmt: skip


def _agree(rate_Bps: float, messages: float, size_bytes: int) -> bool:
    """Whether both rates are of messages of this size, as far as their digits tell."""
    digits = 0.51 * size_bytes + 0.0051 * MEGABYTE
    return abs(rate_Bps - messages * size_bytes) <= digits + 1e-3 * rate_Bps


def _identity(table: _Table) -> tuple[str, dict[str, str]]:
    """Pattern and axes: the call, where buffers are, and the layout of a transport's data."""
    is_rate = table.is_rate or (table.operation == "get" and _window(table) > 1)
    pattern = _PATTERNS.get((table.operation, is_rate), "")
    axes = {} if pattern else {"call": table.operation.replace("_", "-")}
    places = [table.fields.get(f"{end} memory", "host") for end in ("Send", "Recv")]
    axes |= memory_axis(*(_PLACES.get(place, place) for place in places))
    layout = table.fields.get("Data layout", "(")
    if not layout.startswith("("):
        axes["layout"] = layout.replace(" ", "-")
    return pattern or ("stream" if is_rate else "pingpong"), axes


def _window(table: _Table) -> int:
    window = table.fields.get("Window size", "1")
    return int(window) if window.isdecimal() and len(window) < 8 else 1
