"""Programs as other tools write them down: GOAL, OTF2, SimGrid's time-independent traces."""

from collections.abc import Callable
from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.exchange.program.goal_file import is_goal
from nhalf.exchange.program.goal_program import read_schedule
from nhalf.exchange.program.otf2_program import is_otf2, read_archive
from nhalf.exchange.program.tit_file import is_tit
from nhalf.exchange.program.tit_program import read_tit
from nhalf.facts.program.program import Program

Reader = Callable[[Path], Program]
READERS: dict[str, tuple[Callable[[Path], bool], Reader]] = {
    "GOAL": (is_goal, read_schedule),
    "OTF2": (is_otf2, read_archive),
    "TIT": (is_tit, read_tit),
}
"""By format: whether a file is one, and how it is read."""


def reader_of(path: Path) -> Reader | None:
    """What reads a file as a program; None if nothing does."""
    for is_format, read in READERS.values():
        if is_format(path):
            return read
    return None


def read_foreign(path: Path, flop_rate: float = 0.0) -> Program | None:
    """A file as a program; None if nothing reads it.

    `flop_rate` is how many operations a rank does per second, 0 if unknown; raises InputError if
    what is read does not count operations.
    """
    read = reader_of(path)
    if read is None or not flop_rate:
        return None if read is None else read(path)
    if read is not read_tit:
        raise InputError(
            f"{path} does not count operations, which --flop-rate is for", "leave it out"
        )
    return read_tit(path, flop_rate)
