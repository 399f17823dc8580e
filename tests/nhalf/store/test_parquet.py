"""Files whose names look like patterns, addresses or nothing at all are read by their own names."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

from nhalf.store import parquet

NAMES = [
    *("m[1]", "m[!x]", "m*", "m?", "**", "{m1,m2}", "a b", "-d", "~", "~m", "%6d1", "m\n1"),
    *("file:", "s3:", "hf:", "m\\1", "#m", "$HOME", 'm"1', "m'1", os.fsdecode(b"m\xff\xfe")),
]


@pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_name_names_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, relative: bool
) -> None:
    for neighbour in ("m1", "m2", "mx", "m"):
        (tmp_path / neighbour).mkdir()
        parquet.write(pl.DataFrame({"of_another": [1, 2]}), tmp_path / neighbour / "a.parquet")
    monkeypatch.chdir(tmp_path)
    file = (Path() if relative else tmp_path) / name / "a.parquet"
    file.parent.mkdir(exist_ok=True)
    parquet.write(pl.DataFrame({"own": [7]}), file, {"key": "value"})
    assert [*parquet.schema(file)] == ["own"]
    assert parquet.metadata(file)["key"] == "value"
    assert parquet.scan(file).collect().to_dict(as_series=False) == {"own": [7]}


def test_what_is_missing_is_not_sought_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "m1").mkdir()
    parquet.write(pl.DataFrame({"of_another": [1]}), tmp_path / "m1" / "a.parquet")
    with pytest.raises(OSError, match="No such file"):
        parquet.schema(tmp_path / "m[1]" / "a.parquet")
    with pytest.raises((OSError, pl.exceptions.PolarsError)):
        parquet.scan(tmp_path / "m*" / "a.parquet").collect()


def test_many_runs_keep_no_file_open(tmp_path: Path) -> None:
    parquet.write(pl.DataFrame({"own": [7]}), tmp_path / "a.parquet")
    before = len(os.listdir("/proc/self/fd"))
    frames = [parquet.scan(tmp_path / "a.parquet") for _ in range(20)]
    assert len(os.listdir("/proc/self/fd")) == before
    assert pl.concat(frames).collect()["own"].sum() == 140
