"""Findings: what the measurements show, in sentences, each with its number and its interval.

Libraries are compared by the ratio of their times in the same launch round, so that a noisy
neighbour or a change of clock frequency disturbs both. A finding is made only if the whole interval
lies beyond a stated threshold, and a remedy is given only if it was measured or if the warning
itself says what would remove it.

To add a finding, put a class that derives from `Finder` into the file of its subject, or into a
file of its own. It then appears in the report, in `report --json` and at the end of `nhalf run`; no
other file changes. Facts (nhalf.facts) compute; a finder decides which of them to report and
phrases them with the wording and weights of present/wording.py.

    class Example(Finder[Facts]):
        def find(self, facts):
            slowest_s = facts.summary["median_s"].max()
            if slowest_s is not None and slowest_s > 1:
                yield Finding(
                    f"One point needs {format_time(slowest_s)}.",
                    importance=40,
                    kind="slow-point",
                    label="Slow point",
                    figure=format_time(slowest_s),
                )
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import InitVar, dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from nhalf.base.numbers import percent
from nhalf.base.plugins import load
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import MAIN_PATTERN
from nhalf.present.wording import weight

if TYPE_CHECKING:
    from nhalf.facts.program.program import Program
    from nhalf.statistics.intervals import Interval

BY_SUBJECT = True
RUN_FINDERS = "nhalf.present.findings"
WARNING = 40
"""Findings of less importance are warnings about the measurement."""
TRACE_FINDERS = "nhalf.present.program.findings"
SUBJECT = {"mpi": "mpi", "pattern": "pattern", "size_bytes": "bytes"}
"""What a finding is about, by the members of facts, and by the columns of rows."""


@dataclass(frozen=True)
class Finding:
    """One sentence for people, with its number for programs.

    `value` with `low` and `high` is the number in `text` (a ratio of times, a share or a count; the
    ends are NaN without an interval); `remedy` is empty if none was measured. Findings of higher
    `importance` come first: 100 invalidates results, 40 to 90 are facts about the libraries, below
    40 are warnings about the measurement. The report shows `label` as a heading and `figure` large
    beside the text; if it is empty, `value` as a ratio or, without an interval, as a count.

    `interval` sets `value` and its ends, `share` sets `value` and, in percent, `figure`.
    """

    text: str
    importance: float
    kind: str
    remedy: str = ""
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    mpi: str = ""
    pattern: str = MAIN_PATTERN
    size_bytes: int | None = None
    label: str = "How sure"
    figure: str = ""
    interval: InitVar[Interval | None] = None
    share: InitVar[float | None] = None

    def __post_init__(self, interval: Interval | None, share: float | None) -> None:
        values: dict[str, object] = {}
        if interval is not None:
            values = {"value": interval.median, "low": interval.low, "high": interval.high}
        if share is not None:
            values = {"value": share, "figure": percent(share)}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(
        cls,
        fact: object,
        text: str,
        importance: float | tuple[float, float],
        kind: str,
        label: str = "How sure",
        **further: Any,
    ) -> Finding:
        """What follows from a fact: with its ratio, library, pattern and size, unless `further`
        has others; of a range of `importance` the ratio decides (`weight`).
        """
        row = fact if isinstance(fact, Mapping) else None
        values = {
            member: getattr(fact, member, None) if row is None else row.get(column)
            for member, column in SUBJECT.items()
        }
        interval: Any = further.pop("interval", getattr(fact, "ratio", None))
        if isinstance(importance, tuple):
            importance = weight(interval.median, *importance)
        about = {member: value for member, value in values.items() if value is not None}
        return cls(text, importance, kind, label=label, interval=interval, **(about | further))


Data = TypeVar("Data")


class Finder(ABC, Generic[Data]):
    """Looks for one kind of finding.

    It reads what is known of runs (`Finder[Facts]`) or of a traced program (`Finder[Program]`).
    """

    @abstractmethod
    def find(self, data: Data, /) -> Iterator[Finding]:
        """The findings of this kind; none if the data has no basis for one."""


@fact
def findings(data: Facts | Program) -> list[Finding]:
    """All findings about runs or a traced program, the most important first.

    Those of a program are about the run that its shares refer to.
    """
    package = RUN_FINDERS
    if not isinstance(data, Facts):
        # Replays are not imported where runs are shown.
        from nhalf.decide.program.basis import shown_run

        package, shown = TRACE_FINDERS, shown_run(data)
        if shown is not data:
            return findings(shown)
    finders = load(package, Finder).values()
    every_finding = [finding for finder in finders for finding in finder().find(data)]
    return sorted(every_finding, key=lambda finding: -finding.importance)


def headlines(data: Facts | Program) -> list[Finding]:
    """The findings as people read them: warnings are joined where they would outnumber the rest."""
    ordered = findings(data)
    facts = [finding for finding in ordered if finding.importance >= WARNING]
    warnings = [finding for finding in ordered if finding.importance < WARNING]
    room = max(1, len(facts))
    if len(warnings) <= room:
        return ordered
    *single, first = warnings[:room]
    joined = [first, *warnings[room:]]
    text = " ".join(finding.text for finding in joined)
    label = f"{len(joined)} warnings"
    return [*facts, *single, replace(first, text=text, remedy="", label=label, figure="–")]


def as_json(finding: Finding) -> dict[str, Any]:
    """A finding as an object for --json: null for a missing number."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in vars(finding).items()
    }
