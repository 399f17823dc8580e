# SPDX-License-Identifier: Apache-2.0
"""Programs as they are named where a verb takes one: the folder of a trace, or another tool's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nhalf.facts.program.program import Program


def is_program(path: Path) -> bool:
    """Whether a path is a traced program, or one that another tool wrote down."""
    from nhalf.measure.traced.tables import is_trace

    if is_trace(path):
        return True
    if not path.exists():
        return False
    from nhalf.exchange.program.foreign import reader_of

    return reader_of(path) is not None


def open_program(path: Path) -> Program:
    """A program by its path; raises InputError if it is none, or damaged."""
    from nhalf.exchange.program.foreign import reader_of
    from nhalf.facts.program.program import Program
    from nhalf.measure.traced.tables import is_trace

    read = None if is_trace(path) else reader_of(path)
    return Program.open(path) if read is None else read(path)
