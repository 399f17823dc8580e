"""Intel MPI Benchmarks: a header, then a frame with the benchmark's name above each table.

Times are microseconds; t_min, t_max and t_avg are over ranks, of each rank's mean: t_max is
taken. Megabytes per second are not used: they were 2^20 bytes once and are 10^6 today. Sizes of
IMB-MT are those of all threads of a rank, and of reduce-scatters those of a block since 2019.

Some names, Pallas' among them, are of several suites (IMB-MPI1, -EXT, -RMA, -P2P): letters, the
header or the command tell them apart.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from nhalf.exchange.coverage.imb import IMB, MEMORIES
from nhalf.exchange.importers import UNNAMED, Imported, Importer
from nhalf.exchange.logs.launch import RANKS_MOST
from nhalf.exchange.logs.part import LogPart, is_row, is_time, ratio, slug
from nhalf.exchange.titles import TableIdentity, memory_axis, own_axes

_TESTS = {test.name: test for test in IMB.tests if test.is_covered}
_BY_LETTERS = {name.lower(): name for name in reversed(_TESTS)}
_MARKS: Mapping[str, Sequence[str]] = {
    "EXT": ("MPI-2 part", "IMB-EXT", "PMB-EXT"),
    "P2P": ("IMB-P2P",),
    "RMA": ("RMA part", "MPI-RMA", "IMB-RMA"),
    "MT": ("IMB-MT",),
    "MPI1": ("MPI-1 part", "IMB-MPI1"),
    "NBC": ("MPI-NBC", "IMB-NBC"),
    "MPI4": ("MPI-4 part", "IMB-MPI4"),
}
"""What names each part of the suite in a header or a command."""
_PERSISTENT = ("_persistent", "_persist")
_PAIRS = (
    "PingPong", "PingPongSpecificSource", "PingPing", "PingPingSpecificSource",
    "PingPongAnySource", "PingPingAnySource",
)  # fmt: skip


def suite_of(line: str, current: str) -> str:
    """The part of the suite that a header or a command names; `current` if it names none."""
    suites = (suite for suite, marks in _MARKS.items() if any(mark in line for mark in marks))
    return next(suites, current)


def identity_of(name: str, suite: str) -> tuple[str, TableIdentity]:
    """The coverage's name of a benchmark, '' if it is not known, and what it measures."""
    test = _test_name(name.removeprefix("Multi-"), suite)
    if test not in _TESTS:
        is_rma = suite in ("EXT", "RMA") or name.startswith("Truly_passive")
        pattern = slug(name.removeprefix("Multi-"))
        return "", TableIdentity(pattern, {}, "rma" if is_rma else "mpi", is_known=False)
    covered = _TESTS[test]
    return test, TableIdentity(covered.pattern, own_axes(covered), covered.transport)


def _test_name(name: str, suite: str) -> str:
    """The name in the coverage; names of IMB-EXT are those of IMB-RMA with other letters."""
    of_suite = {"P2P": f"{name} (P2P)", "EXT": f"{name} (EXT)", "RMA": name}.get(suite, name)
    if of_suite in _TESTS:
        return of_suite
    if suite == "EXT" and name.title() in _TESTS:
        return name.title()
    return name if name in _TESTS else _persistent(name) or _BY_LETTERS.get(name.lower(), name)


def _persistent(name: str) -> str:
    """The name of a persistent operation in the coverage; '' for others."""
    for ending in _PERSISTENT:
        base, mark, pure = name.partition(ending)
        if mark:
            is_pure = base.endswith("_pure") or "_pure" in pure
            return f"{base.removesuffix('_pure')}{'_pure' if is_pure else ''}_persistent"
    return ""


_VALUES_S = {
    "t_avg[usec]": "average_s", "t_min[usec]": "minimum_s", "t_max[usec]": "maximum_s",
    "t_ovrl[usec]": "overall_s", "t_CPU[usec]": "work_s", "t_pure[usec]": "pure_s",
}  # fmt: skip
_TIME = ("t_max[usec]", "t[usec]", "t_pure[usec]", "t_avg[usec]")
_OVERLAPPED = "t_ovrl[usec]"
"""The time of a non-blocking operation while its ranks compute: its own point."""
_GROUPS = re.compile(r"# *\( *(\d{1,7}) groups? of (\d{1,7}) process")
_PROCESSES = re.compile(r"#processes *= *(\d{1,7})\b(?:.{0,20}\(threads: *(\d{1,4})\))?")
_LIBRARY = re.compile(r"Intel\(R\) MPI Library,? Version ([\d.]{1,20})")
_MEMORY = re.compile(r"\s-mem_alloc_type[ =]{1,4}(device|host|shared|cpu)\b")
_MEMORIES = {word: memory for memory, word in MEMORIES.items()}
_VERSION = re.compile(r"MPI Benchmarks? (?:Suite V?)?(20\d\d|\d)\b")
_OF_BLOCKS = 2019
"""Since this version the size of a reduce-scatter is that of a rank's block."""
_OF_PAIRS = ("Uniband", "Biband")


@dataclass
class _Table:
    """The information in the frame above the rows."""

    number: int
    name: str
    test: str
    identity: TableIdentity
    version: int = 0
    ranks: int = 0
    threads: int = 0
    groups: int = 1
    memory: str = "host"
    mode: str = ""
    columns: list[str] = field(default_factory=list)
    head: dict[str, str] = field(default_factory=dict)
    is_of_command: bool = True
    is_own: bool = False
    is_mixed: bool = False


@dataclass
class _Header:
    """What the header of a run says: library, part of the suite, and version; the settings.

    `is_own` says that nhalf printed it, with sizes as it counts them.
    """

    mpi: str = UNNAMED
    suite: str = ""
    version: int = 0
    memory: str = ""
    is_of_gpu: bool = False
    head: dict[str, str] = field(default_factory=dict)
    is_own: bool = False


class Imb(Importer):
    """Tables of IMB-MPI1, -NBC, -RMA, -EXT, -MT, -P2P and others with this format."""

    description = "Intel MPI Benchmarks"
    marks = (
        "# Benchmarking ",
        "Intel(R) MPI Benchmark",
        "Intel (R) MPI Benchmark",
        "PALLAS MPI Benchmark",
    )
    head = r"# Benchmarking |#\s{1,8}(?:Intel ?\(R\)|PALLAS) MPI Bench"

    def read(self, part: LogPart) -> list[Imported]:
        """Every valid row of every table."""
        all_points: list[Imported] = []
        table: _Table | None = None
        number, header = 0, _Header()
        for place, line in enumerate(map(str.lstrip, part.lines)):
            part.note_launcher(line, place)
            if "# Benchmarking " in line:
                number += 1
                name = line.partition("# Benchmarking ")[2].strip()[:80]
                table = _table(number, name, header, part)
            elif "#repetitions" in line:
                if table is not None:
                    columns = line.replace("|", " ").split()
                    # Another head without a title: lines of two tables.
                    table.is_mixed = table.is_mixed or table.columns not in ([], columns)
                    table.columns = columns
            elif "#" in line[:2] or table is None:
                _note(header, line)
                if table is not None:
                    _comment(table, line)
            elif is_row(line) or line.startswith("|"):
                points = _row(line.replace("|", " "), table, part)
                if points is None:
                    part.pass_over(place)
                else:
                    all_points += [msgspec.structs.replace(p, mpi=header.mpi) for p in points]
        return all_points


def _table(number: int, name: str, header: _Header, part: LogPart) -> _Table:
    words = name.split() or [""]
    program = part.launch.program
    suite = suite_of(program, "") or header.suite
    test, identity = identity_of(words[0], suite)
    is_of_command = not program or program.startswith(("IMB", "PMB"))
    head = dict(header.head)
    if is_of_command and part.launch.text:
        head["command"] = " ".join(part.launch.words)
    table = _Table(number, name, test, identity, header.version, head=head)
    table.is_of_command, table.is_own = is_of_command, header.is_own
    if header.is_of_gpu:
        option = _MEMORY.search(part.launch.text) if is_of_command else None
        table.memory = header.memory or _MEMORIES[option[1] if option else "device"]
    return table


def _note(header: _Header, line: str) -> None:
    """The library, if it prints its name, and the part and version of the suite."""
    if match := _LIBRARY.search(line[:300]):
        header.mpi = f"intel-{match[1].rstrip('.')}"
    if "MPI Bench" in line:
        header.suite = suite_of(line, header.suite)
        header.is_own = "Measured by nhalf" in line
        header.memory, header.is_of_gpu = "", "(GPU)" in line
        if version := _VERSION.search(line[:200]):
            header.version = int(version[1])
    elif memory := _MEMORY.search(line[:1000]):
        header.memory = _MEMORIES[memory[1]]
    elif line.startswith("# MPI_") and ":" in line:
        key, _, value = line[:200].partition(":")
        header.head[slug(key)] = slug(value)


def _comment(table: _Table, line: str) -> None:
    """The number of processes, groups that ran at once, and the mode of one-sided tests."""
    if line.startswith("#---"):
        if table.columns:
            table.name, table.columns = "", []
    elif processes := _PROCESSES.search(line[:200]):
        table.ranks = int(processes[1])
        table.threads = int(processes[2] or 0)
    elif match := _GROUPS.match(line):
        table.groups = int(match[1])
        table.ranks = int(match[1]) * int(match[2])
    elif "MODE:" in line:
        table.mode = slug(line.partition("MODE:")[2])
    elif "window_size" in line:
        table.head["window-size"] = slug(line.partition("=")[2])


def _row(line: str, table: _Table, part: LogPart) -> list[Imported] | None:
    """The points of one row: one, two if computing overlaps, None if the row is incomplete.

    A time that is too short to be printed (0.00) makes no point.
    """
    tokens = line.split()
    if not table.name or len(tokens) != len(table.columns):
        return None
    cells = {name: part.number(token) for name, token in zip(table.columns, tokens, strict=True)}
    if any(math.isnan(value) or value < 0 for value in cells.values()):
        return None
    # Rates of IMB-MPI1 count the messages of all pairs; its time is not printed.
    columns = () if table.test in _OF_PAIRS else _TIME
    timed = [next((name for name in columns if name in cells), "Msg/sec")]
    if _OVERLAPPED in cells:
        timed.append(_OVERLAPPED)
    points = [_point(cells, name, table, part) for name in timed if cells.get(name)]
    if not points and any(name in cells for name in timed):
        return []
    if table.is_mixed:
        reason = f"has a table of {table.name} with the columns of another one"
        part.refuse(reason, "take the lines of different runs apart")
        return None
    valid = [point for point in points if point is not None]
    return valid if points and len(valid) == len(points) else None


def _point(cells: dict[str, float], timed: str, table: _Table, part: LogPart) -> Imported | None:
    """The point of a row; its time is in column `timed`, or follows from a rate."""
    ranks = table.ranks or part.ranks_of(table.number, table.name, holds=table.is_of_command)
    size = cells.get("#bytes", 0.0)
    size_bytes = part.size(f"{size:.0f}") if size == int(size) else -1
    size_bytes = _own_size(size_bytes, table, ranks)
    pattern, axes = _identity(table, ranks, cells)
    messages = _messages(pattern, ranks, axes)
    if "target" in axes:
        axes["target"] = "computes" if timed == _OVERLAPPED else "waits"
    elif timed == _OVERLAPPED:
        axes["work"] = "1"
    # A rate counts the messages of all ranks: the time is that of one from each sender.
    rate = cells.get("Msg/sec", 0.0)
    time_s = ratio(messages, rate) if timed == "Msg/sec" else cells[timed] / 1e6
    if size_bytes < 0 or not is_time(time_s) or ranks > RANKS_MOST:
        return None
    return Imported(
        pattern=pattern,
        size_bytes=size_bytes,
        samples_s=(time_s,),
        ranks=ranks,
        bytes_per_time=size_bytes * messages,
        table=table.number,
        axes=axes,
        values=_values(cells, timed),
        transport=table.identity.transport,
        verified=cells.get("defects", 0.0) == 0,
        head=dict(table.head),
    )


def _own_size(size_bytes: int, table: _Table, ranks: int) -> int:
    """The size as nhalf counts it, -1 if it is none: a thread's message, a whole vector."""
    if table.is_own:
        return size_bytes
    if table.threads and size_bytes > 0:
        return size_bytes // table.threads if size_bytes % table.threads == 0 else -1
    name = table.test.lower().removeprefix("i").removesuffix("_pure")
    is_block = name.startswith("reduce_scatter_block")
    is_block = is_block or (name.startswith("reduce_scatter") and table.version >= _OF_BLOCKS)
    return size_bytes * ranks if is_block and size_bytes > 0 else size_bytes


def _identity(table: _Table, ranks: int, cells: dict[str, float]) -> tuple[str, dict[str, str]]:
    """Pattern and axes of a benchmark: several pairs or groups at once are not one of them."""
    pattern, axes = table.identity.pattern, {**table.identity.axes, **memory_axis(table.memory)}
    if table.mode and table.mode != "non-aggregate":
        axes["mode"] = table.mode
    if table.threads:
        axes["threads"] = str(table.threads)
    if pattern == "exchange" and ranks != 2 * table.groups:
        pattern = "sendrecv"  # two ranks exchange; more of them form a ring
    if pattern in ("stream", "bibw") and ranks > 2:
        axes |= {"pairs": str(ranks // 2)} | ({"ways": "both"} if pattern == "bibw" else {})
        return "pairs-bandwidth", axes
    if pattern == "pairs-latency":
        axes["pairs"] = str(max(1, ranks // 2))
    elif pattern == "pingpong" and (table.groups > 1 or ranks > 3):
        # In groups, or all pairs of IMB-P2P.
        pattern = "pairs-latency"
        axes["pairs"] = str(table.groups if table.groups > 1 else ranks // 2)
    elif table.groups > 1:
        axes["groups"] = str(table.groups)
    if table.groups > 1 and "Group" in cells:
        axes["group"] = f"{cells['Group']:.0f}"[:12]
    return pattern, axes


def _messages(pattern: str, ranks: int, axes: dict[str, str]) -> int:
    ways = 2 if axes.get("ways") == "both" else 1
    if pattern == "pairs-bandwidth":
        return ways * (ranks // 2)
    if pattern.endswith("-threads"):
        per_thread = 2 if pattern == "bibw-threads" else 1
        return per_thread * int(axes.get("threads", "1"))
    if pattern == "ring":
        return 2 * max(1, ranks)
    return 2 if pattern in ("exchange", "sendrecv", "bibw") else ways


def _values(cells: dict[str, float], timed: str) -> dict[str, float]:
    values = {
        _VALUES_S[name]: value / 1e6
        for name, value in cells.items()
        if name in _VALUES_S and name != timed
    }
    if "overlap[%]" in cells:
        values["overlap"] = cells["overlap[%]"] / 100
    if "#repetitions" in cells:
        values["repetitions"] = cells["#repetitions"]
    return values
