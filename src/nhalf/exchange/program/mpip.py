"""Reports of mpiP as traces.

A report has times and bytes by call site and rank, but no partners and no single sizes: the size
of a row is the mean of its call site. Call sites whose messages have no statistics have 0 bytes.
Format: mpiP 3.5, https://github.com/LLNL/mpiP (sections begin with '@---', headers with '@ ').
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from nhalf.base.errors import InputError
from nhalf.base.rows import Row
from nhalf.exchange.program.written import world, write_program
from nhalf.facts.program.program import Program
from nhalf.measure.traced.tables import ELSEWHERE, NO_PARTNER, TABLES, Rank, Trace

MARK = "@ mpiP"
_SECTION = re.compile(r"^@--- ([^:(-]+)", re.MULTILINE)
_LIFE = re.compile(r"^\s*(\d+)\s+(\d[\d.]*(?:e[+-]?\d+)?)\s+\d", re.MULTILINE | re.IGNORECASE)
"""Times from 1000 s on have an exponent: 2.40e+03."""
_SENDS = ("Send", "Isend", "Ssend", "Issend", "Bsend", "Ibsend", "Rsend", "Irsend", "Sendrecv")
_RECEIVES = ("Recv", "Irecv", "Mrecv", "Imrecv")
_WAITS = (
    *("Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome"),
    *("Probe", "Iprobe", "Start", "Startall"),
)
_ONE_SIDED = ("Put", "Get", "Accumulate", "Rput", "Rget")
MILLI = 1e-3


@dataclass(frozen=True)
class Profile:
    """A report: the program's trace, and the table of its calls."""

    trace: Trace
    calls: pl.DataFrame


def is_mpip(text: str) -> bool:
    """Whether a text is a report of mpiP."""
    return text.lstrip().startswith(MARK)


def read_mpip(text: str, name: str) -> Profile:
    """A report as a trace; raises InputError if it has no statistics of call sites."""
    starts = list(_SECTION.finditer(text))
    ends = [*(start.start() for start in starts[1:]), len(text)]
    sections = {
        start[1].strip(): text[start.end() : end] for start, end in zip(starts, ends, strict=True)
    }
    times = list(_rows(sections.get("Callsite Time statistics", ""), 7))
    if not times:
        raise InputError(
            f"{name} has no statistics of call sites", "run mpiP without -c, which leaves them out"
        )
    sizes = {
        tuple(row[:3]): row
        for row in _rows(sections.get("Callsite Message Sent statistics", ""), 5)
    }
    calls = [_call(row, sizes.get(tuple(row[:3]))) for row in times]
    return Profile(_trace(text, sections, calls), pl.DataFrame(calls, schema=TABLES["calls"]))


def write_profile(profile: Profile, folder: Path) -> None:
    """Write the report as the folder of a trace; raises the errors of `write_program`."""
    bins, timeline = (pl.DataFrame([], schema=TABLES[name]) for name in ("bins", "timeline"))
    members = world(rank.rank for rank in profile.trace.ranks)
    tables = (profile.calls, bins, timeline, members)
    write_program(Program(folder, profile.trace, *tables), folder)


def _rows(section: str, numbers: int) -> Iterator[list[str]]:
    """The rows of single ranks: call, site, rank and this many numbers or fewer."""
    for line in section.splitlines():
        words = line.split()
        if len(words) >= 4 and words[1].isdecimal() and words[2].isdecimal():
            yield words[: 3 + numbers]


def _call(row: list[str], sent: list[str] | None) -> Row:
    """A row of times (count, max, mean, min in milliseconds) with its bytes."""
    name, rank, count = row[0], int(row[2]), int(row[3])
    most_s, mean_s, least_s = (float(word) * MILLI for word in row[4:7])
    kind = kind_of(name)
    total = float(sent[7]) if sent else 0.0
    messages = int(sent[3]) if sent else count
    return {
        **{"rank": rank, "thread": 0, "call": f"MPI_{name}", "kind": kind, "communicator": 0},
        "partner": ELSEWHERE if kind in ("sent", "received") else NO_PARTNER,
        "size_bytes": round(total / max(1, messages)),
        **{"count": count, "bytes": round(total), "time_s": count * mean_s, "waiting_s": 0.0},
        **{"min_s": least_s, "max_s": most_s},
    }


def kind_of(name: str) -> str:
    """The kind of a call by its name without MPI_."""
    for kind, names in (
        ("sent", _SENDS),
        ("received", _RECEIVES),
        ("waiting", _WAITS),
        ("one-sided", _ONE_SIDED),
    ):
        if name in names:
            return kind
    return "collective"


def _trace(text: str, sections: dict[str, str], calls: list[Row]) -> Trace:
    """Ranks with their hosts; the lifetime of each is the application time in mpiP's report."""
    hosts = dict(re.findall(r"^@ MPI Task Assignment\s*: (\d+) (\S+)", text, re.MULTILINE))
    command = re.search(r"^@ Command\s*: (.*)", text, re.MULTILINE)
    life_s = {int(life[1]): float(life[2]) for life in _LIFE.finditer(sections.get("MPI Time", ""))}
    ranks = sorted({int(rank) for rank in hosts} | set(life_s) | {row["rank"] for row in calls})
    longest_s = max(life_s.values(), default=0.0)
    rank_records = [
        Rank(rank, hosts.get(str(rank), ""), 0, 0.0, life_s.get(rank, longest_s), finished=True)
        for rank in ranks
    ]
    words = command[1].split() if command else []
    return Trace(
        command=words,
        library="mpiP",
        ranks=rank_records,
        start_s=0.0,
        end_s=longest_s,
        detail="counts",
        complete=True,
        exit_code=None,
        notes=["imported from mpiP: no partners, and of sizes the mean of each call site"],
    )
