"""A run directory in every state that it can be found in.

What a further launch takes.
"""

from __future__ import annotations

import errno
import json
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import polars as pl
import pytest

from nhalf.base.errors import InputError, Interrupted, MissingError
from nhalf.store import run as module
from nhalf.store.keys import MEASUREMENT_COLUMNS, VERSION
from nhalf.store.run import Run, launch_interval_s

Event = Callable[..., dict[str, Any]]
DESCRIPTION = {"environment": {"host": "a"}, "plan": {"x": 1}, "titles": {"k": "K"}}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "run", DESCRIPTION)


def record(run: Run, events: Sequence[dict[str, Any]]) -> None:
    with run.journal() as journal:
        for event in events:
            journal.append(event)


def points(run: Run) -> list[tuple[int, int]]:
    frame = run.measurements().select("bytes", "launch").collect()
    return sorted(frame.iter_rows())


class TestMeasuring:
    def end(self, run: Run, error: BaseException) -> None:
        with pytest.raises(type(error)), run.measuring():
            raise error

    @pytest.mark.parametrize("error", [MissingError("no answer"), KeyboardInterrupt()])
    def test_a_run_without_a_point_leaves_nothing(
        self, tmp_path: Path, error: BaseException
    ) -> None:
        run = Run.create(tmp_path / "runs/a/b", DESCRIPTION)
        record(run, [{"event": "launch"}])
        self.end(run, error)
        assert list(tmp_path.iterdir()) == []

    def test_what_was_in_the_folder_before_stays(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").touch()
        self.end(Run.create(tmp_path, DESCRIPTION), MissingError("no answer"))
        assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]

    def test_a_finished_point_is_kept(self, run: Run, point_event: Event) -> None:
        record(run, [point_event()])
        self.end(run, MissingError("no answer"))
        assert run.has_points()

    def test_a_run_that_is_resumed_stays(self, run: Run) -> None:
        self.end(Run.open(run.path), MissingError("no answer"))
        assert (run.path / "run.json").exists()

    def test_a_run_that_goes_on_in_another_job_stays(self, run: Run) -> None:
        self.end(run, Interrupted("the time of the job is nearly up"))
        assert (run.path / "run.json").exists()


class TestOpening:
    def test_what_was_created_is_found(self, run: Run) -> None:
        again = Run.open(run.path)
        assert (again.environment, again.plan, again.titles) == tuple(DESCRIPTION.values())
        assert again.name == "run"
        assert Run.open(run.path / "run.json") == again
        assert json.loads((run.path / "run.json").read_text())["schema"] == VERSION
        assert [one.name for one in run.path.iterdir()] == ["run.json"]

    def test_a_run_is_not_overwritten(self, run: Run) -> None:
        with pytest.raises(InputError, match="holds a run already"):
            Run.create(run.path, DESCRIPTION)

    @pytest.mark.parametrize(
        ("description", "verb"),
        [
            (DESCRIPTION, "run"),
            ({"environment": {"programs": {"npb-mpi": {}}}}, "app"),
            ({"simulation": {"app": "npb"}}, "app"),
            ({"simulation": {"app": ""}}, "run"),
        ],
    )
    def test_a_run_goes_on_by_the_verb_that_began_it(
        self, tmp_path: Path, description: dict[str, Any], verb: str
    ) -> None:
        run = Run.create(tmp_path / "a run", description)
        assert run.resuming == f"nhalf {verb} --resume '{tmp_path}/a run'"

    def test_other_files_in_the_folder_do_not_matter(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").touch()
        assert Run.create(tmp_path, {}).plan == {}

    @pytest.mark.parametrize("name", ["none", "empty", "file"])
    def test_what_is_no_run(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "empty").mkdir()
        (tmp_path / "file").touch()
        with pytest.raises(InputError, match="is not a run directory"):
            Run.open(tmp_path / name)

    @pytest.mark.parametrize(
        ("content", "word"),
        [
            (b"", "damaged"),
            (b"{", "damaged"),
            (b"[]", "damaged"),
            (b"\xff\xfe\0", "damaged"),
            (b'{"schema": 1, "plan": 3}', "damaged"),
            (b'{"schema": 1, "environment": []}', "damaged"),
            (b'{"schema": 1, "titles": {"a": 1}}', "damaged"),
            (b"{}", "has no version"),
            (b'{"schema": 99, "plan": 3}', "version 99; this nhalf reads versions 1 and 2"),
            (b'{"schema": "new"}', "version new"),
        ],
    )
    def test_a_description_that_cannot_be_used(self, run: Run, content: bytes, word: str) -> None:
        (run.path / "run.json").write_bytes(content)
        with pytest.raises(InputError) as caught:
            Run.open(run.path)
        assert word in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_a_folder_that_cannot_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(MissingError, match="cannot be kept"):
            Run.create(tmp_path / "file" / "run", {})

    def test_nothing_is_left_where_the_description_cannot_be_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(path: Path) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(module, "replacing", full)
        with pytest.raises(MissingError, match="No space left on device; choose another folder"):
            Run.create(tmp_path / "run", {})
        assert not (tmp_path / "run").exists()
        (tmp_path / "kept").mkdir()
        with pytest.raises(MissingError):
            Run.create(tmp_path / "kept", {})
        assert (tmp_path / "kept").exists()


class TestMeasurements:
    def test_from_the_journal_and_from_parquet_they_are_the_same(
        self, run: Run, point_event: Event
    ) -> None:
        events = [point_event(bytes=size, launch=k) for k in range(3) for size in (0, 8, 2**40)]
        record(run, [{"event": "launch"}, *events, {"event": "sizes", "bytes": "many"}])
        from_journal = run.measurements().collect()
        assert from_journal.schema == pl.Schema(MEASUREMENT_COLUMNS)
        assert from_journal.height == 9
        assert set(from_journal["run"]) == {"run"}
        run.finish()
        assert (run.path / "measurements.parquet").exists()
        assert run.measurements().collect().equals(from_journal)
        assert sorted(one.name for one in run.path.iterdir()) == [
            "journal.jsonl",
            "measurements.parquet",
            "run.json",
        ]

    def test_a_folder_that_moved_has_its_new_name(self, run: Run, point_event: Event) -> None:
        record(run, [point_event()])
        run.finish()
        moved = Run.open(run.path.rename(run.path.parent / "moved"))
        assert set(moved.measurements().collect()["run"]) == {"moved"}

    def test_a_journal_that_went_on_counts_more_than_parquet(
        self, run: Run, point_event: Event
    ) -> None:
        record(run, [point_event(launch=0)])
        run.finish()
        record(run, [point_event(launch=1)])
        assert points(run) == [(8, 0), (8, 1)]

    @pytest.mark.parametrize("left", [0, 10, None])
    def test_a_journal_that_lost_its_end_counts_less_than_parquet(
        self, run: Run, point_event: Event, left: int | None
    ) -> None:
        record(run, [point_event(launch=0), point_event(launch=1)])
        run.finish()
        journal = run.path / "journal.jsonl"
        if left is None:
            journal.unlink()
        else:
            os.truncate(journal, left)
        assert points(run) == [(8, 0), (8, 1)]

    def test_events_come_without_samples(self, run: Run, point_event: Event) -> None:
        record(run, [point_event(), {"event": "launch", "library": "x"}])
        first, second = run.events()
        assert "samples_s" not in first
        assert second == {"event": "launch", "library": "x"}

    def test_a_table_without_a_row_is_no_finished_point(self, run: Run) -> None:
        columns = {name: kind for name, kind in MEASUREMENT_COLUMNS.items() if name != "run"}
        pl.DataFrame(schema=columns).write_parquet(
            run.path / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)}
        )
        with pytest.raises(InputError, match="no finished point"):
            run.check()

    @pytest.mark.parametrize("content", [None, b"", b'{"event":"launch"}\n', b'{"event":"poi'])
    def test_without_a_finished_point(self, run: Run, content: bytes | None) -> None:
        if content is not None:
            (run.path / "journal.jsonl").write_bytes(content)
        with pytest.raises(InputError, match="no finished point; go on with: nhalf run --resume"):
            run.measurements()

    @pytest.mark.parametrize(
        "columns",
        [
            {"bytes": "8"},
            {"bytes": None},
            {"bytes": 2**70},
            {"ranks": 2**40},
            {"verified": 1},
            {"samples_s": 1.0},
            {"samples_s": ["x"]},
            {"samples_s": None},
            {"advice": "one"},
            {"axes": 3},
            {"rank_s": 1.0},
            {"rank_s": None},
            {"values": {"x": 1.0}},
        ],
    )
    def test_points_of_another_form(
        self, run: Run, point_event: Event, columns: dict[str, Any]
    ) -> None:
        content = [point_event(**columns), point_event()]
        text = "".join(json.dumps(event) + "\n" for event in content)
        (run.path / "journal.jsonl").write_text(text)
        with pytest.raises(InputError) as caught:
            run.measurements()
        assert "journal.jsonl is" in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_a_point_without_a_column(self, run: Run, point_event: Event) -> None:
        event = point_event()
        del event["bytes"]
        record(run, [event, point_event()])
        with pytest.raises(InputError, match=r"damaged at line 1.*bytes"):
            run.measurements()


class TestParquet:
    @pytest.fixture
    def parquet(self, run: Run, point_event: Event) -> Path:
        record(run, [point_event()])
        run.finish()
        return run.path / "measurements.parquet"

    def check(self, run: Run, word: str) -> None:
        with pytest.raises(InputError) as caught:
            run.measurements()
        assert word in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_of_another_version(self, run: Run, parquet: Path) -> None:
        pl.read_parquet(parquet).write_parquet(parquet, metadata={"nhalf.schema": "99"})
        self.check(run, "version 99; this nhalf reads versions 1 and 2")

    def test_of_somebody_else(self, run: Run, parquet: Path) -> None:
        pl.DataFrame({"a": [1]}).write_parquet(parquet)
        self.check(run, "has no version")

    @pytest.mark.parametrize(
        "change", [pl.col("bytes").cast(pl.Float64), pl.col("samples_s").list.first()]
    )
    def test_with_columns_of_another_type(self, run: Run, parquet: Path, change: pl.Expr) -> None:
        frame = pl.read_parquet(parquet).with_columns(change)
        frame.write_parquet(parquet, metadata={"nhalf.schema": str(VERSION)})
        self.check(run, "has no column")

    def test_without_a_column(self, run: Run, parquet: Path) -> None:
        frame = pl.read_parquet(parquet).drop("stop")
        frame.write_parquet(parquet, metadata={"nhalf.schema": str(VERSION)})
        self.check(run, "has no column stop")

    @pytest.mark.parametrize("damage", ["empty", "short", "text", "folder"])
    def test_damaged(self, run: Run, parquet: Path, damage: str) -> None:
        content = parquet.read_bytes()
        if damage == "folder":
            parquet.unlink()
            parquet.mkdir()
        else:
            short = content[: len(content) // 2]
            parquet.write_bytes({"empty": b"", "short": short, "text": b"hello\n" * 99}[damage])
        self.check(run, "damaged")

    def test_is_replaced_whole_or_not_at_all(
        self, run: Run, parquet: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = parquet.read_bytes()

        def full(frame: pl.DataFrame, file: IO[bytes], **_: object) -> None:
            file.write(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
        with pytest.raises(MissingError) as caught:
            run.finish()
        assert "No space left on device; all points are kept" in str(caught.value)
        assert parquet.read_bytes() == before
        assert len(list(run.path.iterdir())) == 3


Make = Callable[..., pl.LazyFrame]


@pytest.mark.parametrize(
    ("starts_s", "interval_s"),
    [
        ([0.0], math.nan),
        ([0.0, 5.0], 5.0),
        ([0.0, 4.0, 10.0, 15.0], 5.0),
        ([0.0, 5.0, 10.0, 90000.0, 90005.0], 5.0),
    ],
)
def test_it_is_the_median_time_between_launches(
    tmp_path: Path, make_measurements: Make, starts_s: list[float], interval_s: float
) -> None:
    run = Run.create(tmp_path / "r", {"environment": {}, "plan": {}, "titles": {}})
    frame = make_measurements(launches=len(starts_s)).collect().drop("run")
    began = pl.col("launch").replace_strict(dict(enumerate(starts_s)), return_dtype=pl.Float64)
    frame.with_columns(started_s=1.7e9 + began).write_parquet(
        run.path / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)}
    )
    assert launch_interval_s(run) == pytest.approx(interval_s, nan_ok=True)
