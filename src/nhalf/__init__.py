"""Measure, model and predict the communication performance of parallel computers.

`nhalf.run("pingpong", out="runs/today")` measures, `nhalf.open("runs/today")` gives a notebook all
that is known of a run, `nhalf.figures` its charts, `nhalf.compare` whether another is slower,
`nhalf.history("runs")` how many runs moved, `nhalf.machine("sp2-mpl")` a machine, `nhalf.predict`
what messages take there, and `nhalf.ledger` how good such predictions were.

Arguments that cannot be read, of a wrong type included, raise nhalf.base.errors.InputError, whose
message says what to write instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nhalf.base.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike
    from typing import Unpack

    import altair as alt

    from nhalf.decide.changes import Comparison
    from nhalf.decide.history.history import History
    from nhalf.decide.ledger.coverage import ComparedLedger
    from nhalf.decide.predict import Prediction
    from nhalf.facts.facts import Facts
    from nhalf.jobs.keywords import Numbers, Options
    from nhalf.machines.machine import Machine

__all__ = [
    "__version__",
    "compare",
    "figures",
    "history",
    "ledger",
    "machine",
    "open",
    "predict",
    "run",
]


def run(
    pattern: str | Iterable[str] = "", *, quiet: bool = True, **options: Unpack[Options]
) -> Facts:
    """Measure, as `nhalf run` does, and return all that is known then.

    `pattern` names one pattern or several (ping-pong where nobody says); `options` are those of
    the command by the names of `nhalf.jobs.keywords.Options`, as `ranks=[2, 4]`, `bytes="0:1M"`,
    `mpi="openmpi"`, `launches=5`, `out="runs/today"`. A study is `run(study="quick")`.
    Unless `quiet`, a bar shows how far it is. Every finished point is kept in the run directory
    `out`, without one in a new folder below `runs`. Raises InputError for what cannot be read, and
    MissingError where nothing can be measured.
    """
    from nhalf.jobs.keywords import run_of

    return run_of(pattern, options, quiet=quiet)


def machine(name: str | PathLike[str]) -> Machine:
    """A machine of record by its name (`nhalf machines list`), or the machine in a file.

    That of a run is `nhalf.open(run).machine`. Raises InputError for what is neither.
    """
    from nhalf.base.arguments import as_path
    from nhalf.machines import catalogue

    return catalogue.machine(as_path(name, "machine", "sp2-mpl"))


def predict(
    what: str,
    machine: Machine | str | PathLike[str],
    *,
    ranks: Numbers = "2",
    bytes: Numbers = "",
    sizes: Numbers = "",
    mpi: str = "",
    extrapolate: bool = False,
) -> Prediction:
    """What a pattern ('bcast'), or one of its algorithms ('bcast/binomial'), takes on a machine.

    `machine` may be a name ('sp2-mpl'), the path of a machine file or of a run, or RUN:LIBRARY;
    `ranks` and `bytes` are numbers, or texts as on the command line ('2:32', '0:4M'); `sizes` is a
    former name of `bytes`.
    `time_s` has the seconds of every algorithm (`ways`), number of ranks and size in bytes;
    `best()` names the fastest of each cell. `mpi` names the library where the machine has several;
    beyond the ranks and sizes that were measured only with `extrapolate`. Raises InputError if
    no cell can be predicted.
    """
    from nhalf.base.arguments import as_text
    from nhalf.base.errors import InputError
    from nhalf.cli.options import PREDICTED_CORES, SIZES
    from nhalf.cli.sides import machine_and_library
    from nhalf.decide.predict import predict as predict_on
    from nhalf.jobs.keywords import bytes_of, ranks_of
    from nhalf.machines.algorithms import algorithms
    from nhalf.machines.machine import Machine
    from nhalf.machines.message import Messages

    if _is_given(bytes) and _is_given(sizes):
        raise InputError("bytes and sizes are the same", "leave sizes out")
    mpi = as_text(mpi, "mpi")
    if not isinstance(machine, Machine):
        machine, library = machine_and_library(machine)
        mpi = mpi or library
    counts = ranks_of(ranks, PREDICTED_CORES)
    size_bytes = bytes_of(next(filter(_is_given, (bytes, sizes)), SIZES))
    cells = counts, size_bytes
    pattern = as_text(what, "what")
    messages = Messages(machine, mpi)
    return predict_on(pattern, messages, *cells, algorithms(), extrapolate=extrapolate)


def open(*paths: str | PathLike[str]) -> Facts:
    """The facts of runs, of several together: computed when they are first asked for, once each.

    `paths` are run directories, finished or not, or RUN:LIBRARY. `summary` has a row for every
    point (times in seconds, sizes in bytes), `models` the curves that could be fitted, `results`
    what is derived.
    Raises nhalf.base.errors.InputError where there is no path, where one is no run, and where a
    store is damaged.
    """
    from nhalf.cli.sides import facts_of

    return facts_of(paths)


def figures(facts: Facts | str | PathLike[str]) -> dict[str, alt.TopLevelMixin]:
    """The charts of the report by the names of their panels, as Altair objects.

    `facts` may be the path of a run. Charts for which there is no data are absent; the others come
    in the order of the report.
    """
    import altair as alt

    from nhalf.base.plugins import load
    from nhalf.facts.facts import Facts
    from nhalf.present.panels import Panel

    if not isinstance(facts, Facts):
        facts = open(facts)

    panels = load("nhalf.present.panels", Panel)
    ordered = sorted(panels.items(), key=lambda item: (item[1].order, item[0]))
    drawn = ((name, kind().render(facts)) for name, kind in ordered)
    return {name: chart for name, chart in drawn if isinstance(chart, alt.TopLevelMixin)}


def history(
    *paths: str | PathLike[str], pattern: str = "", mpi: str = "", bytes: Numbers = ""
) -> History:
    """Each curve of many runs over time, its changes, and what changed in the environment then.

    `paths` are runs, or folders of runs; `pattern`, `mpi` (a library in any version) and `bytes`
    narrow it. Ratios are relative to the first run, times in seconds since 1970. Warns of runs in
    a folder that cannot be read. Raises InputError if fewer than two runs have a curve in common.
    """
    from nhalf.base.arguments import as_path, as_text
    from nhalf.decide.history.history import history as history_of
    from nhalf.decide.history.levels import usable_runs
    from nhalf.jobs.keywords import bytes_of

    sizes = bytes_of(bytes) if _is_given(bytes) else ()
    narrowing = as_text(pattern, "pattern"), as_text(mpi, "mpi"), sizes
    collection = usable_runs([as_path(path, "run", "runs/today") for path in paths])
    _warn_skipped(collection.unreadable.values())
    return history_of(collection.runs, *narrowing)


def compare(
    a: str | PathLike[str],
    b: str | PathLike[str] = "",
    *,
    mpi: str = "",
    tolerance: str | float = "2%",
) -> Comparison:
    """Compare a run with the baseline `a`, or one library of a run with another.

    Both are RUN or RUN:LIBRARY; without `b`, two libraries of `a`. `mpi` names the library of
    both, or 'X,Y'; changes below `tolerance`, a share, do not count. `verdict` is that of all
    `curves`, each with its ratio, interval and verdict. Raises InputError if there is nothing to
    compare.
    """
    from nhalf.base.arguments import as_path, as_text
    from nhalf.cli.verbs.compare import Request, of_two

    sides = [str(as_path(side, "run", "runs/today")) if side != "" else "" for side in (a, b)]
    share = tolerance if isinstance(tolerance, str) else _percent(tolerance)
    baseline, now = sides[0], tuple(filter(None, sides[1:]))
    return of_two(Request(a=baseline, b=now, mpi=as_text(mpi, "mpi"), tolerance=share))[0]


def ledger(*paths: str | PathLike[str], file: str | PathLike[str] = "") -> ComparedLedger:
    """Compare recorded predictions with runs and traces that began later, and keep the result.

    `paths` are runs, folders of runs, or traces; without one, earlier comparisons are read. `file`
    is the ledger, by default that of the user. `kinds` has coverage, bias and error of each kind
    of predictions, `ledger.scores` every comparison. Warns of what cannot be read or kept. Raises
    InputError for what is neither run nor trace, MissingError if the ledger holds no prediction.
    """
    from nhalf.base.arguments import as_path
    from nhalf.decide.ledger.coverage import compared_ledger

    places = [as_path(path, "run or trace", "runs/later") for path in paths]
    own = as_path(file, "ledger", "ledger.jsonl") if _is_given(file) else None
    compared = compared_ledger(places, own)
    _warn_skipped([*compared.unreadable, *filter(None, [compared.not_kept])])
    return compared


def _is_given(value: object) -> bool:
    """Whether an argument differs from its default, an empty text."""
    return not (isinstance(value, str) and value == "")


def _warn_skipped(reasons: Iterable[str]) -> None:
    """Warn of what was left out or not kept."""
    import warnings

    for reason in reasons:
        warnings.warn(f"skipped: {reason}", stacklevel=3)


def _percent(share: object) -> str:
    """A share as on the command line. Raises InputError for anything but a number."""
    from nhalf.base.arguments import shown
    from nhalf.base.errors import InputError

    if not isinstance(share, int | float):
        raise InputError(f"tolerance={shown(share)} is no share", "write '5%' or 0.05")
    return f"{100 * share:.12g}%"
