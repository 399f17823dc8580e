"""The calls and messages of a traced program for Vampir, Scalasca and other OTF2 readers.

A timeline as an archive of OTF2, by its own library (Score-P's `otf2` for Python).

Each rank is a process, each thread a location, each call a region that is entered and left, in
nanoseconds from the first rank's start. A message is received at the end of its receive, which is
the wait if that completed it. MPI_Init and MPI_Finalize bound the program. Ranks of messages are
those in their communicator, as in OTF2.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

from nhalf.base.errors import InputError
from nhalf.base.rows import Row
from nhalf.exchange.exporters import Exporter, Subject, the_program
from nhalf.exchange.program.otf2_program import otf2_library, transferred_bytes
from nhalf.exchange.program.replay_actions import check_timeline
from nhalf.facts.program.operations import (
    FROM_ROOT,
    TO_ROOT,
    is_begun_before,
    is_non_blocking,
    operation,
)
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import BOTH_WAYS
from nhalf.measure.traced.tables import Rank

NANO = 1e9
ROLES = {
    "sent": "POINT2POINT",
    "received": "POINT2POINT",
    "one-sided": "RMA",
    "collective": "COLL_OTHER",
    "waiting": "POINT2POINT",
}
NO_ROOT = 0xFFFFFFFF
INIT, FINALIZE = "MPI_Init", "MPI_Finalize"


def write_archive(otf2: ModuleType, program: Program, folder: Path) -> None:
    """Write the archive; raises InputError without a timeline or where the folder holds one."""
    check_timeline(program, "OTF2 needs every call")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty", "choose another folder")
    with otf2.writer.open(str(folder), timer_resolution=int(NANO)) as archive:
        definitions = _definitions(otf2, archive, program)
        for (rank, thread), rows in program.timeline.group_by(
            ["rank", "thread"], maintain_order=True
        ):
            writer = archive.event_writer_from_location(definitions.locations[rank, thread])
            record = next((ended for ended in program.trace.ranks if ended.rank == rank), None)
            bounds = record if thread == 0 else None
            _write(otf2, writer, rows.to_dicts(), definitions, bounds)


@dataclass
class _Definitions:
    """The definitions that events refer to; communicators with the position of each rank."""

    first_s: float
    locations: dict[Any, Any] = field(default_factory=dict)
    regions: dict[str, Any] = field(default_factory=dict)
    communicators: dict[int, Any] = field(default_factory=dict)
    places: dict[tuple[int, int], int] = field(default_factory=dict)

    def place(self, row: Row) -> int:
        """The partner's rank in the communicator."""
        partner: int = row["partner"]
        return self.places.get((row["communicator"], partner), partner)


def _definitions(otf2: ModuleType, archive: Any, program: Program) -> _Definitions:
    writer, timeline = archive.definitions, program.timeline
    definitions = _Definitions(min(rank_trace.start_s for rank_trace in program.trace.ranks))
    root = writer.system_tree_node("program", class_name="machine")
    hosts = {
        host: writer.system_tree_node(host or "node", class_name="node", parent=root)
        for host in dict.fromkeys(program.hosts)
    }
    threads = dict[int, list[int]]()
    for rank, thread in sorted(timeline.select("rank", "thread").unique().iter_rows()):
        threads.setdefault(rank, []).append(thread)
    for rank, host in enumerate(program.hosts):
        group = writer.location_group(f"rank {rank}", system_tree_parent=hosts[host])
        for thread in threads.get(rank, [0]):
            name = f"rank {rank}, thread {thread}" if thread else f"rank {rank}"
            definitions.locations[rank, thread] = writer.location(name, group=group)
    roles = {
        call: ROLES[kind]
        for call, kind in timeline.select("call", "kind").unique("call").sort("call").iter_rows()
    }
    for call, name in {INIT: "FUNCTION", FINALIZE: "FUNCTION", **roles}.items():
        role = getattr(otf2.RegionRole, name)
        definitions.regions[call] = writer.region(
            call, region_role=role, paradigm=otf2.Paradigm.MPI
        )
    first = [
        definitions.locations[rank, threads.get(rank, [0])[0]] for rank in range(program.ranks)
    ]
    _communicators(otf2, writer, program, first, definitions)
    return definitions


def _communicators(
    otf2: ModuleType, writer: Any, program: Program, first: list[Any], definitions: _Definitions
) -> None:
    mpi, kinds = otf2.Paradigm.MPI, otf2.GroupType
    writer.group("MPI", group_type=kinds.COMM_LOCATIONS, paradigm=mpi, members=first)
    members = dict[int, list[int]]()
    names = dict[int, str]()
    for number, name, rank, world_rank in program.communicators.sort(
        "communicator", "rank"
    ).iter_rows():
        members.setdefault(number, []).append(world_rank)
        names[number] = name or f"communicator {number}"
        definitions.places[number, world_rank] = rank
    for number, ranks in members.items():
        group = writer.group(
            names[number],
            group_type=kinds.COMM_GROUP,
            paradigm=mpi,
            members=[first[rank] for rank in ranks],
        )
        definitions.communicators[number] = writer.comm(names[number], group=group)


def _write(
    otf2: ModuleType, writer: Any, rows: list[Row], definitions: _Definitions, record: Rank | None
) -> None:
    """The events of one thread, none earlier than the one before it."""
    requests = count()
    ended = dict[float, list[tuple[int, Row]]]()
    now = 0
    if record is not None:
        now = _region(writer, definitions, INIT, (record.start_s, record.begin_s), 0)
    for row, sent in _calls(rows):
        now = max(now, _ns(row["start_s"], definitions))
        end = max(now, _ns(row["end_s"], definitions))
        region = definitions.regions[row["call"]]
        writer.enter(now, region)
        if sent is not None:
            _message(writer.mpi_send, now, sent, definitions)
        if row["kind"] == "received" and is_begun_before(row["call"]):
            request = next(requests)
            writer.mpi_irecv_request(now, request)
            ended.setdefault(row["end_s"], []).append((request, row))
            end = now
        elif row["kind"] == "received":
            _message(writer.mpi_recv, end, row, definitions)
        elif row["kind"] == "waiting":
            for request, receive in ended.pop(row["end_s"], ()):
                _message(writer.mpi_irecv, end, receive, definitions, request)
        elif row["kind"] == "collective":
            _collective(otf2, writer, (now, end), row, definitions)
        writer.leave(end, region)
        now = end
    if record is not None:
        _region(writer, definitions, FINALIZE, (record.end_s, record.end_s), now)


def _calls(rows: list[Row]) -> Iterator[tuple[Row, Row | None]]:
    """Each call, with what it sends: a call that sends and receives has a row of each."""
    sent_and_received = {
        (row["call"], row["start_s"]): row
        for row in rows
        if row["kind"] == "sent" and row["call"] in BOTH_WAYS
    }
    for row in rows:
        if row["kind"] == "sent" and row["call"] not in BOTH_WAYS:
            yield row, row
        elif row["kind"] != "sent":
            yield row, sent_and_received.get((row["call"], row["start_s"]))


def _region(
    writer: Any, definitions: _Definitions, name: str, span_s: tuple[float, float], from_ns: int
) -> int:
    """A call without messages, not before a moment; returns its end."""
    start, end = (max(from_ns, _ns(moment_s, definitions)) for moment_s in span_s)
    writer.enter(start, definitions.regions[name])
    writer.leave(end, definitions.regions[name])
    return end


def _message(write: Any, time_ns: int, row: Row, definitions: _Definitions, *request: int) -> None:
    """Write a message with a known partner; others are calls only."""
    if row["partner"] >= 0 and row["communicator"] in definitions.communicators:
        on = definitions.communicators[row["communicator"]]
        write(time_ns, definitions.place(row), on, max(0, row["tag"]), row["size_bytes"], *request)


def _collective(
    otf2: ModuleType, writer: Any, span: tuple[int, int], row: Row, definitions: _Definitions
) -> None:
    """Write a collective operation that OTF2 has a name for and that ends in its own call."""
    name = operation(row["call"])
    kind = getattr(otf2.CollectiveOp, name.upper(), None)
    on = definitions.communicators.get(row["communicator"])
    if kind is None or on is None or is_non_blocking(row["call"]):
        return
    has_root = name in (*FROM_ROOT, *TO_ROOT) and row["partner"] >= 0
    root = definitions.place(row) if has_root else NO_ROOT
    writer.mpi_collective_begin(span[0])
    rank: int = row["rank"]
    place = definitions.places.get((row["communicator"], rank), rank)
    is_root, ranks = row["rank"] == row["partner"], len(on.group.members)
    sizes_bytes = transferred_bytes(name, row["size_bytes"], ranks, place, is_root)
    writer.mpi_collective_end(span[1], kind, on, root, *sizes_bytes)


def _ns(time_s: float, definitions: _Definitions) -> int:
    return round((time_s - definitions.first_s) * NANO)


class Otf2(Exporter):
    """An archive of OTF2: a folder of files."""

    description = "a traced program's calls and messages as an OTF2 archive, for Vampir"
    is_folder = True

    def text(self, subject: Subject) -> str:
        """Raises InputError: an archive has no text."""
        raise InputError("an OTF2 archive is a folder of files", "name it with --out")

    def write(self, subject: Subject, out: Path) -> None:
        """Write the archive; raises MissingError without OTF2's library."""
        program = the_program(subject, "otf2")
        write_archive(otf2_library("writes"), program, out)
