"""OSU Micro-Benchmarks, in C and in Python: a title, comments, a line of column names, rows.

Times are microseconds, MB/s are 10^6 bytes per second. Latency of two ranks is half a round trip.
Collectives have the mean over ranks, with -f also the largest and the smallest of the ranks' means:
the largest is taken, since an operation has ended when its last rank has. A rate of two directions
counts both: its time is that of a message each way.
"""

import math
import re
from dataclasses import dataclass, field

import msgspec

from nhalf.exchange.importers import UNNAMED, Imported, Importer
from nhalf.exchange.logs.launch import RANKS_MOST, Heading, heading_of
from nhalf.exchange.logs.part import LogPart, is_row, is_time, ratio, slug
from nhalf.exchange.titles import (
    TableIdentity,
    identity_of,
    identity_of_test,
    memory_axis,
    usual_memory,
)

_COLUMN = re.compile(
    r"transmitsize|size(?:\(b(?:ytes)?\))?|iterations|validation|messages/s|overlap\(%\)|"
    r"(?:bandwidth\(|)(?:[kmg]i?(?:b|bits?)/s|[kmg]i?bps)\)?|"
    r"(?:(?:avg|min|max)?latency|overall|compute|coll\.init|mpi_test|mpi_wait|"
    r"(?:pure|min|max)comm\.|waitavg|initavg|p\d{1,2}(?:\.\d{1,4})?taillat)\([mnuµμ]?s(?:ec)?\)|"
    r"p\d{1,2}(?:\.\d{1,4})?tailbw\([kmg]i?b/s\)",
    re.IGNORECASE,
)
_UNIT = re.compile(r"\(([mnuµμ]?)s(?:ec)?\)$")
_RATE_UNIT = re.compile(r"([kmg]i?)(b|bits?)(?:/s|ps)", re.IGNORECASE)
_MICRO = {"m": 1e3, "u": 1.0, "µ": 1.0, "μ": 1.0, "n": 1e-3, "": 1e6}
"""Microseconds in a unit of time."""
_MEGA = {"k": 1e-3, "m": 1.0, "g": 1e3, "ki": 1.024e-3, "mi": 1.048576, "gi": 1073.741824}
"""Megabytes in a unit of data."""
_TIME = ("maxlatency(us)", "avglatency(us)", "latency(us)", "maxcomm.(us)", "purecomm.(us)")
"""Columns with the point's time; the first one present is used."""
_RATE = ("messages/s", "bandwidth(mb/s)", "mb/s")
_OVERLAPPED = "overall(us)"
"""The time of a non-blocking operation while its ranks compute: its own point."""
_VALUES_S = {
    "avglatency(us)": "average_s", "minlatency(us)": "minimum_s", "maxlatency(us)": "maximum_s",
    "purecomm.(us)": "pure_s", "mincomm.(us)": "minimum_s", "maxcomm.(us)": "maximum_s",
    "overall(us)": "overall_s", "compute(us)": "work_s", "coll.init(us)": "initiate_s",
    "mpi_test(us)": "test_s", "mpi_wait(us)": "wait_s",
}  # fmt: skip
_INIT = re.compile(r"nprocs: *(\d{1,7}), *min: *(\d+) *ms, *max: *(\d+) *ms, *avg: *(\d+) *ms")
_TITLE = re.compile(r"# (?:OSU|OMB[ -]Py(?:thon)?)[ :]")
_THREADS = re.compile(r"Number of (?:(Sender|Receiver) )?threads: *(\d{1,4})\b", re.IGNORECASE)
_PARTS = re.compile(r"partitions?\b[^\d\n]{0,20}(\d{1,4})\b|(\d{1,4}) partitions", re.IGNORECASE)
_BUFFERS = re.compile(r"(?:Buffer|Memory) on [A-Z ]{1,20}\(([A-Z]{1,2})\)")
_ACCELERATOR = re.compile(r"\S{2,40}-(CUDA|ROCM|SYCL|OPENACC)\b", re.IGNORECASE)
_PLACES = {"H": "host", "D": "device", "M": "managed", "MD": "managed", "MH": "managed"}
_WINDOWS = {"create-dynamic": "dynamic", "allocate-shared": "shared", "allocate": ""}
_ACCESSES = {
    "lock-unlock": "lock", "lock-all-unlock-all": "lock-all", "flush": "",
    "post-start-complete-wait": "pscw", "win-pscw": "pscw",
}  # fmt: skip
"""The values of nhalf's axes; its default has no axis."""
_USUAL_TYPES = ("mpi-char", "mpi-byte")
_USUAL_SUMS = (*_USUAL_TYPES, "mpi-int", "mpi-float")
_NUMBERS = ("rma-fetch-and-op", "rma-compare-and-swap")
"""Patterns of one number, which have no size."""
_FANS = ("many-to-one", "one-to-many")
_BOTH_WAYS = ("bibw", "bibw-persistent")


Column = tuple[str, float]
"""A name, and the factor from its unit to microseconds or megabytes per second."""


@dataclass
class _Table:
    """The information in the lines above the rows."""

    number: int
    title: str
    name: str
    identity: TableIdentity
    axes: dict[str, str]
    columns: list[Column] = field(default_factory=list)
    pairs: int = 0
    window: int = 0
    has_rows: bool = False
    is_of_command: bool = True
    is_mixed: bool = False
    mpi: str = UNNAMED
    head: dict[str, str] = field(default_factory=dict)
    threads: dict[str, int] = field(default_factory=dict)

    @property
    def pattern(self) -> str:
        return self.identity.pattern


class Osu(Importer):
    """Tables of any version, read by their columns' names."""

    description = "OSU Micro-Benchmarks 3.x to 7.5 and OMB-Py"
    marks = ("# OSU ", "# OMB Py", "# OMB-Py")
    head = r"# OSU |# OMB[ -]Py"

    def read(self, part: LogPart) -> list[Imported]:
        """Every valid row of every table."""
        all_points: list[Imported] = []
        table: _Table | None = None
        threads: dict[str, int] = {}
        heading: Heading | None = None
        for place, line in enumerate(part.lines):
            if title := _TITLE.search(line):
                number = table.number + 1 if table else 0
                table, threads = _table(line[title.start() :], number, part, threads), {}
                if heading is not None:
                    table.mpi, table.head["library"] = heading.mpi, slug(heading.spec)
                heading = None
                continue
            heading = heading_of(line) or heading
            part.note_launcher(line, place)
            if count := _THREADS.search(line[:200]):
                _note_threads(table, threads, count)
                continue
            if table is None:
                continue
            line = line.replace("|", " ").lstrip()
            if "#" in line[:4] or "(us)" in line or "/s)" in line:
                _comment(table, line)
                continue
            points = _init(line, table) if "nprocs:" in line else _row(line, table, part)
            if points is not None:
                table.has_rows = True
                all_points += points
            elif is_row(line) or "nprocs:" in line:
                part.pass_over(place)
        return all_points


def _table(line: str, number: int, part: LogPart, threads: dict[str, int]) -> _Table:
    """A table from its title, such as `# OSU MPI-CUDA Broadcast Latency Test v5.8`."""
    title = _TITLE.sub("", line, count=1).strip()
    name, identity = identity_of(title)
    axes = dict(identity.axes)
    if not line.startswith("# OSU"):
        axes["language"] = "python"
    elif title.lower().startswith("one sided"):
        # Those of 3.x, which do not say so.
        axes |= {"window": "create", "access": "pscw"}
    program = part.launch.program if part.launch.program.startswith("osu_") else ""
    if program in ("osu_bw_fan_in", "osu_bw_fan_out") and name == "osu_bw":
        # They print the title of osu_bw.
        name, identity = program, identity_of_test(program) or identity
    is_of_command = not program or not name or program == name
    head = {"command": " ".join(part.launch.words)} if is_of_command and part.launch.text else {}
    if accelerator := _ACCELERATOR.match(title):
        head["accelerator"] = accelerator[1].lower()
    table = _Table(number, title.partition(" Test")[0], name, identity, axes)
    table.head, table.threads, table.is_of_command = head, threads, is_of_command
    return table


def _note_threads(table: _Table | None, threads: dict[str, int], count: re.Match[str]) -> None:
    """Numbers of threads stand above the title, or below it."""
    who = (count[1] or "receiver").lower()
    is_below = table is not None and not table.has_rows and table.name == "osu_latency_mt"
    (table.threads if is_below and table is not None else threads)[who] = int(count[2])


def _comment(table: _Table, line: str) -> None:
    """Pairs, window, buffers, ways of one-sided communication, or the names of the columns."""
    words = line.strip(" \t#[]")
    if words.startswith("pairs:"):
        numbers = [int(word) for word in re.findall(r"\d{1,7}", words[:100])]
        table.pairs, table.window = [*numbers, 0, 0][:2]
        return
    if buffers := _BUFFERS.findall(words[:300]):
        sides = [_PLACES.get(place, place.lower()) for place in buffers]
        table.axes.pop("memory", None)
        table.axes |= memory_axis(*sides, usual=usual_memory(table.identity.transport))
        if last_used := {place for place in buffers if len(place) > 1}:  # MH or MD
            table.head["managed"] = "-".join(sorted(last_used)).lower()
        return
    if table.pattern.endswith("-partitioned") and (parts := _PARTS.search(words[:200])):
        table.axes["parts"] = parts[1] or parts[2]
        return
    if _columns(table, words):
        return
    key, colon, value = words[:200].partition(":")
    if colon and value.strip():
        _setting(table, slug(key), slug(value.strip().removeprefix("MPI_Win_")))


def _columns(table: _Table, words: str) -> bool:
    """Take the names of the columns; returns whether the line has them."""
    compact = "".join(words[:500].split())
    names = [match[0] for match in _COLUMN.finditer(compact)]
    if not names or sum(map(len, names)) != len(compact):
        return False
    columns = [_column(name) for name in names]
    if any(math.isnan(factor) for _, factor in columns):
        return False
    # Another head without a title: lines of two tables.
    table.is_mixed = table.is_mixed or table.columns not in ([], columns)
    table.columns = columns
    return True


def _column(name: str) -> tuple[str, float]:
    """A column's name in microseconds or megabytes per second, and the factor to these.

    MB are bytes and Mb are bits; of mb nobody knows, and the factor is NaN.
    """
    unit = _RATE_UNIT.search(name)
    name = name.lower()
    if unit:
        is_bits = unit[2] != "B"
        is_known = unit[1][0].isupper() or unit[2] != "b"
        factor = _MEGA[unit[1].lower()] / (8 if is_bits else 1) if is_known else math.nan
        return name[: unit.start()] + "mb/s" + name[unit.end() :], factor
    if time := _UNIT.search(name):
        return name[: time.start()] + "(us)", _MICRO[time[1]]
    return name.partition("(b")[0] if name.startswith("size") else name, 1.0


def _setting(table: _Table, key: str, value: str) -> None:
    """A line `# key: value` above the rows."""
    if key == "window-creation":
        table.axes.pop("window", None)
        if window := _WINDOWS.get(value, value):
            table.axes["window"] = window
    elif key == "synchronization":
        table.axes.pop("access", None)
        if access := _ACCESSES.get(value, value):
            table.axes["access"] = access
    elif key == "datatype":
        table.axes.pop("datatype", None)
        table.head["datatype"] = value
        usual = _USUAL_SUMS if "reduce" in table.pattern else _USUAL_TYPES
        if value not in usual:
            table.axes["datatype"] = value
    elif len(key) < 40:
        table.head[key] = value


def _row(line: str, table: _Table, part: LogPart) -> list[Imported] | None:
    """The points of one row: one, two if computing overlaps, None if the line is no row.

    A time or a rate that is too small to be printed (0.00) makes no point.
    """
    tokens = line.split()
    if not table.columns or len(tokens) != len(table.columns):
        return None
    verdict = "pass"
    cells: dict[str, float] = {}
    for (name, factor), token in zip(table.columns, tokens, strict=True):
        if name == "validation":
            verdict = token.lower()
            continue
        cells[name] = part.number(token) * factor
        if math.isnan(cells[name]) or cells[name] < 0:
            return None
    size = cells.get("size", 0.0)
    size_bytes = part.size(f"{size:.0f}") if size == int(size) else -1
    if size_bytes < 0 or verdict not in ("pass", "fail"):
        return None
    timed = [next((name for name in (*_TIME, *_RATE) if name in cells), "")]
    if _OVERLAPPED in cells:
        timed.append(_OVERLAPPED)
    points = [_point(size_bytes, cells, name, table, part) for name in timed if cells.get(name)]
    if not points and any(name in cells for name in timed):
        return []
    if table.is_mixed or not _has_kind(table, timed[0]):
        reason = f"has a table of {table.title} with the columns of another one"
        part.refuse(reason, "take the lines of different runs apart")
        return None
    valid = [
        msgspec.structs.replace(point, verified=verdict == "pass")
        for point in points
        if point is not None
    ]
    return valid if points and len(valid) == len(points) else None


def _has_kind(table: _Table, timed: str) -> bool:
    """Whether a table has times, or rates, as its title says."""
    title = table.title.lower()
    if "latency" in title:
        return timed not in _RATE
    return timed in _RATE or not ("bandwidth" in title or "message rate" in title)


def _ranks(table: _Table, part: LogPart) -> int:
    if table.identity.ranks:
        return table.identity.ranks
    if table.pairs:
        return 2 * table.pairs
    return part.ranks_of(table.number, table.title, holds=table.is_of_command)


def _point(
    size_bytes: int, cells: dict[str, float], timed: str, table: _Table, part: LogPart
) -> Imported | None:
    """The point of a row; its time is in column `timed`, or follows from a rate."""
    ranks = _ranks(table, part)
    axes = {**table.axes, **({"work": "1"} if timed == _OVERLAPPED else {}), **_threads(table)}
    messages = _messages(table, ranks, part, axes)
    if messages is None and timed in _RATE:
        reason = f"has a table of {table.title}, and which messages its rate counts is not known"
        part.refuse(reason, "take this table out of the log")
        return None
    moved_bytes = size_bytes * (messages or 1)
    if timed == "messages/s":
        time_s = ratio(int(axes.get("pairs", "1")), cells[timed])
    elif timed in _RATE:
        time_s = ratio(moved_bytes, cells[timed] * 1e6)
    else:
        time_s = cells.get(timed, math.nan) / 1e6
    if not is_time(time_s) or ranks > RANKS_MOST:
        return None
    return Imported(
        pattern=table.pattern,
        size_bytes=0 if table.pattern in _NUMBERS else size_bytes,
        samples_s=(time_s,),
        ranks=ranks,
        bytes_per_time=moved_bytes,
        table=table.number,
        axes=axes,
        values=_values(cells, timed, table),
        transport=table.identity.transport,
        mpi=table.mpi,
        head=dict(table.head),
    )


def _threads(table: _Table) -> dict[str, str]:
    """The axes of threads: a number for both ends, or two."""
    if table.name != "osu_latency_mt":
        return {}
    receivers = table.threads.get("receiver", 2)
    senders = table.threads.get("sender", receivers)
    unequal = {"senders": str(senders)} if senders != receivers else {}
    return {"threads": str(receivers), **unequal}


def _messages(table: _Table, ranks: int, part: LogPart, axes: dict[str, str]) -> int | None:
    """The messages in the time of a row; None for a test that is not known. Completes `axes`."""
    if not table.identity.is_known:
        return None
    if table.pattern.startswith("pairs-") or (table.name == "osu_oshm_put_mr" and ranks > 2):
        pairs = table.pairs or max(1, ranks // 2)
        axes["pairs"] = str(pairs)
        return 1 if table.pattern == "pairs-latency" else pairs
    if table.pattern in _FANS:
        per_node = part.launch.per_node or 1
        if per_node > 1:
            axes["per_node"] = str(per_node)
        return max(ranks - per_node, 1)
    return 2 if table.pattern in _BOTH_WAYS or axes.get("ways") == "both" else 1


def _values(cells: dict[str, float], timed: str, table: _Table) -> dict[str, float]:
    """The values of the row besides its time; percentiles of rates keep the unit of a rate."""
    values = {
        _VALUES_S[name]: value / 1e6
        for name, value in cells.items()
        if name in _VALUES_S and name != timed
    }
    for name, value in cells.items():
        if "tail" in name:
            percent = name.partition("tail")[0].replace(".", "_")
            is_rate = name.endswith("(mb/s)")
            unit, scaled = ("_Bps", value * 1e6) if is_rate else ("_s", value / 1e6)
            values[percent + unit] = scaled
    if "overlap(%)" in cells:
        values["overlap"] = cells["overlap(%)"] / 100
    if table.window:
        values["window"] = float(table.window)
    return values


def _init(line: str, table: _Table) -> list[Imported] | None:
    """The single line of osu_init, milliseconds; None if it is incomplete."""
    match = _INIT.search(line[:400])
    if match is None or any(len(text) > 12 for text in match.groups()):
        return None
    ranks, least, most, mean = (int(text) for text in match.groups())
    if not is_time(most / 1e3) or not 1 <= ranks <= RANKS_MOST:
        return None
    values = {"average_s": mean / 1e3, "minimum_s": least / 1e3}
    identity = identity_of_test("osu_init")
    axes = dict(identity.axes) if identity else {}
    pattern = identity.pattern if identity else "startup"
    return [Imported(pattern, 0, (most / 1e3,), ranks, 0, table.number, axes, values)]
