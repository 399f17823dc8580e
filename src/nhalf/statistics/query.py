"""SQL over any number of runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from nhalf.base.dates import date_of
from nhalf.base.errors import InputError
from nhalf.statistics.summary import reported_medians, stated_visits, summarise
from nhalf.store.collection import distinct
from nhalf.store.environment import flat
from nhalf.store.gates import GateRecord
from nhalf.store.keys import RUN_POINT
from nhalf.store.run import Run, as_text

TABLES = ("points", "launches", "samples", "ranks", "extras", "runs", "environment")
GATES = "gates"
LISTS_TABLES = "show tables"
_ONLY_READS = re.compile(r"(\s|\(|--[^\n]*\n|/\*.*?\*/)*(select|with|show|explain)\b", re.I | re.S)
"""A query that begins so, after comments and parentheses."""


def query(text: str, runs: Sequence[Run]) -> pl.DataFrame:
    """The answer to a SELECT or SHOW on the tables of `runs`, which nothing can change.

    `points` is the summary (store/keys.py SUMMARY_COLUMNS), `launches` the median of each launch
    in the state of the machine that `points` reports, `samples` every raw sample with the columns
    of its measurement, `ranks` the median of each rank in each launch (rank, rank_s), `extras` the
    named values of each launch (name, value), `runs` a row for each run (run, path, started, host),
    `environment` a row for each line of the environment of each run (run, name, value). Raises
    InputError for invalid SQL.
    """
    _check_reads(text, TABLES)
    runs_by_name = distinct(runs)
    measurements = pl.concat(
        [run.measurements().with_columns(run=pl.lit(name)) for name, run in runs_by_name.items()]
    )
    lowered = text.lower()
    listed = LISTS_TABLES in lowered
    tables: dict[str, pl.LazyFrame] = {}
    if "points" in lowered or listed:
        tables["points"] = summarise(measurements).lazy()
    if "launches" in lowered or listed:
        stated = stated_visits(measurements)
        tables["launches"] = reported_medians(stated, elsewhere=True).lazy()
    tables["samples"] = measurements.explode("samples_s").rename({"samples_s": "sample_s"})
    tables["ranks"] = (
        _listed(measurements, "rank_s")
        .with_columns(rank=pl.int_ranges(pl.col("rank_s").list.len()))
        .explode("rank", "rank_s")
    )
    tables["extras"] = _listed(measurements, "values").explode("values").unnest("values")
    tables["runs"] = _runs(runs_by_name, measurements)
    tables["environment"] = _environment(runs_by_name)
    return _answer(text, tables, TABLES)


def query_gates(text: str, records: Iterable[GateRecord]) -> pl.DataFrame:
    """The answer on the table `gates`: a row for each time of each gate.

    Its columns are node, at, verdict, name ('core 5', 'transfer n1 n3') and time_s. Raises
    InputError for invalid SQL.
    """
    _check_reads(text, [GATES])
    rows = [
        (gate.node, gate.at, gate.verdict, name, time_s)
        for gate in records
        for name, time_s in gate.times_s.items()
    ]
    columns = ["node", "at", "verdict", "name", "time_s"]
    return _answer(text, {GATES: pl.LazyFrame(rows, schema=columns, orient="row")}, [GATES])


def _check_reads(text: str, names: Sequence[str]) -> None:
    if not _ONLY_READS.match(text):
        raise InputError(
            "the query cannot be answered: it is no SELECT, WITH, SHOW or EXPLAIN",
            f"tables are {', '.join(names)}; nothing in them can be changed",
        )


def _answer(text: str, tables: Mapping[str, pl.LazyFrame], names: Sequence[str]) -> pl.DataFrame:
    try:
        return pl.SQLContext(tables, eager=False).execute(text).collect()
    except (pl.exceptions.PolarsError, ValueError) as error:
        first = str(error).strip().split("\n")[0]
        raise InputError(
            f"the query cannot be answered: {first}", f"tables are {', '.join(names)}"
        ) from error


def _listed(measurements: pl.LazyFrame, column: str) -> pl.LazyFrame:
    """The launches of points with a non-empty list column."""
    launches = measurements.filter(pl.col(column).list.len() > 0)
    return launches.select(*RUN_POINT, "launch", column)


def _runs(runs_by_name: Mapping[str, Run], measurements: pl.LazyFrame) -> pl.LazyFrame:
    """A row for each run: time of its first point (local time), host, and folder."""
    rows = {
        "run": list(runs_by_name),
        "host": [str(run.environment.get("host", "")) for run in runs_by_name.values()],
        "path": [as_text(str(run.path)) for run in runs_by_name.values()],
    }
    began = measurements.group_by("run").agg(started_s=pl.col("started_s").min())
    started = pl.col("started_s").map_elements(date_of, pl.Datetime)
    return pl.LazyFrame(rows).join(began, on="run").with_columns(started=started)


def _environment(runs_by_name: Mapping[str, Run]) -> pl.LazyFrame:
    """A row for each line of the environment of each run."""
    rows = [
        (name, line, value)
        for name, run in runs_by_name.items()
        for line, value in flat(run.environment)
    ]
    return pl.LazyFrame(rows, schema=["run", "name", "value"], orient="row")
