"""`nhalf why`: two runs, or two ways of starting a program, differ: which difference causes it?"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nhalf.base.errors import InputError, Interrupted
from nhalf.base.request import Option, Word
from nhalf.cli.options import OUTPUT, QuietOption, SecondsOption

if TYPE_CHECKING:
    from nhalf.experiment.why.explanation import Investigation
    from nhalf.experiment.why.switch import Mixture, Ways

GROUP = "program"

EFFORT = "How long, how sure"


@dataclass(frozen=True, kw_only=True)
class Request(SecondsOption, QuietOption, heading="What differs"):
    """The two sides, and how long to search."""

    sides: Annotated[
        tuple[Path, ...],
        Word("Two runs, two traces, or two scripts that start a program.", "[A B]"),
    ] = ()
    a: Annotated[str, Option("Command line of side A, instead of a script.", metavar="COMMAND")] = (
        ""
    )
    b: Annotated[str, Option("Command line of side B, instead of a script.", metavar="COMMAND")] = (
        ""
    )
    least_share: Annotated[
        float,
        Option(
            "Differences below this share count as none.", "--least", is_share=True, heading=EFFORT
        ),
    ] = 0.02
    budget: Annotated[str, Option("Time for the whole search.", heading=EFFORT)] = "10m"
    timeout: Annotated[str, Option("Give up on a launch after this long.", heading=EFFORT)] = "5m"
    seed: Annotated[int, Option("Seed of the order of launches.", least=0, heading=EFFORT)] = 1
    list_: Annotated[
        bool, Option("List the differences without launching anything.", heading=OUTPUT)
    ] = False


def command(request: Request) -> int:
    """Find the difference between two runs, or two ways to start a program, that makes one slower.

    Runs mixtures of both in turns until the smallest set of differences that carries the effect
    is proven. Exit code 1 if A and B differ and nothing that can be switched explains it.

    nhalf why runs/before runs/after
    nhalf why fast.sh slow.sh --budget 5m
    nhalf why --a 'mpiexec -n 4 ./program' --b 'FI_PROVIDER=tcp mpiexec -n 4 ./program'
    nhalf why old.sh new.sh --seconds 'Time in seconds = *([0-9.]+)'
    """
    from nhalf.cli.why_sides import ways_of
    from nhalf.experiment.why.explanation import explanation
    from nhalf.present.terminal.output import emit_json, stdout_console
    from nhalf.present.terminal.why import show_differences, show_explanation

    ways = ways_of(request)
    if request.list_:
        if request.json:
            emit_json(ways.as_json())
        else:
            show_differences(stdout_console(), ways)
        return 0
    investigation = _investigation(request, ways)
    interrupted = False
    try:
        investigation.run()
    except KeyboardInterrupt:
        interrupted = True
    explained = explanation(ways, investigation)
    if request.json:
        emit_json(explained.as_json())
    else:
        show_explanation(stdout_console(), explained)
    if interrupted:
        raise Interrupted("interrupted; what is known stands above", "start it again for an answer")
    return 0 if explained.is_answered else 1


def _investigation(request: Request, ways: Ways) -> Investigation:
    from nhalf.base.units import parse_duration
    from nhalf.experiment.why.explanation import Investigation

    if not 0 < request.least_share < 1:
        raise InputError(f"a difference of {request.least_share} is not possible", "0.02 means 2 %")
    turns = ways.turns(parse_duration(request.budget), request.seed)
    investigation = Investigation(turns, ways.switches, request.least_share)
    if not request.is_silent and sys.stderr.isatty():
        turns.report = _Progress(investigation)
    return investigation


class _Progress:
    """Says on a terminal how many launches there were and where the search is."""

    def __init__(self, investigation: Investigation) -> None:
        self._investigation = investigation
        self._last = ""

    def __call__(self, mixture: Mixture, time_s: float, problem: str) -> None:
        """Say it if it has changed."""
        from nhalf.present.terminal.why import progress_text

        text = progress_text(self._investigation)
        if text != self._last:
            sys.stderr.write(f"nhalf: {self._investigation.turns.launches} launches: {text}\n")
            sys.stderr.flush()
        self._last = text
