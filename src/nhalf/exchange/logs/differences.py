"""Tables of one curve that are not the same measurement, or do not look like it.

Lines above a table, and the command that started it, make another curve where they differ from
those of another table. Tables that remain one curve and differ by more than launches do are told.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from nhalf.base.listing import ranks_text
from nhalf.exchange.importers import Imported
from nhalf.exchange.logs.log import LogFile
from nhalf.exchange.logs.part import slug
from nhalf.store.record import Record

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
        own = [word for word in value.split() if word not in self._common]
        text = slug(" ".join(own))[:VALUE_MOST] if own else "plain"
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
