# SPDX-License-Identifier: Apache-2.0
"""How a run ended, kept in its journal: who did not see it can be told the same."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from nhalf.measure.plan.state import END
from nhalf.store.run import Run


@dataclass(frozen=True)
class Outcome:
    """A run that ended, and what is not in it.

    `failed` is what could not be measured: the reason by library or points; `notes` what was left
    out and why, a line each; `unmeasured` by pattern how many of how many points have no launch;
    `lost` are the hosts that died while measuring, each with the reason.
    """

    run: Run
    failed: dict[str, str]
    notes: list[str] = field(default_factory=list)
    unmeasured: dict[str, tuple[int, int]] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)


def keep_end(outcome: Outcome) -> None:
    """Put into the journal that all is measured, and what is not in it; nothing if it says so."""
    fields = [field.name for field in dataclasses.fields(outcome) if field.name != "run"]
    said = {name: getattr(outcome, name) for name in fields}
    last: dict[str, Any] = next(reversed(outcome.run.events()), {})
    if last.get("event") == END and last_end(outcome.run) == outcome:
        return
    with outcome.run.journal() as journal:
        journal.append({"event": END, **said})


def last_end(run: Run) -> Outcome | None:
    """The last end of a run; None if it never came to one."""
    ends = [event for event in run.events() if event["event"] == END]
    if not ends:
        return None
    known = {field.name for field in dataclasses.fields(Outcome)}
    said: dict[str, Any] = {name: value for name, value in ends[-1].items() if name in known}
    counts = {pattern: tuple(pair) for pattern, pair in said.pop("unmeasured", {}).items()}
    return Outcome(run=run, unmeasured=counts, **said)
