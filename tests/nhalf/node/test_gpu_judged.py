"""Times of a GPU are judged like any others: check, compare and history."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nhalf.measure.plan.plan import Point
from nhalf.node.gpu import COPY, LAUNCH, PLACEMENT
from tests.nhalf.cli.in_process import call_here
from tests.stand_in_gpu import gpu_stand_in

POINTS = [
    *(Point(COPY, 1, size, PLACEMENT, axes) for axes in ("", "memory=device-pinned")
      for size in (8, 4096, 64 << 10)),
    Point(LAUNCH, 1, 0, PLACEMENT),
]  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of the stand-in: `before`, and `after` with slower copies to the device."""
    folder = tmp_path_factory.mktemp("judged")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NHALF_CUDA_LIBRARY", str(gpu_stand_in()))
        patch.setattr("nhalf.node.gpu.plan", lambda _: POINTS)
        for name, slow in (("before", "1"), ("after", "1.2")):
            patch.setenv("NHALF_STAND_IN_SLOW_COPIES_IN", slow)
            ended = call_here("node", "--gpu", "--out", name, "--quiet", folder=folder)
            assert ended.code == 0, ended.err
    return folder


@pytest.mark.parametrize("words", [("check", "after", "--against", "before"),
                                   ("compare", "before", "after")])  # fmt: skip
def test_slower_copies_to_the_device_are_named(runs: Path, words: tuple[str, ...]) -> None:
    ended = call_here(*words, folder=runs)
    assert (ended.code, ended.err) == (1, "")
    slower = [line for line in ended.out.splitlines() if line.endswith(" slower  ")]
    assert len(slower) == 1
    assert slower[0].split()[:2] == ["gpu-copy,", "gpu"]
    assert "+20.0 %" in slower[0]


def test_a_driver_without_a_call_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NHALF_CUDA_LIBRARY", str(gpu_stand_in(without="launch")))
    ended = call_here("node", "--gpu", "--quiet", folder=tmp_path)
    ended.is_error(3, "has no cuLaunchKernel")


def test_history_has_a_curve_for_each_copy_and_like_says_what_measures_it(runs: Path) -> None:
    ended = call_here("history", "before", "after", "--json", folder=runs)
    curves = {(curve["pattern"], curve["axes"]) for curve in json.loads(ended.out)["curves"]}
    assert curves == {(COPY, ""), (COPY, "memory=device-pinned"), (LAUNCH, "")}
    again = call_here("run", "--like", "before", folder=runs)
    again.is_error(2, "before was measured by nhalf node --gpu")
