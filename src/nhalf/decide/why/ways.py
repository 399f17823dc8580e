# SPDX-License-Identifier: Apache-2.0
"""Two ways of running something, ready for the search: switches, and what launches a mixture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nhalf.decide.why.switch import Switch
from nhalf.decide.why.turns import Launch


@dataclass(frozen=True)
class Ways:
    """A and B as `switches` between them, and the function that launches a mixture.

    `not_tried` are recorded differences that cannot be switched. Times `are_exact` if every launch
    takes the same. `recorded_ratio` is B's time over A's as it was recorded, None without a record,
    and `timed` says what is timed.
    """

    switches: Sequence[Switch]
    launch: Launch
    timed: str
    not_tried: Sequence[Switch] = ()
    are_exact: bool = False
    recorded_ratio: float | None = None
    is_recorded_different: bool = False

    def as_json(self) -> dict[str, Any]:
        """The differences in the output of `nhalf why --json`."""
        return {
            "timed": self.timed,
            "exact": self.are_exact,
            "recorded_ratio": self.recorded_ratio,
            "switches": [switch.as_json() for switch in self.switches],
            "not_tried": [switch.as_json() for switch in self.not_tried],
        }
