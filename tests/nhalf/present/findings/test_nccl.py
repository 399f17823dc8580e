"""What NCCL takes is named from the size on at which it begins, and beside each point."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.nccl import NcclChoice, choices
from nhalf.present.findings.node import NcclBeside, NcclTakes
from nhalf.present.panels.node import GpuCosts
from nhalf.present.terminal.summary import show_points

Make = Callable[..., pl.LazyFrame]
TITLES = {"mpich+nccl": "NCCL 2.30.7", "nccl": "NCCL 2.30.7"}
TAKEN = {
    8: {"nccl_tree_ll_channels": 2.0},
    1024: {"nccl_tree_ll_channels": 4.0},
    65536: {"nccl_ring_ll128_channels": 24.0, "gpu_clock_before_hz": 1.9e9},
    1 << 20: {},
}


def points(make: Make, taken: Mapping[int, Mapping[str, float]]) -> Facts:
    frames = [
        make(
            patterns=("allreduce",), sizes=(size,), ranks=8, transport="nccl", algorithm="native",
            values=[{"name": name, "value": value} for name, value in values.items()],
        )
        for size, values in taken.items()
    ]  # fmt: skip
    return Facts(pl.concat(frames), TITLES, {"run": {}})


def test_a_finding_names_the_sizes_at_which_nccl_changes(make_measurements: Make) -> None:
    (finding,) = NcclTakes().find(points(make_measurements, TAKEN))
    assert finding.text.endswith(
        "allreduce on 8 ranks takes TREE/LL and from 64 KiB on RING/LL128, as NCCL says."
    )
    assert (finding.pattern, finding.size_bytes) == ("allreduce", 65536)


def test_launches_that_differ_are_both_named(make_measurements: Make) -> None:
    both = {"nccl_tree_ll_channels": 2.0, "nccl_nvls_tree_simple_channels": 16.0}
    (finding,) = NcclTakes().find(points(make_measurements, {8: both}))
    assert "takes NVLS_TREE/SIMPLE or TREE/LL, as" in finding.text


def test_the_table_of_points_has_a_column(
    make_measurements: Make, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    show_points(points(make_measurements, TAKEN))
    lines = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines[1].startswith("NCCL takes")
    taken = [line.partition("  ")[0].strip() for line in lines[3:]]
    cells = ["TREE/LL, 2 channels", "TREE/LL, 4 channels", "RING/LL128, 24 channels", "not known"]
    assert taken == cells


def test_without_a_word_of_nccl_nothing_is_said(
    make_measurements: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    silent = points(make_measurements, {8: {}, 1024: {"busbw_Bps": 1e9}})
    assert not list(NcclTakes().find(silent))
    show_points(silent)
    assert "NCCL takes" not in capsys.readouterr().out


@pytest.mark.parametrize("name", ["nccl_channels", "nccl_ring_channels", "ring_ll_channels", "x"])
def test_other_values_are_no_choices(name: str) -> None:
    assert choices({"values": [{"name": name, "value": 1.0}]}) == []


def test_a_value_that_is_missing_has_no_channels() -> None:
    point = {"values": [{"name": "nccl_pat_simple_channels", "value": None}]}
    assert choices(point) == [NcclChoice("PAT", "SIMPLE", 0)]
    assert choices({"values": None}) == []


def timed(make: Make, works_s: Mapping[int, float], spread: float = 0.0, **other: object) -> Facts:
    """An allreduce with 12 us of launch and wait beside what the GPU works, in five launches.

    Launch k takes k % longer, and its GPU by a factor of 1 + k spread.
    """
    frames = [
        make(
            patterns=("allreduce",), sizes=(size,), ranks=8, transport="nccl", algorithm="native",
            libraries=("mpich+nccl",), launches=[launch], values=[
                {"name": name, "value": time_s * (1 + launch / 100)}
                for name, time_s in (
                    ("host_returns_s", 4e-6), ("device_done_s", time_s * (1 + spread * launch)),
                    ("host_knows_s", 12e-6 + time_s),
                )
            ],
            **other,
        )
        for size, time_s in works_s.items()
        for launch in range(5)
    ]  # fmt: skip
    return Facts(pl.concat(frames), TITLES, {"run": {}})


WORKS_S = {8: 6e-6, 1024: 6e-6, 8192: 7e-6, 65536: 11e-6, 1 << 20: 13e-6, 1 << 24: 2e-3}


def test_three_times_stand_in_the_panel_with_their_intervals(make_measurements: Make) -> None:
    table = GpuCosts().render(timed(make_measurements, WORKS_S))
    assert table is not None
    assert table.columns == ["what", "host returns", "GPU done", "host knows"]
    sizes = ["8 B", "8 KiB", "64 KiB", "16 MiB"]
    assert [row[0] for row in table.rows] == [
        f"NCCL 2.30.7: allreduce of {size}, 8 ranks" for size in sizes
    ]
    # Hodges and Lehmann's centre of launches that take 0 to 4 % longer is 2 %.
    cells = [[cell.partition(" ±")[0] for cell in row[1:]] for row in table.rows[:2]]
    assert cells == [["4.08 µs", "6.12 µs", "18.4 µs"], ["4.08 µs", "7.14 µs", "19.4 µs"]]
    assert all("±" in cell for row in table.rows for cell in row[1:])


def test_one_launch_has_no_interval_and_nothing_is_found(make_measurements: Make) -> None:
    alone = timed(make_measurements, WORKS_S)
    alone = Facts(alone.measurements.filter(pl.col("launch") == 0), TITLES, {"run": {}})
    table = GpuCosts().render(alone)
    assert table is not None
    assert table.rows[0][1:] == ["4 µs", "6 µs", "18 µs"]
    assert not list(NcclBeside().find(alone))


def test_launch_and_wait_are_named_up_to_the_size_at_which_the_gpu_works_longer(
    make_measurements: Make,
) -> None:
    (finding,) = NcclBeside().find(timed(make_measurements, WORKS_S))
    assert finding.text == (
        "NCCL 2.30.7: allreduce on 8 ranks is mostly launch and wait up to 64 KiB: the host knows "
        "the end of 8 B after 18.4 µs, of which the GPU works 6.12 µs."
    )
    (finding,) = NcclBeside().find(timed(make_measurements, {8: 6e-6, 64: 7e-6}))
    assert "launch and wait at every size: " in finding.text
    assert not list(NcclBeside().find(timed(make_measurements, {8: 13e-6, 64: 1e-6})))
    # 49 % of the time on the GPU is no smaller part for certain where launches differ.
    assert list(NcclBeside().find(timed(make_measurements, {8: 9.5e-6})))
    assert not list(NcclBeside().find(timed(make_measurements, {8: 9.5e-6}, spread=0.05)))


def test_ranks_that_share_a_gpu_are_told_and_not_judged(make_measurements: Make) -> None:
    shared = timed(make_measurements, WORKS_S, advice=["shared-gpu"])
    table = GpuCosts().render(shared)
    assert table is not None
    assert "in time slices: no network" in table.rows[0][0]
    assert not list(NcclBeside().find(shared))


def test_without_the_three_times_there_is_no_panel(make_measurements: Make) -> None:
    assert GpuCosts().render(points(make_measurements, TAKEN)) is None
