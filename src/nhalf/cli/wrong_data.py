"""Wrong data as the first thing that a verb says about runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nhalf.present.terminal.output import WRONG_DATA, stdout_console

if TYPE_CHECKING:
    from nhalf.facts.facts import Facts
    from nhalf.facts.wrong_data import WrongData

LINES_MAX = 8


def announce(facts: Facts, request: object) -> bool:
    """Say which data of these runs arrived wrong, before anything else; whether any did.

    The words begin a table on standard output; where that holds something for programs or nothing,
    they go to standard error, and an object of JSON names them in its member `wrong_data`.
    """
    from nhalf.facts.wrong_data import wrong_data

    return announce_these(wrong_data(facts), request)


def announce_these(wrong: Sequence[WrongData], request: object) -> bool:
    """Say first that these data arrived wrong; whether there are any."""
    if wrong and _is_for_people(request):
        _keep(wrong)
        for line in _lines(wrong):
            stdout_console().print(
                line, style="bold red", markup=False, highlight=False, soft_wrap=True
            )
    elif wrong:
        _remark(wrong)
    return bool(wrong)


def remark(facts: Facts) -> None:
    """Say on standard error, and in JSON, which data of a run arrived wrong: it is one source."""
    from nhalf.facts.wrong_data import wrong_data

    if wrong := wrong_data(facts):
        _remark(wrong)


def _remark(wrong: Sequence[WrongData]) -> None:
    _keep(wrong)
    sys.stderr.write("".join(f"{line}\n" for line in _lines(wrong)))


def _keep(wrong: Sequence[WrongData]) -> None:
    """Let JSON on standard output name them, too."""
    WRONG_DATA.set([*WRONG_DATA.get(), *(curve.as_json() for curve in wrong)])


def _lines(wrong: Sequence[WrongData]) -> list[str]:
    lines = [curve.headline for curve in wrong[:LINES_MAX]]
    if len(wrong) > LINES_MAX:
        lines.append(f"and {len(wrong) - LINES_MAX} more with wrong data")
    return lines


def _is_for_people(request: object) -> bool:
    """Whether standard output is a table to be read."""
    silent = any(getattr(request, name, False) for name in ("json", "quiet", "style", "formula"))
    return not silent and getattr(request, "format", "table") == "table"
