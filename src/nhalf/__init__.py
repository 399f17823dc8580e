# SPDX-License-Identifier: Apache-2.0
"""Measure, model and predict the communication performance of parallel computers.

`nhalf.run("pingpong", out="runs/today")` measures, `nhalf.open("runs/today")` gives a notebook all
that is known of a run, `nhalf.figures` its charts, `nhalf.history("runs")` how many runs moved,
`nhalf.machine("sp2-mpl")` a machine, and `nhalf.predict` what messages take there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nhalf.base.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike
    from typing import Unpack

    import altair as alt

    from nhalf.decide.history.history import History
    from nhalf.decide.predict import Prediction
    from nhalf.facts.facts import Facts
    from nhalf.jobs.keywords import Numbers, Options
    from nhalf.machines.machine import Machine

__all__ = ["__version__", "figures", "history", "machine", "open", "predict", "run"]


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
    from pathlib import Path

    from nhalf.machines import catalogue

    return catalogue.machine(name if isinstance(name, str) else Path(name))


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
    from nhalf.base.errors import InputError
    from nhalf.cli.machine_side import machine_and_library
    from nhalf.cli.options import PREDICTED_CORES
    from nhalf.cli.verbs.predict import SIZES
    from nhalf.decide.predict import predict as predict_on
    from nhalf.jobs.keywords import bytes_of, ranks_of
    from nhalf.machines.algorithms import algorithms
    from nhalf.machines.machine import Machine

    if bytes != "" and sizes != "":
        raise InputError("bytes and sizes are the same", "leave sizes out")
    if not isinstance(machine, Machine):
        machine, library = machine_and_library(machine)
        mpi = mpi or library
    counts = ranks_of(ranks, PREDICTED_CORES)
    size_bytes = bytes_of(sizes if bytes == "" and sizes != "" else bytes or SIZES)
    cells = counts, size_bytes
    return predict_on(what, machine, *cells, algorithms(), mpi=mpi, extrapolate=extrapolate)


def open(*paths: str | PathLike[str]) -> Facts:
    """The facts of runs, of several together: computed when they are first asked for, once each.

    `paths` are run directories, finished or not. `summary` has a row for every point (times in
    seconds, sizes in bytes), `models` the curves that could be fitted, `results` what is derived.
    Raises nhalf.base.errors.InputError where there is no path, where one is no run, and, when a
    fact is asked for that needs it, where a store is damaged.
    """
    from pathlib import Path

    from nhalf.facts.facts import Facts
    from nhalf.store.run import Run

    return Facts.of([Run.open(Path(path)) for path in paths])


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
    narrow it.
    Ratios are relative to the first run, times in seconds since 1970. Warns of runs in a folder
    that cannot be read. Raises InputError if fewer than two runs have a curve in common.
    """
    import warnings
    from pathlib import Path

    from nhalf.decide.history.history import history as history_of
    from nhalf.jobs.keywords import bytes_of
    from nhalf.store.collection import collected

    collection = collected(Path(path) for path in paths)
    for reason in collection.unreadable.values():
        warnings.warn(f"skipped: {reason}", stacklevel=2)
    return history_of(collection.runs, pattern, mpi, bytes_of(bytes) if bytes != "" else ())
