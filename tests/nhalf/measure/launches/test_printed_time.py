"""The time that a program prints, found by a pattern."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.errors import FailedError, InputError
from nhalf.measure.launches.printed_time import counted_s, printed_time
from nhalf.measure.launches.timed import TimedLaunch


def launched(folder: Path, out: bytes, err: bytes = b"") -> TimedLaunch:
    (folder / "stdout").write_bytes(out)
    (folder / "stderr").write_bytes(err)
    return TimedLaunch(3.0, 0, folder)


@pytest.mark.parametrize(
    ("out", "err", "time_s"),
    [
        (b"time = 1.5\n", b"", 1.5),
        (b"time = 1.5\ntime = 2e-3 s\n", b"time = 9\n", 2e-3),
        (b"\xff\n", b"time = 4\n", 4.0),
    ],
)
def test_the_last_one_counts(tmp_path: Path, out: bytes, err: bytes, time_s: float) -> None:
    printed = printed_time("time = ([0-9.e-]+)")
    assert counted_s(launched(tmp_path, out, err), printed) == time_s
    assert counted_s(launched(tmp_path, out, err), None) == 3.0


@pytest.mark.parametrize("out", [b"", b"time: 3\n", b"time = ...\n"])
def test_without_a_number_there_is_none(tmp_path: Path, out: bytes) -> None:
    with pytest.raises(FailedError, match=r"no number in the output matches 'time = \("):
        counted_s(launched(tmp_path, out), printed_time("time = ([0-9.]+)"))


def test_a_group_that_is_left_out_is_no_number(tmp_path: Path) -> None:
    with pytest.raises(FailedError):
        counted_s(launched(tmp_path, b"time\n"), printed_time("time( [0-9]+)?"))


def test_no_pattern_and_bad_ones() -> None:
    assert printed_time("") is None
    with pytest.raises(InputError, match="is no pattern"):
        printed_time("(")
    with pytest.raises(InputError, match="has no group for the number"):
        printed_time("time = 1")
