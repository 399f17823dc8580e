"""An archive of OTF2, of Score-P or nhalf's own, as a program: calls, messages and operations.

Regions whose names begin with MPI_ are calls, the outermost of nested ones; what lies between is
computing. Ranks are the members of OTF2's group of MPI locations. Format: OTF2 3.2, read by its own
library (https://www.vi-hps.org/projects/score-p).

The bytes of a collective operation in OTF2, as Score-P counts them, and as a trace does.

Score-P counts what a rank sends to all and gets from all, itself included; a trace has what a rank
puts in. Source: the tests of Score-P's computation of bytes (test_scorep_mpi_coll).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl

from nhalf.base.errors import InputError, MissingError
from nhalf.base.operations import TABLE
from nhalf.exchange.program.written import counted_calls, with_waiting
from nhalf.facts.program.operations import FROM_ROOT, POLLS, SCATTERS, TO_ROOT, operation
from nhalf.facts.program.program import Program
from nhalf.measure.traced.tables import NO_PARTNER, NO_SITE, TABLES, Rank, Trace

SAME_TO_ALL = tuple(o.name for o in TABLE if o.flow == "among_all" and o.data in ("sum", "block"))
PREFIXES = tuple(o.name for o in TABLE if o.flow == "up_to_each")


def transferred_bytes(
    name: str, size_bytes: int, ranks: int, place: int, is_root: bool
) -> tuple[int, int]:
    """What a rank sends and gets in an operation, by what it puts in; `place` is its rank."""
    if name in SCATTERS:
        return (size_bytes, size_bytes // ranks) if is_root else (0, size_bytes)
    if name in FROM_ROOT:
        return ranks * size_bytes if is_root else 0, size_bytes
    if name in TO_ROOT:
        return size_bytes, ranks * size_bytes if is_root else 0
    if name in SAME_TO_ALL:
        return ranks * size_bytes, ranks * size_bytes
    if name in PREFIXES:
        after = ranks - place - (name == "exscan")
        return after * size_bytes, (place + (name == "scan")) * size_bytes
    return size_bytes, size_bytes


def input_bytes(name: str, sent_bytes: int, received_bytes: int, ranks: int) -> int:
    """What a rank puts in, or gets if it puts in nothing, by what it sends and gets."""
    if name in SCATTERS or name in TO_ROOT:
        return sent_bytes or received_bytes
    if name in FROM_ROOT:
        return received_bytes
    if name in SAME_TO_ALL:
        return sent_bytes // max(1, ranks)
    if name in PREFIXES:
        shares = ranks + 1 if name == "scan" else ranks - 1
        return (sent_bytes + received_bytes) // max(1, shares)
    return sent_bytes


ANCHOR = "traces.otf2"
MARK = b"OTF2"
WORLD = 0
NO_ROOT = 0xFFFFFFFF
WAITS = ("MPI_Wait", *POLLS, "MPI_Probe", "MPI_Mprobe", "MPI_Start", "MPI_Startall")
"""Beginnings of the names of calls that wait, probe or test."""
RECORDED = frozenset(o.name for o in TABLE if o.flow != "among_neighbours")
"""Collective operations that OTF2 has records of."""
WITHOUT_MESSAGES = "{} calls of operations that OTF2 has no record of count as computing"


def is_otf2(path: Path) -> bool:
    """Whether a path is an archive: its folder, or its anchor file."""
    try:
        with _anchor(path).open("rb") as file:
            return MARK in file.read(16)
    except OSError:
        return False


def _anchor(path: Path) -> Path:
    return path / ANCHOR if path.is_dir() else path


def read_archive(path: Path) -> Program:
    """The program of an archive.

    Raises InputError if it is damaged or has no call of MPI, MissingError without OTF2's library.
    """
    anchor = _anchor(path)
    otf2 = otf2_library("reads")
    try:
        with otf2.reader.open(str(anchor)) as archive:
            recorded = _Archive(otf2, archive)
            recorded.read()
    except (import_module("_otf2.ErrorCodes").Error, OSError, KeyError) as error:
        raise InputError(f"{anchor} is damaged: {error}", "record the program again") from error
    return recorded.program(path)


def otf2_library(does: str) -> Any:
    """OTF2's own library for Python, which reads and writes archives; raises MissingError."""
    try:
        return import_module("otf2")
    except ImportError as error:
        raise MissingError(
            f"OTF2's own library {does} its archives, and Python has no module otf2",
            "install it: pip install otf2, or Debian's python3-otf2",
        ) from error


@dataclass
class _Call:
    """A call under way: when it began, and the rows that belong to it until it ends."""

    name: str
    start_s: float
    rows: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class _Thread:
    """A location: its rank and thread, its call, and by request who began receives and when."""

    rank: int
    thread: int
    depth: int = 0
    call: _Call | None = None
    receives: dict[int, _Call] = field(default_factory=dict)


class _Archive:
    """What the events of an archive add up to."""

    def __init__(self, otf2: ModuleType, archive: Any) -> None:
        self._otf2 = otf2
        self._archive = archive
        clock = archive.definitions.clock_properties
        self._first = clock.global_offset
        self._tick_s = 1.0 / clock.timer_resolution
        self._ranks = _ranks(otf2, archive.definitions)
        self._numbered, self._communicators = self._of_communicators()
        self._threads = self._of_locations()
        self._rows: list[dict[str, Any]] = []
        self._bounds_s: dict[int, list[float]] = {}
        self._unknown = 0

    def read(self) -> None:
        """Read all events."""
        events = self._otf2.events
        actions: dict[type, Callable[[_Thread, Any], None]] = {
            events.Enter: self._enter,
            events.Leave: self._leave,
            events.MpiSend: self._sent,
            events.MpiIsend: self._sent,
            events.MpiRecv: self._received,
            events.MpiIrecvRequest: self._begin_receive,
            events.MpiIrecv: self._end_receive,
            events.MpiCollectiveEnd: self._collective,
        }
        for location, event in self._archive.events:
            thread = self._threads.get(location)
            action = actions.get(type(event))
            if thread is not None and action is not None:
                action(thread, event)

    def program(self, path: Path) -> Program:
        """The program; raises InputError if there is no call of MPI."""
        rows = pl.DataFrame(self._rows, schema=TABLES["timeline"])
        timeline = rows.with_columns(site=pl.lit(NO_SITE, pl.Int32()))
        if timeline.is_empty():
            raise InputError(f"{path} holds no call of MPI", "record the program with MPI's calls")
        timeline = with_waiting(timeline.sort("rank", "thread", "start_s", maintain_order=True))
        hosts = {thread.rank: host for thread, host in self._hosts}
        records = [
            Rank(rank, hosts.get(rank, ""), 0, first_s, last_s, finished=True)
            for rank, (first_s, last_s) in sorted(self._bounds_s.items())
        ]
        ends_s = [record.end_s for record in records]
        notes = [WITHOUT_MESSAGES.format(self._unknown)] if self._unknown else []
        trace = Trace([path.name], "", records, 0.0, max(ends_s), "timeline", True, None, notes)
        members = pl.DataFrame(self._communicators, schema=TABLES["communicators"])
        bins = pl.DataFrame([], schema=TABLES["bins"])
        return Program(path, trace, counted_calls(timeline), bins, timeline, members)

    def _of_communicators(self) -> tuple[dict[Any, tuple[int, list[int]]], list[dict[str, Any]]]:
        """The number and the world ranks of each communicator, and the rows of its members."""
        numbered: dict[Any, tuple[int, list[int]]] = {}
        rows: list[dict[str, Any]] = []
        following = WORLD + 1
        has_world = False
        for communicator in self._archive.definitions.comms:
            locations = getattr(communicator.group, "members", ())
            ranks = [self._ranks[location] for location in locations if location in self._ranks]
            if not has_world and len(ranks) == len(self._ranks):
                has_world, number = True, WORLD
            else:
                number, following = following, following + 1
            numbered[communicator] = (number, ranks)
            rows += [
                {"communicator": number, "name": communicator.name, "rank": r, "world_rank": rank}
                for r, rank in enumerate(ranks)
            ]
        return numbered, rows

    def _of_locations(self) -> dict[Any, _Thread]:
        groups = {location.group: rank for location, rank in self._ranks.items()}
        counts: dict[int, int] = {}
        threads: dict[Any, _Thread] = {}
        self._hosts: list[tuple[_Thread, str]] = []
        # The locations that are ranks come first: they are thread 0.
        locations = self._archive.definitions.locations
        for location in sorted(locations, key=lambda location: location not in self._ranks):
            rank = groups.get(location.group)
            if rank is None:
                continue
            threads[location] = _Thread(rank, counts.get(rank, 0))
            counts[rank] = threads[location].thread + 1
            parent = location.group.system_tree_parent
            self._hosts.append((threads[location], "" if parent is None else parent.name))
        return threads

    def _seconds(self, event: Any) -> float:
        seconds: float = (event.time - self._first) * self._tick_s
        return seconds

    def _enter(self, thread: _Thread, event: Any) -> None:
        thread.depth += 1
        name = event.region.name
        bounds_s = self._bounds_s.setdefault(thread.rank, [self._seconds(event)] * 2)
        bounds_s[1] = max(bounds_s[1], self._seconds(event))
        if thread.call is None and name.startswith("MPI_"):
            thread.call, thread.depth = _Call(name, self._seconds(event)), 1

    def _leave(self, thread: _Thread, event: Any) -> None:
        thread.depth -= 1
        call, end_s = thread.call, self._seconds(event)
        bounds_s = self._bounds_s.setdefault(thread.rank, [end_s] * 2)
        bounds_s[1] = max(bounds_s[1], end_s)
        if call is None or thread.depth > 0:
            return
        thread.call = None
        if call.name.startswith("MPI_Init"):
            bounds_s[0] = end_s
        elif call.name == "MPI_Finalize":
            bounds_s[1] = call.start_s
        else:
            if call.name.startswith(WAITS):
                self._rows.append(_row(thread, call.name, "waiting", call.start_s, end_s))
            elif not call.rows and operation(call.name) in RECORDED:
                self._unknown += 1
            for row in call.rows:
                self._rows.append({"start_s": call.start_s, **row, "end_s": end_s})

    def _sent(self, thread: _Thread, event: Any) -> None:
        self._message(thread, event, "sent", event.receiver)

    def _received(self, thread: _Thread, event: Any) -> None:
        self._message(thread, event, "received", event.sender)

    def _begin_receive(self, thread: _Thread, event: Any) -> None:
        if thread.call is not None:
            thread.receives[event.request_id] = thread.call

    def _end_receive(self, thread: _Thread, event: Any) -> None:
        post = thread.receives.pop(event.request_id, None)
        more = {} if post is None else {"call": post.name, "start_s": post.start_s}
        self._message(thread, event, "received", event.sender, **more)

    def _message(self, thread: _Thread, event: Any, kind: str, partner: int, **more: Any) -> None:
        if thread.call is None:
            return
        number, ranks = self._numbered.get(event.communicator, (WORLD, []))
        row = _row(thread, thread.call.name, kind, thread.call.start_s, 0.0)
        row |= {"partner": ranks[partner] if partner < len(ranks) else partner}
        row |= {"communicator": number, "tag": event.msg_tag, "size_bytes": event.msg_length}
        thread.call.rows.append({**row, **more})

    def _collective(self, thread: _Thread, event: Any) -> None:
        if thread.call is None:
            return
        number, ranks = self._numbered.get(event.communicator, (WORLD, []))
        row = _row(thread, thread.call.name, "collective", thread.call.start_s, 0.0)
        root, sizes = event.root, (event.size_sent, event.size_received)
        has_root = isinstance(root, int) and root < len(ranks)
        size_bytes = input_bytes(operation(thread.call.name), *sizes, len(ranks))
        row |= {"partner": ranks[root] if has_root else NO_PARTNER}
        thread.call.rows.append({**row, "communicator": number, "size_bytes": size_bytes})


def _row(thread: _Thread, call: str, kind: str, start_s: float, end_s: float) -> dict[str, Any]:
    """A row without a partner."""
    return {
        **{"rank": thread.rank, "thread": thread.thread, "call": call, "kind": kind},
        **{"communicator": WORLD, "partner": NO_PARTNER, "tag": 0, "size_bytes": 0},
        **{"start_s": start_s, "end_s": end_s},
        "waiting_s": 0.0,
    }


def _ranks(otf2: ModuleType, definitions: Any) -> dict[Any, int]:
    """The rank of each location that OTF2 names a member of MPI."""
    for group in definitions.groups:
        is_mpi = group.paradigm == otf2.Paradigm.MPI
        if is_mpi and group.group_type == otf2.GroupType.COMM_LOCATIONS:
            return {location: rank for rank, location in enumerate(group.members)}
    return {}
