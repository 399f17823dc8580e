"""SQL over any number of runs."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from nhalf.base.carrier import carrier
from nhalf.base.dates import date_of
from nhalf.base.errors import InputError
from nhalf.statistics.summary import reported_medians, stated_visits, summarise
from nhalf.store.collection import distinct
from nhalf.store.environment import flat
from nhalf.store.gates import GateRecord, timed_on
from nhalf.store.keys import POINT_COLUMNS, RUN_POINT
from nhalf.store.places import places
from nhalf.store.run import Run, as_text

TABLES = ("points", "launches", "samples", "ranks", "pairs", "extras", "runs", "environment")
GATES = "gates"
MAPS = "pair-map-"
"""Begins the names of the patterns that time all pairs."""
PAIR = r"^(?:peer_of_(?<peer>\d+)|(?<a>\d+)>(?<b>\d+))$"
"""How a value names its pair: a rank, whose peer it is, or both, whose time it is."""
_START = ("run", "subject", "ranks", "placement")
LISTS_TABLES = "show tables"
_ONLY_READS = re.compile(r"(\s|\(|--[^\n]*\n|/\*.*?\*/)*(select|with|show|explain)\b", re.I | re.S)
"""A query that begins so, after comments and parentheses."""


def query(text: str, runs: Sequence[Run]) -> pl.DataFrame:
    """The answer to a SELECT or SHOW on the tables of `runs`, which nothing can change.

    `points` is the summary (store/keys.py SUMMARY_COLUMNS), `launches` the median of each launch
    in the state of the machine that `points` reports, `samples` every raw sample with the columns
    of its measurement, `ranks` the median of each rank in each launch (rank, rank_s, node: its host
    or null), `pairs` the time of each pair of pair maps in each launch (first_rank, second_rank,
    first_node, second_node, time_s: from the first to the second), `extras` the named
    values of each launch (name, value), `runs` a row for each run (run, path, started, host),
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
    if "ranks" in lowered or "pairs" in lowered or listed:
        nodes = _nodes(runs_by_name)
        numbers = pl.int_ranges(pl.col("rank_s").list.len())
        by_rank = _listed(measurements, "rank_s").with_columns(rank=numbers)
        tables["ranks"] = _with_node(by_rank.explode("rank", "rank_s"), nodes, "rank", "node")
        pairs = _with_node(_pairs(measurements), nodes, "first_rank", "first_node")
        tables["pairs"] = _with_node(pairs, nodes, "second_rank", "second_node")
    tables["extras"] = _listed(measurements, "values").explode("values").unnest("values")
    tables["runs"] = _runs(runs_by_name, measurements)
    tables["environment"] = _environment(runs_by_name)
    return _answer(text, tables, TABLES)


def query_gates(text: str, records: Iterable[GateRecord]) -> pl.DataFrame:
    """The answer on the table `gates`: a row for each time of each gate.

    Its columns are node, at, verdict, name ('core 5', 'transfer n1 n3'), time_s, quantity ('core
    5', 'transfer'), first_node and second_node, null where a time is of one node. Raises InputError
    for invalid SQL.
    """
    _check_reads(text, [GATES])
    rows = [
        (gate.node, gate.at, gate.verdict, name, time_s, quantity, nodes[0], (*nodes[1:], None)[0])
        for gate in records
        for name, time_s in gate.times_s.items()
        for quantity, nodes in [timed_on(gate.node, name)]
    ]
    columns = ["node", "at", "verdict", "name", "time_s", "quantity", "first_node", "second_node"]
    table = pl.LazyFrame(rows, columns, orient="row", infer_schema_length=None)
    return _answer(text, {GATES: table.cast({"second_node": pl.String})}, [GATES])


def _check_reads(text: str, names: Sequence[str]) -> None:
    if not _ONLY_READS.match(text):
        message = "the query cannot be answered: it is no SELECT, WITH, SHOW or EXPLAIN"
        raise InputError(message, f"tables are {', '.join(names)}; nothing in them can be changed")


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


def _pairs(measurements: pl.LazyFrame) -> pl.LazyFrame:
    """A row for each pair of each map of pairs: who was a rank's peer, or what 'A>B' took."""
    first, second = pl.col("first_rank"), pl.col("second_rank")
    words = pl.col("name").str.extract_groups(PAIR)
    values = (
        measurements.filter(pl.col("pattern").str.starts_with(MAPS))
        .select(*RUN_POINT, "launch", "rank_s", "values")
        .explode("values")
        .unnest("values")
        .with_columns(words=words)
        .unnest("words")
    )
    is_peer = pl.col("peer").is_not_null()
    timed = values.with_columns(
        first_rank=pl.coalesce("peer", "a").cast(pl.Int64),
        second_rank=pl.when(is_peer).then("value").otherwise(pl.col("b").cast(pl.Int64)),
    ).drop_nulls("first_rank")
    from_rank = pl.col("rank_s").list.get(first, null_on_oob=True)
    time_s = pl.when(is_peer).then(from_rank).otherwise("value")
    columns = [*RUN_POINT, "launch", "first_rank", "second_rank", "time_s"]
    return timed.with_columns(second.cast(pl.Int64), time_s=time_s).select(columns)


def _nodes(runs_by_name: Mapping[str, Run]) -> pl.LazyFrame:
    """The host of each rank of each start of each run."""
    rows = [
        (name, *start, rank, place.host)
        for name, run in runs_by_name.items()
        for start, ranked in places(run).items()
        for rank, place in enumerate(ranked)
    ]
    kinds = (pl.String, pl.String, POINT_COLUMNS["ranks"], pl.String, pl.Int64, pl.String)
    schema: Any = dict(zip((*_START, "rank", "node"), kinds, strict=True))
    return pl.LazyFrame(rows, schema, orient="row")


def _with_node(frame: pl.LazyFrame, nodes: pl.LazyFrame, rank: str, node: str) -> pl.LazyFrame:
    """Add the host of a rank in the run's first launch of its kind."""
    subject = pl.struct("mpi", "transport").map_elements(
        lambda row: carrier(row["mpi"], row["transport"]), pl.String
    )
    its_nodes = nodes.rename({"rank": rank, "node": node})
    joined = frame.with_columns(subject=subject).join(its_nodes, on=[*_START, rank], how="left")
    return joined.drop("subject")


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
    rows = [
        (name, line, value)
        for name, run in runs_by_name.items()
        for line, value in flat(run.environment)
    ]
    return pl.LazyFrame(rows, schema=["run", "name", "value"], orient="row")
