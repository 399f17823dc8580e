"""What others take of the cores: what was busy, less what this process and its children took."""

from __future__ import annotations

import os
import resource
import types

import pytest

from nhalf.measure.loop import others
from nhalf.measure.loop.others import OthersWatch, busy_ticks

TEXT = """cpu  99 99 99 99 99 99 99 99 0 0
cpu0 10 1 2 1000 500 3 4 5 7 0
cpu1 20 0 0 1000 0 0 0 0 0 0
cpu10 7 0 0 0 0 0 0 0 0 0
intr 12345
"""


def test_a_core_is_busy_that_neither_idles_nor_waits() -> None:
    assert busy_ticks(TEXT, [0]) == 10 + 1 + 2 + 3 + 4 + 5
    assert busy_ticks(TEXT, [1]) == 20
    assert busy_ticks(TEXT, [0, 1, 10]) == 25 + 20 + 7


@pytest.mark.parametrize(
    "text", ["", "cpu0\n", "cpu0 a b c d e f g h\n", TEXT.replace("cpu1 ", "")]
)
def test_another_form_is_refused(text: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        busy_ticks(text, [0, 1])


def test_own_time_is_not_that_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cores, ten seconds: 16 s busy, of which this process took 1 and its children 9."""
    ticks = os.sysconf("SC_CLK_TCK")
    clock = iter([(0.0, 0, (0.0, 0.0)), (10.0, 16 * ticks, (1.0, 9.0))])
    own: list[float] = []

    def read_text() -> str:
        now_s, busy, usages = next(clock)
        own[:] = usages
        monkeypatch.setattr(others.time, "monotonic", lambda: now_s)
        return f"cpu0 {busy} 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\n"

    monkeypatch.setattr(others, "STAT", types.SimpleNamespace(read_text=read_text))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(
        resource,
        "getrusage",
        lambda who: types.SimpleNamespace(ru_utime=own[who != resource.RUSAGE_SELF], ru_stime=0.0),
    )
    watch = OthersWatch()
    assert watch.cores() == pytest.approx(0.6)


def test_where_the_system_does_not_tell_it_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(others, "STAT", types.SimpleNamespace(read_text=lambda: ""))
    assert OthersWatch().cores() is None
