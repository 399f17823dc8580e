"""mpiGraph: two matrices of rates between all pairs of ranks, megabytes of 2^20 bytes.

In step d every rank sends to the rank d to its right and receives from the rank d to its left, so
every pair is measured while all others are also busy: such points carry the axis `load`. A row is
a sender in the matrix `Send` and a receiver in `Recv`; the point's time is the sender's.
"""

from dataclasses import dataclass, field

from nhalf.exchange.importers import Imported, Importer
from nhalf.exchange.logs.launch import RANKS_MOST
from nhalf.exchange.logs.part import LogPart, is_time, ratio

MEGABYTE = 1 << 20


@dataclass
class _Graph:
    """One run of mpiGraph: its header, and rates by sender and receiver, bytes per second."""

    table: int
    size_bytes: int = -1
    ranks: int = 0
    window: int = 0
    matrix: str = ""
    columns: list[int] = field(default_factory=list)
    sent_Bps: dict[tuple[int, int], float] = field(default_factory=dict)
    received_Bps: dict[tuple[int, int], float] = field(default_factory=dict)


class MpiGraph(Importer):
    """Rows and columns end with `:RANK`, whatever the hosts are called."""

    description = "mpiGraph"
    marks = ("START mpiGraph",)
    head = "START mpiGraph"

    def read(self, part: LogPart) -> list[Imported]:
        """Every pair of every run."""
        graphs: list[_Graph] = []
        for place, line in enumerate(part.lines):
            if "START mpiGraph" in line:
                graphs.append(_Graph(len(graphs)))
                continue
            is_row = graphs and not _header(line, graphs[-1]) and _is_matrix_row(line)
            if is_row and not _row(line, graphs[-1], part):
                part.pass_over(place)
        return [point for graph in graphs for point in _points(graph)]


def _header(line: str, graph: _Graph) -> bool:
    """Whether a line belongs to the header, or names the columns of a matrix."""
    name, _, labels = line.strip().partition("\t" if "\t" in line else " ")
    if name in ("Send", "Recv") and ":" in labels:
        ends = [token.rpartition(":")[2] for token in labels.split()]
        if all(end.isdecimal() and len(end) < 8 for end in ends):
            graph.matrix, graph.columns = name, [int(end) for end in ends]
        return True
    words = line[:200].replace(":", " ").split()
    if words[:1] not in (["MsgSize"], ["Msg"], ["Procs"], ["Window"]):
        return False
    number = next((int(word) for word in words if word.isdecimal() and len(word) < 14), 0)
    if words[0] == "Procs":
        graph.ranks = number
    elif words[0] == "Window":
        graph.window = number
    else:
        graph.size_bytes = number
    return True


def _is_matrix_row(line: str) -> bool:
    """Whether a line begins with `host:rank to` or `host:rank from`."""
    head = line[:300].split(None, 2)
    return len(head) > 1 and ":" in head[0] and head[1] in ("to", "from")


def _row(line: str, graph: _Graph, part: LogPart) -> bool:
    """Keep the rates of a row; returns whether the whole row was used."""
    tokens = line.split()
    end = tokens[0].rpartition(":")[2]
    is_send = tokens[1] == "to"
    if not end.isdecimal() or len(end) > 7 or is_send != (graph.matrix == "Send"):
        return False
    row, rates = int(end), [part.number(token) * MEGABYTE for token in tokens[2:]]
    if len(rates) != len(graph.columns):
        return False  # the missing columns are unknown
    for column, rate_Bps in zip(graph.columns, rates, strict=True):
        if rate_Bps > 0 and row != column:
            pair = (row, column) if is_send else (column, row)
            (graph.sent_Bps if is_send else graph.received_Bps)[pair] = rate_Bps
    # Only the rank itself has no rate.
    return sum(rate_Bps > 0 for rate_Bps in rates) >= len(rates) - 1


def _points(graph: _Graph) -> list[Imported]:
    """A point for every pair whose sender's rate is known."""
    size_bytes = graph.size_bytes
    # If the header was lost, the matrix itself gives the number of ranks.
    ranks = graph.ranks or len(graph.columns)
    if size_bytes < 1 or not 2 <= ranks <= RANKS_MOST:
        return []
    points = []
    for (first, second), rate_Bps in graph.sent_Bps.items():
        time_s = ratio(size_bytes, rate_Bps)
        if not is_time(time_s) or max(first, second) >= ranks:
            continue
        values = {"window": float(graph.window)} if graph.window else {}
        received_s = ratio(size_bytes, graph.received_Bps.get((first, second), 0.0))
        if is_time(received_s):
            values["receive_s"] = received_s
        axes = {"first": str(first), "second": str(second), "load": "shift"}
        points.append(
            Imported(
                "distance", size_bytes, (time_s,), ranks, size_bytes, graph.table, axes, values
            )
        )
    return points
