"""GPCNeT: tests of a whole network, alone and while other ranks congest it.

Averages count; the 99th percentiles and the other columns are values. Latencies are microseconds
of a message to one neighbour. Rates are 2^20 bytes per second that a rank sends: the time is that
of a message from every rank. A test under congestion is another curve. Impact factors follow from
both tables and are not imported.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from nhalf.exchange.importers import Imported, Importer
from nhalf.exchange.logs.part import LogPart, is_time, ratio, slug

MEBIBYTE = 1 << 20
_HEADER = re.compile(r"Network(?:Load)? Tests v\d")
_RANKS = re.compile(r"Test with (\d{1,7}) MPI ranks \((\d{1,7}) nodes\)")
_NODES = re.compile(r"(\d{1,7}) nodes running (Network|Congestion) Tests")
_SECTION = re.compile(
    r"(Isolated|Network Tests running with) (?:Network|Congestion) Tests"
    r"(?: \( {0,40}(\S[^()]{2,40}) Network Test\)| - (Key Results))?"
)
_NAME = re.compile(r"(?:(RR|Nat|Multiple) )?(\S[^()]{2,40}) \((\d{1,12}) B\)?")
_ORDERS = {"RR": "random", "Nat": "natural"}
_VALUES = {
    "Min": "minimum_s", "Max": "maximum_s", "Avg(Worst)": "average_worst_s",
    "99%": "p99_s", "99.9%": "p99_9_s",
}  # fmt: skip
_ENDS = {"Min": "Max", "Max": "Min"}
"""The largest rate is that of the shortest time."""


@dataclass
class _Run:
    """What stands above the tables: ranks and nodes, and the nodes by what they run."""

    ranks: int = 0
    nodes: int = 0
    nodes_of: dict[str, int] = field(default_factory=dict)


@dataclass
class _Table:
    """A section: whether its tests run alone, and during which test the congestors were timed."""

    number: int
    is_congested: bool = False
    during: str = ""
    columns: list[str] = field(default_factory=list)


class Gpcnet(Importer):
    """Tables of network_test and network_load_test, of the verbose builds as well."""

    description = "GPCNeT 1.x (network_test, network_load_test)"
    marks = ("Network Tests v", "NetworkLoad Tests v", "Isolated Network Tests", "Congestion Tests")
    head = r"Network(?:Load)? Tests v\d"

    def read(self, part: LogPart) -> list[Imported]:
        """Every valid row of every table but the impact factors."""
        points: list[Imported] = []
        run, table = _Run(), _Table(0)
        for place, line in enumerate(map(str.strip, part.lines)):
            part.note_launcher(line, place)
            if _HEADER.search(line[:200]):
                run, table = _Run(), _Table(table.number + 1)
            elif not line.startswith("|"):
                _note(run, line[:200])
            elif section := _SECTION.search(line[:300]):
                number = table.number + 1
                table = _Table(number, section[1] != "Isolated", slug(section[2] or "congestors"))
            else:
                cells = [cell.strip() for cell in line[:400].strip("|").split("|")]
                if cells[0] == "Name" and cells[-1] == "Units":
                    table.columns = cells
                elif table.columns and _NAME.fullmatch(cells[0]):
                    point = _row(cells, table, run, part)
                    if point is None:
                        part.pass_over(place)
                    else:
                        points.append(point)
        return points


def _note(run: _Run, line: str) -> None:
    if ranks := _RANKS.search(line):
        run.ranks, run.nodes = int(ranks[1]), int(ranks[2])
    elif nodes := _NODES.search(line):
        run.nodes_of[nodes[2]] = int(nodes[1])


def _row(cells: list[str], table: _Table, run: _Run, part: LogPart) -> Imported | None:
    name = _NAME.fullmatch(cells[0])
    if name is None or len(cells) != len(table.columns):
        return None
    size_bytes = part.size(name[3])
    times_s = _times(dict(zip(table.columns, cells, strict=True)), size_bytes, part)
    time_s = times_s.pop("Avg", 0.0)
    if size_bytes < 0 or not is_time(time_s):
        return None
    pattern, axes = _identity(name, table, run)
    who = "Network" if name[1] else "Congestion"
    ranks = _ranks(run, who) or part.ranks_of(table.number, "GPCNeT")
    moved_bytes = size_bytes if pattern == "gpcnet-allreduce" else size_bytes * ranks
    values = {_VALUES[column]: value for column, value in times_s.items()}
    return Imported(pattern, size_bytes, (time_s,), ranks, moved_bytes, table.number, axes, values)


def _times(cells: Mapping[str, str], size_bytes: int, part: LogPart) -> dict[str, float]:
    """The times of a row by column, seconds; none where the unit is not known."""
    unit = cells.get("Units", "")
    times_s = {}
    for column in ("Avg", *_VALUES):
        value = part.number(cells.get(column, ""))
        if unit == "usec":
            time_s = value / 1e6
        elif unit == "MiB/s/rank":
            time_s = ratio(size_bytes, value * MEBIBYTE)
        else:
            return {}
        if is_time(time_s):
            times_s[column] = time_s
    if unit != "usec":
        times_s = {_ENDS.get(column, column): time_s for column, time_s in times_s.items()}
    return times_s


def _identity(name: re.Match[str], table: _Table, run: _Run) -> tuple[str, dict[str, str]]:
    """Pattern and axes of a test: the order of its ring, and the load of the network."""
    words, plus, _ = name[2].partition("+Sync")
    words = words.replace(" Lat", " latency").replace(" BW", " bandwidth")
    axes = {"order": _ORDERS[name[1]]} if name[1] in _ORDERS else {}
    if plus:
        axes["synchronization"] = "barrier"
    nodes = run.nodes_of.get("Network" if name[1] else "Congestion", 0)
    if nodes:
        axes["nodes"] = str(nodes)
    if table.is_congested:
        axes["load"] = "congestors" if name[1] else table.during
    return f"gpcnet-{slug(words)}", axes


def _ranks(run: _Run, who: str) -> int:
    """The ranks of a test: those of its nodes, all where nodes have different numbers of them."""
    nodes = run.nodes_of.get(who, run.nodes)
    is_even = run.nodes > 0 and run.ranks % run.nodes == 0
    return run.ranks // run.nodes * nodes if is_even else run.ranks
