# SPDX-License-Identifier: Apache-2.0
"""What is done already: read from the journal, kept up to date while measuring."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from nhalf.errors import InputError
from nhalf.study.plan import Point


@dataclass
class State:
    """What a journal says is done: points by subject and launch, sizes found, failures."""

    done: set[tuple[str, int, Point]] = field(default_factory=set)
    sizes: dict[tuple[str, str, int], list[int]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    impossible: set[tuple[str, Point]] = field(default_factory=set)

    def note(self, event: dict[str, Any]) -> None:
        """Take in one event of the journal.

        Raises InputError when it is not of the form that this file writes.
        """
        try:
            self._note(event)
        except (KeyError, TypeError) as error:
            raise InputError(
                f"the journal holds an event of another form: {error!r}", "measure again"
            ) from error

    def _note(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        if kind == "sizes":
            key = (event["subject"], event["pattern"], event["ranks"])
            self.sizes[key] = event["sizes"]
        elif kind in ("point", "failed"):
            point = Point(event["pattern"], event["ranks"], event["bytes"])
            if kind == "point":
                self.done.add((event["subject"], event["launch"], point))
            else:
                self.impossible.add((event["subject"], point))
