"""The part of the variance of launches that a run does not average out, however many it has."""

from __future__ import annotations

import math
from dataclasses import dataclass

from nhalf.statistics.next_run import BETWEEN_RUNS


@dataclass(frozen=True)
class RunShare:
    """The share of the variance of launches by which runs differ beyond their launches.

    `degrees` are those of its estimate, infinite where it is known.
    """

    share: float
    degrees: float = math.inf


NO_SHARE = RunShare(0.0)
"""The share of sides that took turns: none."""
AVERAGE_SHARE = RunShare(BETWEEN_RUNS)
"""The share of two runs of which nothing else is known."""
