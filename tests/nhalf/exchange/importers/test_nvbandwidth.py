"""nvbandwidth: which memory, which direction, which GPU, and of which size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.exchange.logs.log import Log, read_text

Read = Callable[..., Log]
MIB = 1 << 20


def test_cells_of_json_are_copies_of_a_gpu(read: Read) -> None:
    log = read("nvbandwidth.json")
    points = [(p.pattern, dict(p.axes), p.size_bytes) for p in log.points]
    into = {"memory": "pinned-device"}
    assert points == [
        ("gpu-copy", into, 512 * MIB),
        ("gpu-copy", {**into, "gpu": "1"}, 512 * MIB),
        ("gpu-copy", {"memory": "device-pinned", "ways": "both", "engine": "kernel"}, 512 * MIB),
        # The arrow is from the column to the row.
        ("gpu-copy", {"memory": "device", "gpu": "1-0"}, 512 * MIB),
        ("gpu-copy", {"memory": "device", "gpu": "0-1"}, 512 * MIB),
        ("gpu-load", {"memory": "pinned"}, 2 * MIB),
        ("gpu-load", {"memory": "pinned", "gpu": "1"}, 2 * MIB),
    ]
    assert log.points[0].samples_s == pytest.approx([512 * MIB / 54.5e9])
    assert log.points[-1].samples_s == pytest.approx([825.25e-9])
    assert {(p.transport, p.ranks, p.mpi) for p in log.points} == {("gpu", 1, "")}
    # A test that was not run is no damage; one that counts all GPUs together is told.
    assert len(log.passed_over) == 1


def test_tables_of_the_screen_have_the_size_of_the_command(read: Read) -> None:
    host, other, local, _ = read("nvbandwidth.txt").points
    assert (host.pattern, dict(host.axes), host.size_bytes) == (
        "gpu-copy", {"memory": "device-pinned"}, 64 * MIB,
    )  # fmt: skip
    assert dict(other.axes) == {"memory": "device-pinned", "gpu": "1"}
    assert dict(local.axes) == {"memory": "device"}
    assert local.samples_s == pytest.approx([64 * MIB / 1423.44e9])


def test_a_size_that_nobody_says_is_asked_for(logs: Path) -> None:
    text = (logs / "nvbandwidth.txt").read_text("utf-8")
    smaller = "NOTE: You have chosen a buffer size that is smaller than the default\n"
    with pytest.raises(InputError, match="how large the copies of nvbandwidth were") as caught:
        read_text(smaller + text.partition("\n")[2], name="log")
    assert "nvbandwidth -b 64" in str(caught.value)
    with pytest.raises(InputError, match="how large"):
        read_text("$ nvbandwidth -b 128\n" + text, name="log")


@pytest.mark.parametrize("cell", ["0.00", "nan", "-3.5", "inf", "", "1e400"])
def test_cells_that_are_no_rates_are_no_points(logs: Path, cell: str) -> None:
    text = (logs / "nvbandwidth.json").read_text("utf-8").replace('"54.5"', f'"{cell}"')
    assert len(read_text(text).points) == 6


def test_json_that_was_cut_keeps_its_whole_tests(logs: Path) -> None:
    text = (logs / "nvbandwidth.json").read_text("utf-8")
    log = read_text(text[: text.index("276.5")])
    assert len(log.points) == 3
    assert len(log.passed_over) == 1
