"""`nhalf why`: two runs, or two ways of starting a program, differ: which difference causes it?"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nhalf.base.errors import InputError, Interrupted
from nhalf.base.printable import say
from nhalf.base.request import option, word
from nhalf.base.units import parse_duration
from nhalf.cli.lazy import lazily
from nhalf.cli.options import OUTPUT, QuietOption, SecondsOption
from nhalf.cli.sides import names_run, run_and_library
from nhalf.mpi.launch_words import LaunchScript, parse_script
from nhalf.present.terminal.output import emit_json, stdout_console

with lazily(globals()):
    from nhalf.experiment.why.explanation import Investigation, explanation
    from nhalf.experiment.why.sides.commands import command_ways, recorded_differences, script_of
    from nhalf.experiment.why.sides.runs import run_ways
    from nhalf.experiment.why.switch import Mixture, Ways
    from nhalf.measure.traced.tables import open_trace
    from nhalf.mpi.discover import libraries
    from nhalf.present.terminal.why import progress_text, show_differences, show_explanation

GROUP = "program"
EFFORT = "How long, how sure"


@dataclass(frozen=True, kw_only=True)
class Request(SecondsOption, QuietOption, heading="What differs"):
    """The two sides, and how long to search."""

    sides: tuple[Path, ...] = word(
        (), "Two runs, two traces, or two scripts that start a program.", "[A B]"
    )
    a: str = option("", "Command line of side A, instead of a script.", metavar="COMMAND")
    b: str = option("", "Command line of side B, instead of a script.", metavar="COMMAND")
    least_share: float = option(
        0.02,
        "Differences below this share count as none.",
        "--least",
        is_share=True,
        heading=EFFORT,
    )
    budget: str = option("10m", "Time for the whole search.", heading=EFFORT)
    timeout: str = option("5m", "Give up on a launch after this long.", heading=EFFORT)
    seed: int = option(1, "Seed of the order of launches.", least=0, heading=EFFORT)
    list_: bool = option(False, "List the differences without launching anything.", heading=OUTPUT)


def command(request: Request) -> int:
    """Find the difference between two runs, or two ways to start a program, that makes one slower.

    Runs mixtures of both in turns until the smallest set of differences that carries the effect
    is proven. Exit code 1 if A and B differ and nothing that can be switched explains it.

    nhalf why runs/before runs/after
    nhalf why fast.sh slow.sh --budget 5m
    nhalf why --a 'mpiexec -n 4 ./program' --b 'FI_PROVIDER=tcp mpiexec -n 4 ./program'
    nhalf why old.sh new.sh --seconds 'Time in seconds = *([0-9.]+)'
    """
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
        text = progress_text(self._investigation)
        if text != self._last:
            say(f"{self._investigation.turns.launches} launches: {text}")
        self._last = text


HOW = "give two runs, two scripts, or --a 'COMMAND' --b 'COMMAND'"


def ways_of(request: Request) -> Ways:
    """Two sides, ready for the search. Raises InputError unless there are two of a kind."""
    places = list(request.sides)
    if len(places) + bool(request.a) + bool(request.b) != 2:
        raise InputError("two sides are needed", HOW)
    are_runs = [names_run(str(place)) for place in places]
    if any(are_runs):
        if not all(are_runs) or len(places) != 2:
            raise InputError("a run can only be mixed with a run", HOW)
        return _run_ways(request, *places)
    return _command_ways(request, places)


def _run_ways(request: Request, a: Path, b: Path) -> Ways:
    if request.seconds:
        raise InputError("--seconds is for commands; runs have times of their own", "leave it out")
    return run_ways(run_and_library(a), run_and_library(b), request.least_share)


def _command_ways(request: Request, places: Sequence[Path]) -> Ways:
    from nhalf.measure.traced.tables import is_trace

    waiting = iter(places)

    def side(text: str, name: str) -> LaunchScript:
        return parse_script(text, name) if text else script_of(next(waiting))

    a, b = side(request.a, "--a"), side(request.b, "--b")
    timeout_s = parse_duration(request.timeout)
    ways = command_ways(a, b, request.seconds, timeout_s, libraries())
    if len(places) == 2 and all(map(is_trace, places)):
        traces = [open_trace(place).trace for place in places]
        ways = replace(ways, not_tried=recorded_differences(*traces))
    return ways
