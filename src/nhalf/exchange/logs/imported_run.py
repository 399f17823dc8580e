"""Imported points as a run directory for `show`, `report` and `compare`."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from nhalf.base.carrier import WINDOWS, carrier
from nhalf.base.errors import InputError
from nhalf.base.files import write_bytes
from nhalf.base.operations import NATIVE
from nhalf.base.version import __version__
from nhalf.exchange.importers import UNNAMED, Imported
from nhalf.exchange.logs.differences import disagreements, told_apart
from nhalf.exchange.logs.log import LogFile, formats
from nhalf.store.axes import axes_text
from nhalf.store.keys import CURVE
from nhalf.store.record import Record, event, named_values
from nhalf.store.run import JOURNAL, Run

ADVICE = "imported"
"""The warning of every point whose samples the log did not have."""


def write_run(
    sources: Sequence[LogFile], out: Path, *, placement: str, mpi: str = "", transport: str = ""
) -> tuple[Run, list[str]]:
    """Make a run directory of the points of all files; the sentences are what should be known.

    `mpi` and `transport` replace what the logs say. Raises InputError if a point has no number
    of ranks, or if `out` holds a run; MissingError if it cannot be written.
    """
    sources = told_apart(sources)
    records = list(_records(sources, placement, mpi, transport))
    names = dict.fromkeys(carrier(record.mpi, record.transport) for record in records)
    titles = {name: name if name == UNNAMED else f"{name}, imported" for name in names}
    run = Run.create(out, {**_description(sources, placement), "titles": titles})
    events = [event("point", carrier(record.mpi, record.transport), record) for record in records]
    write_bytes(run.path / JOURNAL, msgspec.json.Encoder().encode_lines(events))
    run.finish()
    return run, disagreements(records)


def _description(sources: Sequence[LogFile], placement: str) -> dict[str, Any]:
    """The content of run.json: the machine is unknown, only the logs are described."""
    files: list[dict[str, Any]] = [
        {
            "name": source.path.name,
            "size_bytes": source.size_bytes,
            "suites": [formats()[suite] for suite in source.log.suites],
            "points": len(source.log.points),
            "passed_over": len(source.log.passed_over),
        }
        for source in sources
    ]
    suites = sorted({suite for file in files for suite in file["suites"]})
    names = [file["name"] for file in files]
    return {
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "environment": {
            "nhalf": __version__,
            "imported": {
                "suites": suites,
                "files": names,
                "size_bytes": sum(source.size_bytes for source in sources),
            },
        },
        "plan": {"imported": files, "placement": placement},
    }


def _records(
    sources: Iterable[LogFile], placement: str, mpi: str, transport: str
) -> Iterator[Record]:
    """The points of all files, in their order."""
    launches = _Launches()
    for number, source in enumerate(sources):
        started_s = source.path.stat().st_mtime
        for position, point in enumerate(source.log.points):
            if point.ranks < 1:
                raise InputError(
                    f"{source.path} does not say how many ranks did {point.pattern}",
                    "give their number with --ranks",
                )
            record = _record(point, placement, mpi, transport)
            record.position, record.started_s = position, started_s
            record.launch = launches.of(record, (number, point.table))
            yield record


def _record(point: Imported, placement: str, mpi: str, transport: str) -> Record:
    """One point as a record of the store, without its launch, position and start."""
    named_transport = transport or point.transport
    is_of_mpi = named_transport == "mpi" or named_transport in WINDOWS
    library = (mpi or point.mpi or UNNAMED) if is_of_mpi else ""
    return Record(
        transport=named_transport,
        mpi=library,
        pattern=point.pattern,
        algorithm=NATIVE,
        ranks=point.ranks,
        placement=placement,
        axes=axes_text(point.axes),
        bytes=point.size_bytes,
        launch=0,
        position=0,
        started_s=0.0,
        batch=1,
        messages_per_round=2 if point.pattern == "pingpong" else 1,
        bytes_per_time=point.bytes_per_time,
        stop="imported",
        verified=point.verified,
        advice=[] if point.raw else [ADVICE],
        samples_s=list(point.samples_s),
        rank_s=list(point.rank_s),
        values=named_values(point.values),
    )


class _Launches:
    """Numbers launches: each table of a curve begins one, and so does a repeated size."""

    def __init__(self) -> None:
        self._tables: dict[tuple[Any, ...], dict[tuple[int, int], int]] = defaultdict(dict)
        self._next: dict[tuple[Any, ...], int] = defaultdict(int)

    def of(self, record: Record, table: tuple[int, int]) -> int:
        """The launch of a point in a table (file, number of the table)."""
        curve = tuple(getattr(record, name) for name in CURVE)
        tables = self._tables[curve]
        launch = max(tables.setdefault(table, len(tables)), self._next[*curve, record.bytes])
        self._next[*curve, record.bytes] = launch + 1
        return launch
