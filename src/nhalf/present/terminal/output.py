# SPDX-License-Identifier: Apache-2.0
"""Where output goes: results on standard output, progress and remarks on standard error."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

UNLIMITED = 10_000
"""More columns than any table needs."""


def emit_json(result: Any) -> None:
    """Print one JSON object to standard output; NaN and infinities become null."""
    import msgspec

    sys.stdout.write(msgspec.json.encode(result).decode() + "\n")
    sys.stdout.flush()


def console() -> Console:
    """A console on standard error."""
    return _console(stderr=True)


def stdout_console() -> Console:
    """A console on standard output, as wide as COLUMNS says or its terminal is.

    In a pipe nothing is cut or wrapped.
    """
    plain = _console()
    if plain.is_terminal or os.environ.get("COLUMNS", "").isdecimal():
        return plain
    return _console(width=UNLIMITED)


def _console(**choices: Any) -> Console:
    """A console that leaves it to the caller what a reader who went away means."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Plain(highlight=False, **choices)
