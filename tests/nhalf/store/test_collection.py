"""Collections of runs: what cannot be read does not disable the others."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.store.collection import collected
from nhalf.store.keys import VERSION
from nhalf.store.run import Run


@pytest.fixture
def good(tmp_path: Path, make_measurements: Callable[..., pl.LazyFrame]) -> Path:
    """A run that can be read, in a folder of runs."""
    folder = tmp_path / "runs/good"
    Run.create(folder, {})
    frame = make_measurements(sizes=(0, 8), launches=2).collect().drop("run")
    frame.write_parquet(folder / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)})
    return folder


def _without_points(good: Path, bad: Path) -> None:
    Run.create(bad, {})


def _newer(good: Path, bad: Path) -> None:
    shutil.copytree(good, bad)
    (bad / "run.json").write_text('{"schema": 3}')


def _foreign(good: Path, bad: Path) -> None:
    bad.mkdir()
    (bad / "run.json").write_text('["make", "test"]')


def _cut(good: Path, bad: Path) -> None:
    shutil.copytree(good, bad)
    file = bad / "measurements.parquet"
    file.write_bytes(file.read_bytes()[:1000])


def _damaged_within(good: Path, bad: Path) -> None:
    shutil.copytree(good, bad)
    file = bad / "measurements.parquet"
    content = bytearray(file.read_bytes())
    content[4 : len(content) // 4] = bytes(len(content) // 4 - 4)
    file.write_bytes(content)


UNREADABLE = [
    (_without_points, "holds no finished point; go on with: nhalf run --resume"),
    (_newer, "has version 3; this nhalf reads versions 1 and 2"),
    (_foreign, "run.json is damaged"),
    (_cut, "measurements.parquet is damaged; remove it"),
    (_damaged_within, "measurements.parquet is damaged; remove it"),
]


@pytest.mark.parametrize(("make", "reason"), UNREADABLE)
def test_a_run_that_cannot_be_read_is_left_out_of_its_folder(
    good: Path, make: Callable[[Path, Path], None], reason: str
) -> None:
    bad = good.parent / "bad"
    make(good, bad)
    collection = collected([good.parent])
    assert [run.path for run in collection.runs] == [good]
    assert list(collection.unreadable) == [bad]
    assert reason in collection.unreadable[bad]
    assert "\n" not in collection.unreadable[bad]


@pytest.mark.parametrize(("make", "reason"), UNREADABLE)
def test_a_run_that_is_named_itself_has_to_be_readable(
    good: Path, make: Callable[[Path, Path], None], reason: str
) -> None:
    bad = good.parent / "bad"
    make(good, bad)
    with pytest.raises(InputError, match=reason):
        collected([good, bad])


def test_a_folder_that_cannot_be_listed_is_named(
    good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def walk(top: Path, onerror: Callable[[OSError], None]) -> Iterator[Any]:
        yield from os_walk(top)
        onerror(PermissionError(errno.EACCES, "Permission denied", str(top / "private")))

    os_walk = os.walk
    monkeypatch.setattr(os, "walk", walk)
    collection = collected([good.parent])
    private = good.parent / "private"
    assert [run.name for run in collection.runs] == ["good"]
    assert collection.unreadable == {private: f"{private} cannot be listed: Permission denied"}


def test_a_folder_without_a_readable_run_says_why(good: Path) -> None:
    (good / "measurements.parquet").unlink()
    with pytest.raises(InputError, match=r"no run can be read; .*holds no finished point"):
        collected([good.parent])
    shutil.rmtree(good)
    with pytest.raises(InputError, match="holds no run; name run directories"):
        collected([good.parent])


def test_a_run_counts_once_however_often_it_is_named(good: Path) -> None:
    assert [run.path for run in collected([good, good.parent, good]).runs] == [good]
