"""The sections of a report: every panel that has something to show."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from nhalf.base.plugins import load
from nhalf.decide.program.basis import shown_run
from nhalf.facts.facts import Facts
from nhalf.facts.program.program import Program
from nhalf.present.panels import Panel, Table
from nhalf.present.program.report import TraceReport
from nhalf.present.report.caption import with_caption
from nhalf.present.report.runs import RunsReport
from nhalf.present.report.subject import Data, ReportSubject


@dataclass(frozen=True)
class Section:
    """A rendered panel: `spec` for a chart, otherwise `table`.

    `patterns` are the panel's subject, if its rows do not name them.
    """

    name: str
    title: str
    how_to_read: str
    spec: dict[str, Any] | None
    table: Table | None
    patterns: Collection[str] = ()


def subject_of(data: Facts | Program) -> ReportSubject[Any]:
    """The subject of a report on runs or on a traced program, as shares of it refer to it."""
    return RunsReport(data) if isinstance(data, Facts) else TraceReport(shown_run(data))


def sections(data: Facts | Program) -> list[Section]:
    """Every panel that has something to show, in order."""
    return list(_sections(subject_of(data)))


def _sections(subject: ReportSubject[Data]) -> Iterator[Section]:
    panels: dict[str, type[Panel[Data]]] = load(subject.panels, Panel)
    for name, panel in sorted(panels.items(), key=lambda item: (item[1].order, item[0])):
        drawn = panel().render(subject.data)
        if isinstance(drawn, Table):
            yield Section(name, panel.title, panel.how_to_read, None, drawn, panel.patterns)
        elif drawn is not None:
            spec = {**drawn.to_dict(), "description": f"{panel.title}. {panel.how_to_read}"}
            caption = partial(subject.caption, spec, panel.patterns)
            spec = with_caption(spec, caption)
            yield Section(name, panel.title, panel.how_to_read, spec, None, panel.patterns)
