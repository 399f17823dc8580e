# SPDX-License-Identifier: Apache-2.0
"""From runs to what panels and findings read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from nhalf.base.errors import InputError
from nhalf.facts.fit import fit_summary
from nhalf.present.panels import ReportData
from nhalf.statistics.summary import summarise
from nhalf.store.places import places
from nhalf.store.schema import MEASUREMENT_COLUMNS

if TYPE_CHECKING:
    from nhalf.store.run import Run


def assemble(runs: list[Run]) -> ReportData:
    """The measurements of all runs, their summary and the models fitted to them.

    Raises InputError when there is nothing to report. A curve that no model fits is no error: the
    report shows it without one.
    """
    if not runs:
        raise InputError("no run was given", "name at least one run directory")
    named = distinct(runs)
    measurements = pl.concat(
        [
            run.measurements().with_columns(run=pl.lit(name)).select(*MEASUREMENT_COLUMNS)
            for name, run in named.items()
        ]
    )
    summary = summarise(measurements)
    if summary.is_empty():
        names = ", ".join(str(run.path) for run in runs)
        raise InputError(f"no measurement in {names}", "measure first: nhalf run")
    try:
        models = fit_summary(measurements, summary)
    except InputError:
        models = []
    return ReportData(
        measurements=measurements,
        summary=summary,
        models=models,
        titles={name: title for run in runs for name, title in run.titles.items()},
        environments={
            name: {**run.environment, **({"plan": run.plan} if run.plan else {})}
            for name, run in named.items()
        },
        find_places=lambda: {name: places(run) for name, run in named.items()},
    )


def distinct(runs: list[Run]) -> dict[str, Run]:
    """Runs by a name of their own: the folder's, with its parent's where that is not enough.

    The same folder given twice counts once: its launches must not count double.
    """
    named: dict[str, Run] = {}
    for run in {run.path.resolve(): run for run in runs}.values():
        path = run.path.resolve()
        candidates = [path.name, f"{path.parent.name}/{path.name}", str(path)]
        named[next(name for name in candidates if name not in named)] = run
    return named
