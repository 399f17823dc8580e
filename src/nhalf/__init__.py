# SPDX-License-Identifier: Apache-2.0
"""Measure, model and predict the communication performance of parallel computers.

`nhalf.open("runs/today")` gives a notebook everything that is known of a run, `nhalf.figures` its
charts, and `nhalf.history("runs")` how many runs moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nhalf.base.version import __version__

if TYPE_CHECKING:
    from os import PathLike

    import altair as alt

    from nhalf.decide.history.history import History
    from nhalf.facts.facts import Facts

__all__ = ["__version__", "figures", "history", "open"]


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


def figures(facts: Facts) -> dict[str, alt.TopLevelMixin]:
    """The charts of the report by the names of their panels, as Altair objects.

    Those that the data has something for, in the order of the report.
    """
    import altair as alt

    from nhalf.base.plugins import load
    from nhalf.present.panels import Panel

    panels = load("nhalf.present.panels", Panel)
    ordered = sorted(panels.items(), key=lambda item: (item[1].order, item[0]))
    drawn = ((name, kind().render(facts)) for name, kind in ordered)
    return {name: chart for name, chart in drawn if isinstance(chart, alt.TopLevelMixin)}


def history(*paths: str | PathLike[str], pattern: str = "", mpi: str = "") -> History:
    """Each curve of many runs over time, its changes, and what changed in the environment then.

    `paths` are runs, or folders of runs; `pattern` and `mpi` (a library in any version) narrow it.
    Ratios are relative to the first run, times in seconds since 1970. Raises InputError where fewer
    than two runs have a curve in common.
    """
    from pathlib import Path

    from nhalf.decide.history.history import history as history_of
    from nhalf.store.collection import collected

    return history_of(collected(Path(path) for path in paths), pattern, mpi)
