"""SQL over runs: three tables, and a clear line for what cannot be answered."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.statistics.query import query, query_gates
from nhalf.store.gates import PAIRS, GateRecord
from nhalf.store.keys import SUMMARY_COLUMNS
from nhalf.store.run import Run
from tests.nhalf.synthetic import write_pair_map_run

Event = Callable[..., dict[str, Any]]


@pytest.fixture
def runs(tmp_path: Path, point_event: Event) -> list[Run]:
    """A finished run of two sizes in three launches, and one that is not finished."""
    made = []
    for name in ("done", "open"):
        run = Run.create(tmp_path / name, {})
        with run.journal() as journal:
            for launch in range(3):
                for size in (8, 64):
                    times = [1e-6 * size, 2e-6 * size, 3e-6 * size]
                    journal.append(point_event(bytes=size, launch=launch, samples_s=times))
        made.append(run)
    made[0].finish()
    return made


def test_points_are_the_summary(runs: list[Run]) -> None:
    answer = query("SELECT * FROM points ORDER BY run, bytes", runs)
    assert answer.columns == list(SUMMARY_COLUMNS)
    assert answer.height == 4
    assert answer["median_s"].to_list() == pytest.approx([16e-6, 128e-6] * 2)
    assert answer["run"].to_list() == ["done", "done", "open", "open"]


def test_launches_are_their_medians(runs: list[Run]) -> None:
    answer = query("select bytes, launch, median_s from launches where run = 'done'", runs)
    assert answer.height == 6
    assert set(answer["median_s"]) == {16e-6, 128e-6}


def test_samples_are_raw_with_their_columns(runs: list[Run]) -> None:
    answer = query("select count(*) as n, max(sample_s) as most from samples group by bytes", runs)
    assert answer["n"].to_list() == [18, 18]
    assert sorted(answer["most"]) == pytest.approx([24e-6, 192e-6])
    assert query("select pattern, mpi, batch from samples limit 1", runs).row(0) == (
        "pingpong",
        "mpich-5.0.2",
        100,
    )


def test_ranks_and_named_values_have_a_row_each(runs: list[Run], point_event: Event) -> None:
    values = [{"name": "overlap", "value": 0.5}, {"name": "skew_s", "value": 2.0}]
    with runs[1].journal() as journal:
        journal.append(point_event(axes="work=1", rank_s=[1.0, 3.0], values=values))
    answer = query("select axes, launch, rank, rank_s from ranks order by rank", runs)
    assert answer.rows() == [("work=1", 0, 0, 1.0), ("work=1", 0, 1, 3.0)]
    answer = query("select bytes, name, value from extras where name = 'overlap'", runs)
    assert answer.rows() == [(8, "overlap", 0.5)]
    assert query("select * from ranks", runs[:1]).is_empty()


def test_tables_can_be_joined(runs: list[Run]) -> None:
    text = """select p.run, p.bytes, max(l.median_s / p.median_s) as ratio
        from points p join launches l on p.bytes = l.bytes and p.run = l.run
        group by p.run, p.bytes"""
    answer = query(text, runs)
    assert answer.height == 4
    assert answer["ratio"].to_list() == pytest.approx([1.0] * 4)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "it is no SELECT"),
        ("select", "parser error"),
        ("hello", "it is no SELECT"),
        ("select * from point", "'point' was not found"),
        ("select nope from points", 'column "nope"'),
        ("select sum(pattern) from points", "sum"),
        ("select * from points; select 1", "one (and only one) statement"),
        ("insert into points values (1)", "it is no SELECT"),
        ("select cast(pattern as int) from points", "conversion"),
    ],
)
def test_anything_else_is_one_clear_line(runs: list[Run], text: str, word: str) -> None:
    with pytest.raises(InputError) as caught:
        query(text, runs)
    assert word in str(caught.value)
    assert "tables are points, launches, samples, ranks, pairs, extras, runs, environment" in str(
        caught.value
    )
    assert "\n" not in str(caught.value)


def test_a_statement_cannot_change_a_run(runs: list[Run]) -> None:
    before = {one: one.read_bytes() for one in runs[0].path.iterdir()}
    for text in ("delete from points", "drop table samples", "truncate table launches"):
        with pytest.raises(InputError, match="it is no SELECT"):
            query(text, runs)
    assert {one: one.read_bytes() for one in runs[0].path.iterdir()} == before


def gates(name: str, node: str, *times_s: float) -> list[GateRecord]:
    """A gate a month."""
    return [
        GateRecord(
            node=node,
            at=datetime(2026, month, 1, tzinfo=UTC),
            verdict="go",
            times_s={name: time_s, "messages": 1.0},
        )
        for month, time_s in enumerate(times_s, 1)
    ]


def test_which_pairs_of_nodes_became_slower_since_spring() -> None:
    records = [
        *gates("transfer n1 n2", f"{PAIRS}n1", 1.0, 1.0, 1.5, 1.5),
        *gates("transfer n1 n3", f"{PAIRS}n2", 2.0, 2.0, 2.0, 2.0),
        *gates("core 0", "n1", 1.0, 1.0, 9.0, 9.0),
    ]
    answer = query_gates(
        "select name, median(case when at >= '2026-03-01' then time_s end) / "
        "median(case when at < '2026-03-01' then time_s end) as ratio from gates "
        "where node like 'pairs@%' and name <> 'messages' group by name order by ratio desc",
        records,
    )
    assert answer.rows() == [("transfer n1 n2", 1.5), ("transfer n1 n3", 1.0)]


def test_gates_have_a_table_of_their_own() -> None:
    records = gates("core 0", "n1", 1.0)
    assert query_gates("select * from gates", records).columns == [
        "node", "at", "verdict", "name", "time_s", "quantity", "first_node", "second_node",
    ]  # fmt: skip
    assert query_gates("select name from gates", []).is_empty()
    with pytest.raises(InputError, match="tables are gates"):
        query_gates("select * from points", records)
    with pytest.raises(InputError, match="no SELECT"):
        query_gates("drop table gates", records)


@pytest.fixture
def maps(tmp_path: Path, make_pair_map: Callable[..., pl.LazyFrame]) -> list[Run]:
    """A run of three hosts, of which each time to n3 is twice that to others, there alone."""
    frames = [
        make_pair_map(HOSTS, lambda _, second: 1 + (second == "n3"), pattern=pattern, launches=1)
        for pattern in ("pair-map-bandwidth", "pair-map-together")
    ]
    return [write_pair_map_run(tmp_path / "maps", HOSTS, *frames)]


HOSTS = ["n1", "n2", "n3"]


@pytest.mark.parametrize("pattern", ["pair-map-bandwidth", "pair-map-together"])
def test_pairs_have_both_nodes_and_the_time_of_their_way(maps: list[Run], pattern: str) -> None:
    text = f"select first_node, second_node, time_s from pairs where pattern = '{pattern}'"
    rows = {(first, second): time_s for first, second, time_s in query(text, maps).iter_rows()}
    assert rows == pytest.approx(
        {
            (first, second): 1e-4 * (1 + (second == "n3"))
            for first in HOSTS
            for second in HOSTS
            if first != second
        }
    )


def test_ranks_have_their_node_or_none(maps: list[Run], runs: list[Run]) -> None:
    answer = query("select distinct rank, node from ranks order by rank", maps)
    assert answer.rows() == [(0, "n1"), (1, "n2"), (2, "n3")]
    assert query("select node from ranks", runs)["node"].null_count() == len(
        query("select rank from ranks", runs)
    )
    assert query("select * from pairs", runs).is_empty()


def test_gates_have_the_node_or_both_of_a_pair() -> None:
    when = datetime(2026, 3, 1, tzinfo=UTC)
    gates = [
        GateRecord(node=node, at=when, verdict="go", times_s=times_s)
        for node, times_s in ((f"{PAIRS}n1", {"latency n1 n2": 2.0}), ("n1", {"core 5": 1.0}))
    ]
    text = "select quantity, first_node, second_node, time_s from gates order by time_s"
    assert query_gates(text, gates).rows() == [
        ("core 5", "n1", None, 1.0),
        ("latency", "n1", "n2", 2.0),
    ]
    alone = query_gates("select second_node from gates", gates[1:])
    assert alone.rows() == [(None,)]
