"""The sections of a report: every panel that has something to show, and the captions of charts."""

import textwrap
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from nhalf.base.listing import few
from nhalf.base.numbers import grouped, percent, says_nothing, span
from nhalf.base.plugins import load
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.decide.program.basis import share_in_mpi, shown_run
from nhalf.decide.runs_compared import measured_runs
from nhalf.facts.extent import extent
from nhalf.facts.facts import Facts
from nhalf.facts.overview import LibraryOverview, overview
from nhalf.facts.program.program import Program
from nhalf.facts.program.shape.naming import communication_shape
from nhalf.facts.series import series_names
from nhalf.facts.wrong_data import wrong_data
from nhalf.present.charts.curves import OVERLAY_DATA
from nhalf.present.panels import Panel, Table
from nhalf.present.program.verdict import program_verdict
from nhalf.present.report import heading, themes
from nhalf.present.report.caption import (
    Caption,
    Data,
    ReaderChoice,
    ReportSubject,
    Spec,
    rows_of,
    with_caption,
)
from nhalf.present.verdict import application_verdict, plain_verdict, run_verdict, verdict
from nhalf.present.wording import count, n_half_ends, n_half_text

FOOTER = (
    "The calls of the program were counted while it ran. Times are those inside MPI calls; "
    "waiting is the whole time of waits, probes and barriers, and what any other call took beyond "
    "the shortest one with the same partner and size."
)


class TraceReport(ReportSubject[Program]):
    """The report of one traced program."""

    panels = "nhalf.present.program.panels"

    def heading(self) -> dict[str, Any]:
        """Command, size of the program, and how its calls were counted."""
        return {
            "title": self.data.command or self.data.name,
            "subtitle": _subtitle(self.data),
            "verdict": program_verdict(self.data),
            "sureness": _figures(self.data),
            "footer": FOOTER,
        }

    def caption(
        self, spec: Spec, patterns: Collection[str], choice: ReaderChoice | None, option: str
    ) -> Caption:
        """Name the program and, of a choice, what is shown of it."""
        command = self.data.command or self.data.name
        shown = choice.in_words(option) if choice else ""
        return " · ".join(filter(None, (shown, command))), [_subtitle(self.data)]


def _subtitle(program: Program) -> str:
    hosts = len(set(program.hosts))
    parts = [
        program.library_title,
        count(program.ranks, "rank"),
        count(hosts, "host") if hosts > 1 else "".join(set(program.hosts)),
        "" if program.trace.complete else "incomplete",
    ]
    return " · ".join(part for part in parts if part)


def _which_time(program: Program) -> str:
    """Which time it is: of the run as traced, or of that without others."""
    words = "from MPI_Init to MPI_Finalize"
    if program.as_traced is None:
        return words
    traced = format_time(program.as_traced.elapsed_s)
    return f"{words} with a processor for each rank ({traced} as traced)"


def _figures(program: Program) -> list[tuple[str, str]]:
    """The box of numbers: how long, how many, how much of it in MPI."""
    in_mpi = share_in_mpi(program)
    figures = [
        (format_time(program.elapsed_s), _which_time(program)),
        (grouped(int(program.messages["count"].sum())), "messages between ranks"),
    ]
    if in_mpi is not None:
        figures.append((percent(in_mpi.mean_share), "of the run in MPI"))
    shape = communication_shape(program).name or "irregular"
    return [*figures, (shape, "pattern of point-to-point messages")]


NAMES_MAX = 4
LINE_LENGTH = 95


class RunsReport(ReportSubject[Facts]):
    """The report of one or several runs."""

    panels = "nhalf.present.panels"

    def heading(self) -> dict[str, Any]:
        """Title, verdict, precision, method and libraries."""
        facts = self.data
        size = extent(facts)
        return {
            "alarms": [curve.headline for curve in wrong_data(facts)],
            "title": heading.title(size, measured_runs(facts)),
            "nothing": heading.nothing(len(measured_runs(facts)) > 1),
            "subtitle": heading.subtitle(size),
            "verdict": (
                run_verdict(facts)
                or verdict(facts)
                or application_verdict(facts)
                or plain_verdict(facts)
            ),
            "sureness": heading.sureness(size),
            "footer": heading.footer(size),
            "libraries": [_library(entry, series_names(facts)) for entry in overview(facts)],
            "series": series_names(facts),
        }

    def caption(
        self, spec: Spec, patterns: Collection[str], choice: ReaderChoice | None, option: str
    ) -> Caption:
        """Describe what is shown (patterns, ranks, placement, host), and name its libraries."""
        rows = rows_of(spec)
        if choice is not None:
            rows = [row for row in rows if str(row.get(choice.field)) == option] or rows
        points = _points(
            self.data, patterns or {str(row["pattern"]) for row in rows if "pattern" in row}
        )
        shown = sorted(points["pattern"].unique())
        picked = "" if option in shown or choice is None else choice.in_words(option)
        ranks, placements = _setting(points)
        setting = ["" if "ranks" in picked else ranks, placements]
        parts = [picked, few(shown, NAMES_MAX), *setting, few(extent(self.data).hosts, 2)]
        series = {str(row["series"]) for row in rows if "series" in row and not _names_series(spec)}
        libraries = [name for name in series_names(self.data) if name in series] or sorted(series)
        lines = textwrap.wrap(", ".join(libraries), LINE_LENGTH)
        if self.data.overlay is not None and any(
            layer.get("data", {}).get("name") == OVERLAY_DATA for layer in spec.get("layer", [])
        ):
            lines.append(f"dashed: {self.data.overlay.name}, for comparison")
        return " · ".join(filter(None, parts)), lines


def _names_series(part: Any) -> bool:
    """Whether a chart names its series itself: in its legend, or above its facets."""
    if isinstance(part, list):
        return any(map(_names_series, part))
    if not isinstance(part, dict):
        return False
    color = part.get("encoding", {}).get("color", {})
    in_legend = color.get("field") == "series" and color.get("legend", {}) is not None
    above = part.get("facet", {}).get("field") == "series"
    parts = (part.get(name) for name in ("layer", "spec"))
    return in_legend or above or any(map(_names_series, parts))


def _points(facts: Facts, patterns: Collection[str]) -> pl.DataFrame:
    """Select the points of these patterns; all if the panel has none of its own."""
    if not patterns:
        return facts.summary
    return facts.summary.filter(pl.col("pattern").is_in(list(patterns)))


def _setting(points: pl.DataFrame) -> tuple[str, str]:
    ranks = [str(number) for number in sorted(points["ranks"].unique())]
    placements = sorted(filter(None, points["placement"].unique()))
    return f"{few(ranks, 6)} {'rank' if ranks == ['1'] else 'ranks'}", few(placements, 3)


def _ends(low: float, high: float, form: Callable[[float], str]) -> str:
    """An interval in words; one of two launches may be so wide that its ends only mislead."""
    return "interval unknown" if says_nothing(low, high) else span(low, high, form)


def _library(entry: LibraryOverview, names: list[str]) -> dict[str, Any]:
    several = entry.launches > 1
    latency = _ends(entry.latency_low_s, entry.latency_high_s, format_time)
    peak = _ends(entry.peak_low_Bps, entry.peak_high_Bps, format_rate)
    return {
        "color": names.index(entry.series) % len(themes.PALETTE_LIGHT),
        "name": entry.series,
        "latency": format_time(entry.latency_s),
        "latency_note": f"{latency}, {format_size(entry.latency_bytes)}" if several else "",
        "n_half": n_half_text(entry.n_half_bytes),
        "n_half_note": n_half_ends(entry),
        "peak": format_rate(entry.peak_Bps),
        "peak_note": f"{peak}, {format_size(entry.peak_bytes)}" if several else "",
        "switches": [f"{format_size(low)} – {format_size(high)}" for low, high in entry.switches],
    }


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
