"""Dense traffic that is fastest below the largest messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.traffic import peaks_below_largest
from nhalf.present.findings import Finding
from nhalf.present.findings.traffic import DensePeak
from nhalf.store.run import Run
from tests.nhalf.cli.model_machine import model, needs_probes

Make = Callable[..., pl.LazyFrame]
Call = Callable[..., Any]
ALTIX = {8: 8e6, 3072: 600e6, 65536: 400e6}
"""Bytes per second of each process by size: a peak at 3 KB, and less beyond."""


def dense(make: Make, rate_Bps_by_size: Mapping[int, float], **more: Any) -> pl.LazyFrame:
    """Two phases, of which the second takes three times as long; their mean is the rate."""
    given = {"patterns": ("dense-alltoall",), "launches": 3, "ranks": 4, "noise": 0.0, **more}
    return pl.concat(
        make(
            sizes=(size,), axes=f"phase={phase}", samples_s=[size / rate_Bps * share] * 3,
            launch_noise=0.0, **given,
        )
        for size, rate_Bps in rate_Bps_by_size.items()
        for phase, share in ((1, 0.5), (2, 1.5))
    )  # fmt: skip


def found(*frames: pl.LazyFrame) -> list[Finding]:
    return list(DensePeak().find(Facts(pl.concat(frames))))


def test_the_peak_is_the_one_that_was_put_in(make_measurements: Make) -> None:
    (finding,) = found(dense(make_measurements, ALTIX))
    assert finding.text == (
        "mpich, 4 ranks: dense-alltoall is fastest with messages of 3 KiB: 600 MB/s per process, "
        "1.50x the 400 MB/s with 64 KiB."
    )
    assert (finding.kind, finding.size_bytes) == ("dense-peak", 3072)
    assert finding.value == pytest.approx(1.5)


def test_further_patterns_are_in_one_finding(make_measurements: Make) -> None:
    pairwise = dense(make_measurements, {8: 9e6, 512: 8e8, 4096: 2e8}, patterns=("dense-pairwise",))
    (finding,) = found(dense(make_measurements, ALTIX), pairwise)
    assert finding.text.endswith(
        "4.0x the 200 MB/s with 4 KiB; likewise dense-alltoall (3 KiB, 1.50x)."
    )


@pytest.mark.parametrize(
    "rates", [{8: 1e6}, {8: 1e6, 64: 2e6}, {8: 1e6, 64: 1e6}, {8: 1.09e6, 64: 1e6}], ids=str
)
def test_a_rate_that_does_not_fall_is_no_finding(
    rates: dict[int, float], make_measurements: Make
) -> None:
    assert found(dense(make_measurements, rates)) == []
    assert found(make_measurements(sizes=(8,))) == []


def test_one_launch_is_enough_only_where_times_are_exact(make_measurements: Make) -> None:
    assert found(dense(make_measurements, ALTIX, launches=1)) == []
    simulated = dense(make_measurements, ALTIX, launches=1, transport="simulated", mpi="")
    (finding,) = found(simulated)
    assert "(" not in finding.text


def test_a_size_that_lacks_a_phase_does_not_count(make_measurements: Make) -> None:
    frame = dense(make_measurements, ALTIX)
    fast_phase_only = (pl.col("bytes") == 3072) & (pl.col("axes") == "phase=2")
    assert found(frame.filter(~fast_phase_only)) == []


def test_shared_cores_say_nothing(make_measurements: Make) -> None:
    assert found(dense(make_measurements, ALTIX, advice=["oversubscribed"])) == []


@pytest.mark.parametrize("seed", range(3))
def test_the_highest_of_many_noisy_rates_is_no_peak(seed: int, make_measurements: Make) -> None:
    frame = make_measurements(
        patterns=("dense-random",), axes="phase=1", launches=4, launch_noise=0.3, seed=seed
    )
    even = pl.col("samples_s").list.eval(pl.element() * 0 + 1e-6) * pl.col("bytes")
    noise = pl.col("samples_s").list.mean() / (1e-6 + pl.col("bytes") / 5e9)
    assert found(frame.with_columns(samples_s=even * noise)) == []


@needs_probes
@pytest.mark.parametrize("pattern", ["dense-alltoall", "dense-pairwise", "dense-cumulative"])
@pytest.mark.sampled(1)
def test_the_model_machine_peaks_where_its_rendezvous_begins(
    pattern: str, call: Call, tmp_path: Path
) -> None:
    parameters = "o_s=1e-6,o_r=1e-6,L=5e-6,g=2e-6,G=1e-9,eager_bytes=4096,rendezvous_G=4e-9"
    words = ["--pattern", pattern, "--ranks", "4", "--bytes", "8,512,4K,1M", "--quiet"]
    ended = call(*model(tmp_path / "run", *words, parameters=parameters))
    assert ended.code == 0, ended.err
    (peak,) = peaks_below_largest(Facts.of([Run(tmp_path / "run")]))
    assert (peak.size_bytes, peak.largest_bytes) == (4096, 2**20)
    assert peak.peak_Bps.median == pytest.approx(4096 / (7e-6 + 4096e-9), rel=1e-3)
    assert peak.largest_Bps.median == pytest.approx(2**20 / (7e-6 + 2**22 * 1e-9), rel=1e-3)


@needs_probes
def test_a_model_machine_without_rendezvous_has_no_peak(call: Call, tmp_path: Path) -> None:
    words = ["--pattern", "dense-alltoall", "--ranks", "4", "--bytes", "4K,1M", "--quiet"]
    assert (
        call(*model(tmp_path / "run", *words, parameters="noise=0.05,launch_noise=0.05")).code == 0
    )
    assert list(peaks_below_largest(Facts.of([Run(tmp_path / "run")]))) == []
