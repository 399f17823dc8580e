"""Where the arrays of each level lie, and which of several answers counts."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from nhalf.measure.probe.subject import Processes, Subject
from nhalf.node import bandwidth
from nhalf.node.bandwidth import MEMORY, Spot, Waited, core_counts, level_of, spots, waited
from nhalf.node.plateaus import terraces, undisturbed
from tests.nhalf.node.test_knees import CAPACITIES, curve_of, oldest_evicted

STEPS = undisturbed(curve_of(oldest_evicted))
FLAT = terraces(STEPS)


@pytest.mark.parametrize("cores", [1, 2, 4, 8, 16])
def test_arrays_of_each_level_miss_the_one_before(cores: int) -> None:
    near, second, shared, memory = spots(STEPS, FLAT, cores)
    assert [spot.level for spot in (near, second, shared, memory)] == ["L1", "L2", "L3", MEMORY]
    assert near.size_bytes <= CAPACITIES[0]
    assert CAPACITIES[0] < second.size_bytes <= CAPACITIES[1]
    assert CAPACITIES[1] < shared.size_bytes
    assert cores * shared.size_bytes <= CAPACITIES[2]
    assert memory.size_bytes > 4 * CAPACITIES[2]
    for spot in (near, second, shared, memory):
        assert level_of(FLAT, spot.size_bytes) == spot.level


def test_cores_whose_arrays_do_not_fit_together_are_left_out_of_the_shared_level() -> None:
    assert [spot.level for spot in spots(STEPS, FLAT, 32)] == ["L1", "L2", MEMORY]


def test_without_a_shared_level_there_are_three() -> None:
    few = [step for step in STEPS if step.size_bytes <= 8 << 20]
    assert [spot.level for spot in spots(few, terraces(few), 1)] == ["L1", "L2", MEMORY]
    assert spots([], [], 1) == [Spot(MEMORY, 96 << 20)]
    assert level_of([], 4096) == MEMORY


def test_every_doubling_and_all_cores_are_measured() -> None:
    assert [core_counts(cores) for cores in (1, 2, 3, 8, 12)] == [
        [1], [1, 2], [1, 2, 3], [1, 2, 4, 8], [1, 2, 4, 8, 12],
    ]  # fmt: skip


def schedstat(folder: Path, *tasks: str) -> Path:
    for number, text in enumerate(tasks):
        task = folder / "7" / "task" / str(number)
        task.mkdir(parents=True, exist_ok=True)
        (task / "schedstat").write_text(text)
    return folder


def test_threads_that_waited_are_counted_together(tmp_path: Path) -> None:
    before = waited(7, schedstat(tmp_path, "100 0 1", "100 50 2"))
    assert before == Waited(200, 50)
    after = waited(7, schedstat(tmp_path, "400 0 1", "100 150 2"))
    assert before.share_until(after) == pytest.approx(100 / 400)
    assert before.share_until(before) is None
    assert after.share_until(before) is None
    assert waited(8, tmp_path) == Waited()
    assert waited(7, schedstat(tmp_path, "", "nothing here too")) == Waited()


@pytest.mark.parametrize(
    ("shares", "asked", "kept"),
    [([0.0], 1, 0.0), ([0.5, 0.01], 2, 0.01), ([0.5, 0.3, 0.4, 0.0], 3, 0.3), ([None], 1, None)],
)
def test_the_least_disturbed_of_three_answers_counts(
    shares: list[float | None], asked: int, kept: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = iter(shares)
    ran = iter(range(0, 10**9, 1000))
    waits = [0.0]

    def look(process: int) -> Waited:
        return Waited(next(ran), round(waits[0]))

    class Answering:
        def __init__(self) -> None:
            self.launch: dict[str, Any] = {"placement": [{"pid": 7}]}
            self.lines: list[str] = []

        def send(self, line: str) -> None:
            self.lines.append(line)

        def receive(self, timeout_s: float, kind: str = "", identity: str = "") -> dict[str, Any]:
            share = next(left)
            if share is None:
                return {"nhalf": "error", "message": "no"}
            waits[0] += 1000 * share / (1 - share)
            return {"nhalf": "point", "values": {}}

    monkeypatch.setattr(bandwidth, "waited", look)
    probe = Answering()
    subject = SimpleNamespace(infos={"memory-add": SimpleNamespace(timing="all")})
    point = bandwidth.Point("memory-add", 1, 960, "cores", "")
    answer = bandwidth._least_disturbed(
        cast("Processes", probe), cast("Subject", subject), 3, point
    )
    assert len(probe.lines) == asked
    found = answer.get("values", {}).get("waited_share")
    assert found == (None if kept is None else pytest.approx(kept, abs=1e-3))
