# SPDX-License-Identifier: Apache-2.0
"""Programs as other tools write them down: schedules in GOAL, archives of OTF2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nhalf.exchange.program.goal_file import is_goal
from nhalf.exchange.program.goal_program import read_schedule
from nhalf.exchange.program.otf2_program import is_otf2, read_archive
from nhalf.facts.program.program import Program

Reader = Callable[[Path], Program]
READERS: dict[str, tuple[Callable[[Path], bool], Reader]] = {
    "GOAL": (is_goal, read_schedule),
    "OTF2": (is_otf2, read_archive),
}
"""By format: whether a file is one, and how it is read."""


def reader_of(path: Path) -> Reader | None:
    """What reads a file as a program; None if nothing does."""
    for is_format, read in READERS.values():
        if is_format(path):
            return read
    return None
