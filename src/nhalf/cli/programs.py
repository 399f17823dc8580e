"""Programs as they are named where a verb takes one: the folder of a trace, or another tool's."""

from __future__ import annotations

import math
from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.cli.lazy import lazily

with lazily(globals()):
    from nhalf.exchange.program.foreign import read_foreign, reader_of
    from nhalf.facts.program.program import Program
    from nhalf.measure.traced.tables import is_trace


def is_program(path: Path) -> bool:
    """Whether a path is a traced program, or one that another tool wrote down."""
    if is_trace(path):
        return True
    if not path.exists():
        return False
    return reader_of(path) is not None


def open_program(path: Path, flop_rate: float = 0.0) -> Program:
    """A program by its path; `flop_rate` is how many operations a rank does per second.

    Raises InputError if it is none, or damaged.
    """
    if is_trace(path):
        if flop_rate:
            raise InputError(f"{path} has times, and needs no --flop-rate", "leave it out")
        return Program.open(path)
    return read_foreign(path, flop_rate) or Program.open(path)


def parse_flop_rate(text: str) -> float:
    """The operations per second of --flop-rate, 0 if it was left out; raises InputError."""
    if not text:
        return 0.0
    try:
        flop_rate = float(text)
    except ValueError:
        flop_rate = math.nan
    if not 0 < flop_rate < math.inf:
        raise InputError(
            f"--flop-rate {text} is not a rate", "give operations per second of a rank, such as 2e9"
        )
    return flop_rate
