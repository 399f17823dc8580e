"""Looks at GPUs: what is named slower, wrong or absent, with the driver of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.errors import FailedError, MissingError
from nhalf.decide.check.gate import Decision, Gate
from nhalf.node.all_cores import Look
from nhalf.node.all_gpus import all_gpus
from tests.stand_in_gpu import gpu_stand_in

NAMES = ("kernel launches", "copies to the device", "copies from the device", "device memory")
LAUNCH_S, COPY_S, SIZE_BYTES, RATE_BPS = 4e-6, 3e-6, 64 << 10, 2e10
COPIED_S = COPY_S + SIZE_BYTES / RATE_BPS


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine with the GPU of the tests; the patch plants faults."""
    monkeypatch.setenv("NHALF_CUDA_LIBRARY", str(gpu_stand_in()))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    for name, value in (
        ("LAUNCH_S", LAUNCH_S),
        ("COPY_S", COPY_S),
        ("BYTES_PER_S", RATE_BPS),
    ):
        monkeypatch.setenv(f"NHALF_STAND_IN_{name}", str(value))
    for name in ("COPIED_BYTES", "WITHIN_BYTES"):
        monkeypatch.setattr(f"nhalf.node.all_gpus.{name}", SIZE_BYTES)
    return monkeypatch


def gate_of(baseline_s: list[dict[str, float]]) -> Gate:
    """A gate of the GPUs alone, with time for five looks."""
    times = iter([True] * 5 + [False] * 100)
    with all_gpus() as gpus:
        return Decision(lambda: gpus.beside(Look({})), baseline_s, lambda: next(times), 0.05).made()


@pytest.mark.usefixtures("driver")
def test_launches_and_copies_of_a_gpu_have_a_time() -> None:
    with all_gpus() as gpus:
        times_s = gpus.beside(Look({"core 0": 1.0}, 0.1, 3)).times_s
    expected_s = dict(zip(NAMES, (LAUNCH_S, *[COPIED_S] * 3), strict=True))
    assert times_s == pytest.approx(
        {"core 0": 1.0, **{f"GPU 0: {name}": time_s for name, time_s in expected_s.items()}}
    )


def test_every_gpu_is_named_as_the_system_does(driver: pytest.MonkeyPatch) -> None:
    driver.setenv("NHALF_STAND_IN_DEVICES", "2")
    for chosen, numbers in (("", "01"), ("3,5", "35"), ("GPU-8f,GPU-2a", "01"), ("7", "7")):
        driver.setenv("CUDA_VISIBLE_DEVICES", chosen)
        driver.setenv("NHALF_STAND_IN_DEVICES", str(len(numbers)))
        with all_gpus() as gpus:
            names = {name.partition(":")[0] for name in gpus.beside(Look({})).times_s}
        assert names == {f"GPU {number}" for number in numbers}


def test_slower_copies_to_the_device_are_a_no_go(driver: pytest.MonkeyPatch) -> None:
    with all_gpus() as gpus:
        times_s = dict(gpus.beside(Look({})).times_s)
    baseline_s = [
        {name: time_s * (1 + 0.002 * (number % 3)) for name, time_s in times_s.items()}
        for number in range(10)
    ]
    assert gate_of(baseline_s).verdict == "go"
    driver.setenv("NHALF_STAND_IN_SLOW_COPIES_IN", "1.2")
    gate = gate_of(baseline_s)
    assert gate.verdict == "no-go"
    assert gate.reason.startswith("GPU 0: copies to the device take 1.20x (")
    assert gate.reason.endswith(" of its baseline")


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        ("wrong-data", FailedError, "GPU 0: gpu-copy had wrong data"),
        ("out-of-memory", MissingError, "GPU 0: .* not enough free memory"),
        ("foreign-context", MissingError, "GPU 0: .* another context"),
    ],
)
def test_a_gpu_that_cannot_be_timed_is_named(
    driver: pytest.MonkeyPatch, fault: str, error: type[Exception], words: str
) -> None:
    driver.setenv("NHALF_STAND_IN_FAULT", fault)
    with all_gpus() as gpus, pytest.raises(error, match=words):
        gpus.beside(Look({}))


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("no-device", "the driver finds no GPU"),
        ("old-driver", "CUDA 11.0 or newer"),
        ("busy", "another context"),
    ],
)
def test_a_driver_without_a_gpu_is_told_and_left_out(
    driver: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fault: str, words: str
) -> None:
    driver.setenv("NHALF_STAND_IN_FAULT", fault)
    with all_gpus() as gpus:
        assert gpus.beside(Look({"core 0": 1.0})).times_s == {"core 0": 1.0}
    told = capsys.readouterr().err
    assert (told.count("\n"), words in told) == (1, True)


def test_without_a_driver_no_process_is_started(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.delenv("NHALF_CUDA_LIBRARY", raising=False)
    monkeypatch.setattr("nhalf.node.all_gpus.DEVICES", (Path("/dev/no-such-gpu"),))
    monkeypatch.setattr("nhalf.node.all_gpus.Probe", never)
    with all_gpus() as gpus:
        assert gpus.beside(Look({})).times_s == {}
    assert capsys.readouterr().err == ""
