"""What NCCL takes is named from the size on at which it begins, and beside each point."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.nccl import NcclChoice, choices
from nhalf.present.findings.nccl import NcclTakes
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
