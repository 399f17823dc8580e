"""How a run ended, kept in its journal so that it can be reported again later."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from nhalf.measure.plan.state import END
from nhalf.store.run import Run


@dataclass(frozen=True)
class RunOutcome:
    """A run that ended, and what it lacks.

    `failed` maps libraries or points that could not be measured to the reason; `notes` explains
    what was left out, a line each; `unmeasured` maps patterns to (points without a launch, all
    points); `lost` maps hosts that died while measuring to the reason.
    """

    run: Run
    failed: dict[str, str]
    notes: list[str] = field(default_factory=list)
    unmeasured: dict[str, tuple[int, int]] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)


def keep_end(outcome: RunOutcome) -> None:
    """Append the end of the run to the journal, unless the journal already ends with it."""
    fields = [field.name for field in dataclasses.fields(outcome) if field.name != "run"]
    content = {name: getattr(outcome, name) for name in fields}
    last: dict[str, Any] = next(reversed(outcome.run.events()), {})
    if last.get("event") == END and last_end(outcome.run) == outcome:
        return
    with outcome.run.journal() as journal:
        journal.append({"event": END, **content})


def last_end(run: Run) -> RunOutcome | None:
    """Return the last recorded end of a run; None if it never ended."""
    ends = [event for event in run.events() if event["event"] == END]
    if not ends:
        return None
    field_names = {field.name for field in dataclasses.fields(RunOutcome)}
    content: dict[str, Any] = {
        name: value for name, value in ends[-1].items() if name in field_names
    }
    counts = {pattern: tuple(pair) for pattern, pair in content.pop("unmeasured", {}).items()}
    return RunOutcome(run=run, unmeasured=counts, **content)
