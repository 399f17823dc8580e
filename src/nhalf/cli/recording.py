"""Recording of predictions, which never makes a prediction fail."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nhalf.base.errors import MissingError
from nhalf.cli.lazy import lazily
from nhalf.present.terminal.output import console

with lazily(globals()):
    from nhalf.decide.ledger.lines import Predicted, append_lines, usual_path


def record(ledger: Path | None, lines: Iterable[Predicted]) -> None:
    """Append predictions to a ledger, or to the user's; a warning says why if that fails."""
    try:
        append_lines(ledger or usual_path(), list(lines))
    except MissingError as error:
        console().print(f"not recorded: {error}", markup=False, soft_wrap=True)
