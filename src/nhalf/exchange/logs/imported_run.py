"""Imported points as a run directory for `show`, `report` and `compare`.

Tables of one curve that are not the same measurement, or do not look like it.

Lines above a table, and the command that started it, make another curve where they differ from
those of another table. Tables that remain one curve and differ by more than launches do are told.
"""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from nhalf.base.carrier import WINDOWS, carrier
from nhalf.base.errors import InputError
from nhalf.base.files import write_bytes
from nhalf.base.listing import ranks_text
from nhalf.base.operations import NATIVE
from nhalf.base.version import __version__
from nhalf.exchange.importers import UNNAMED, Imported
from nhalf.exchange.logs.log import LogFile, formats
from nhalf.exchange.logs.part import slug
from nhalf.store.keys import CURVE, axes_text
from nhalf.store.record import Record, event, named_values
from nhalf.store.run import JOURNAL, Run

ALIKE = 1.25
"""Tables of one curve that differ by more are told."""
COMMAND = "command"
VALUE_MOST = 40

Curve = tuple[str, str, str, int, tuple[tuple[str, str], ...]]


def told_apart(sources: Sequence[LogFile]) -> list[LogFile]:
    """The sources, whose points have an axis for each line that differs within a curve."""
    heads: dict[Curve, list[Mapping[str, str]]] = defaultdict(list)
    for source in sources:
        for point in source.log.points:
            heads[_curve(point)].append(point.head)
    axes = {curve: _Axes(of_curve) for curve, of_curve in heads.items()}
    return [
        replace(
            source,
            log=replace(
                source.log,
                points=[
                    msgspec.structs.replace(
                        point, axes={**axes[_curve(point)].of(point.head), **point.axes}
                    )
                    for point in source.log.points
                ],
            ),
        )
        for source in sources
    ]


def _curve(point: Imported) -> Curve:
    return (
        point.pattern, point.transport, point.mpi, point.ranks, tuple(sorted(point.axes.items())),
    )  # fmt: skip


class _Axes:
    """The names of the lines that differ among the tables of a curve."""

    def __init__(self, heads: Sequence[Mapping[str, str]]) -> None:
        values: dict[str, dict[str, None]] = defaultdict(dict)
        for head in heads:
            for name, value in head.items():
                values[name].setdefault(value)
        self._values = {name: list(of_name) for name, of_name in values.items() if len(of_name) > 1}
        commands = [set(text.split()) for text in self._values.get(COMMAND, ())]
        self._common = set.intersection(*commands) if commands else set()

    def of(self, head: Mapping[str, str]) -> dict[str, str]:
        """The axes of a table with these lines."""
        return {
            name.replace("-", "_"): self._value(name, head[name])
            for name in self._values
            if name in head
        }

    def _value(self, name: str, value: str) -> str:
        if name != COMMAND:
            return value[:VALUE_MOST] or "none"
        text = self._own(value)[:VALUE_MOST]
        alike = [v for v in self._values[name] if self._own(v)[:VALUE_MOST] == text]
        # Commands whose words begin alike are numbered.
        return text if len(alike) < 2 else f"{text[:32]}-{self._values[name].index(value) + 1}"

    def _own(self, value: str) -> str:
        own = [word for word in value.split() if word not in self._common]
        return slug(" ".join(own)) if own else "plain"


def disagreements(records: Sequence[Record]) -> list[str]:
    """A sentence for each curve whose tables differ by more than launches of one run do."""
    curves: dict[tuple[str, ...], dict[int, dict[int, float]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for record in records:
        key = (record.pattern, str(record.ranks), record.axes, record.mpi or record.transport)
        curves[key][record.launch][record.bytes] = statistics.median(record.samples_s)
    return list(_told(curves))


def _told(curves: Mapping[tuple[str, ...], Mapping[int, Mapping[int, float]]]) -> Iterator[str]:
    for (pattern, ranks, axes, library), launches in curves.items():
        factor = _factor(list(launches.values()))
        if factor > ALIKE:
            name = " ".join(
                word for word in (pattern, axes, f"of {ranks_text(ranks)}", library) if word
            )
            yield (
                f"{len(launches)} tables of {name} differ by up to a factor of {factor:.2g}: "
                "import those apart that are not launches of the same measurement"
            )


def _factor(tables: Sequence[Mapping[int, float]]) -> float:
    """The typical ratio, over sizes, of the slowest table to the fastest; 1 for a single one."""
    ratios = []
    for size in {size for table in tables for size in table}:
        times = [table[size] for table in tables if size in table]
        ratios.append(max(times) / min(times))
    return statistics.median(ratios) if ratios else 1.0


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
                message = f"{source.path} does not say how many ranks did {point.pattern}"
                raise InputError(message, "give their number with --ranks")
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
