"""Looks at all cores: what is asked, what becomes of the answers, and what others had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import FailedError, MissingError
from nhalf.node.all_cores import AllCores, CoreUsage, Look, stolen, taken_share, ticks_per_s
from nhalf.node.bandwidth import Waited


class Threads:
    """A probe of four cores in two memory domains."""

    def __init__(self, **changed: Any) -> None:
        self._changed = changed
        self.asked: list[dict[str, str]] = []
        self.launch = {
            "placement": [
                {"rank": rank, "pid": 0, "cpu": cpu, "numa": rank // 2}
                for rank, cpu in enumerate((0, 1, 4, 5))
            ]
        }

    def send(self, line: str) -> None:
        self.asked.append(dict(word.split("=", 1) for word in line.split()))

    def receive(self, timeout_s: float, kind: str = "", identity: str = "") -> dict[str, Any]:
        unit_s = {"memory-triad": 1e-7, "memory-copy": 1e-3, "pairs-latency": 1e-8}
        point = self.asked[-1]
        assert point["id"] == identity
        rank_s = [unit_s[point["pattern"]] * (1 + rank) for rank in range(4)]
        return {"nhalf": "point", "verified": True, "rank_s": rank_s, **self._changed}

    def kill(self) -> None: ...

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, *cause: Any) -> None: ...


def test_cores_memory_domains_and_messages_have_a_time() -> None:
    threads = Threads()
    look = AllCores(threads).look()
    assert look.times_s == pytest.approx(
        {
            **{"core 0": 1e-7, "core 1": 2e-7, "core 4": 3e-7, "core 5": 4e-7},
            **{"memory 0": 1.5e-3, "memory 1": 3.5e-3, "messages": 2.5e-8},
        }
    )
    assert look.is_calm
    assert [point["pattern"] for point in threads.asked] == [
        "memory-triad", "memory-copy", "pairs-latency",
    ]  # fmt: skip
    assert threads.asked[2]["axis.pairs"] == "2"


def test_wrong_data_fail_and_what_cannot_be_timed_is_missing() -> None:
    with pytest.raises(FailedError, match="wrong data"):
        AllCores(Threads(verified=False)).look()
    with pytest.raises(MissingError, match="not enough memory"):
        AllCores(Threads(nhalf="error", message="not enough memory")).look()


def test_a_core_was_taken_by_other_programs_or_other_machines() -> None:
    before = CoreUsage(Waited(100, 100), 1.0)
    waited = CoreUsage(Waited(100 + 75, 100 + 25), 1.0)
    assert taken_share(before, waited, 1.0) == pytest.approx(0.25)
    tick_s = 1 / ticks_per_s()
    stolen_too = CoreUsage(Waited(200, 100), 1.0 + 0.5 + tick_s)
    assert taken_share(before, stolen_too, 1.0) == pytest.approx(0.5)
    assert taken_share(before, CoreUsage(Waited(), 1.0 + tick_s), 1.0) == pytest.approx(0.0)


def test_calm_is_up_to_a_small_share() -> None:
    assert Look({}, 0.01).is_calm
    assert not Look({}, 0.05).is_calm


def test_stolen_ticks_are_those_of_each_core(tmp_path: Path) -> None:
    rows = ["cpu  1 2 3 4 5 6 7 99 9 9", "cpu0 1 2 3 4 5 6 7 50 0 0", "cpu1 1 2 3", "intr 5", ""]
    (tmp_path / "stat").write_text("\n".join(rows))
    assert stolen(tmp_path) == {0: 50 / ticks_per_s()}
    assert stolen(tmp_path / "none") == {}
