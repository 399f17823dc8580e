# SPDX-License-Identifier: Apache-2.0
"""How a run ended, kept in its journal: who did not see it can be told the same."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from nhalf.store.run import Run

if TYPE_CHECKING:
    from nhalf.measure.loop.session import Outcome

EVENT = "end"


def keep_end(outcome: Outcome) -> None:
    """Put into the journal that all is measured, and what is not in it; nothing if it says so."""
    fields = [field.name for field in dataclasses.fields(outcome) if field.name != "run"]
    said = {name: getattr(outcome, name) for name in fields}
    last: dict[str, Any] = next(reversed(outcome.run.events()), {})
    if last.get("event") == EVENT and last_end(outcome.run) == outcome:
        return
    with outcome.run.journal() as journal:
        journal.append({"event": EVENT, **said})


def last_end(run: Run) -> Outcome | None:
    """The last end of a run; None where it never came to one."""
    from nhalf.measure.loop.session import Outcome

    ends = [event for event in run.events() if event["event"] == EVENT]
    if not ends:
        return None
    known = {field.name for field in dataclasses.fields(Outcome)}
    said: dict[str, Any] = {name: value for name, value in ends[-1].items() if name in known}
    counts = {pattern: tuple(pair) for pattern, pair in said.pop("unmeasured", {}).items()}
    return Outcome(run=run, unmeasured=counts, **said)
