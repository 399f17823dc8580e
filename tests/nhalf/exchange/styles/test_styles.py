"""Tables in the form of IMB and OSU: the columns that scripts look for, with nhalf's numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.base.plugins import load
from nhalf.exchange.coverage.osu import OSU
from nhalf.exchange.logs.log import read_text
from nhalf.exchange.styles import Style
from nhalf.exchange.titles import identity_of
from nhalf.facts.facts import Facts
from nhalf.present.terminal.tables import transport_of

Measurements = Callable[..., pl.LazyFrame]


def lines(name: str, measurements: pl.LazyFrame, titles: dict[str, str] | None = None) -> list[str]:
    """The tables of a style for these measurements."""
    return (
        load("nhalf.exchange.styles", Style)[name]()
        .text(Facts(measurements, titles or {}))
        .splitlines()
    )


def exact(make: Measurements, **columns: Any) -> pl.LazyFrame:
    """T = 1 us + n / (5 GB/s) without noise: 2 launches of 20 samples of 100 rounds."""
    return make(sizes=(0, 5000), launches=2, noise=0.0, launch_noise=0.0, **columns)


def test_imb_ping_pong(make_measurements: Measurements) -> None:
    text = lines("imb", exact(make_measurements), {"mpich": "MPICH 5 (wheel)"})
    start = text.index("# Benchmarking PingPong ")
    assert "# MPI Library           : MPICH 5 (wheel)" in text
    assert text[start + 1] == "# #processes = 2 "
    assert text[start + 3] == "       #bytes #repetitions      t[usec]   Mbytes/sec"
    assert text[start + 4] == "            0         4000         1.00         0.00"
    assert text[start + 5] == "         5000         4000         2.00      2500.00"


def test_imb_collective_shows_ranks(make_measurements: Measurements) -> None:
    frame = exact(
        make_measurements, patterns=("allreduce",), ranks=3, rank_s=[0.5e-6, 1e-6, 0.9e-6]
    )
    text = lines("imb", frame)
    start = text.index("# Benchmarking Allreduce ")
    assert text[start + 3] == "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]"
    assert text[start + 4] == "            0         4000         0.50         1.00         0.80"


def test_imb_barrier_has_no_size(make_measurements: Measurements) -> None:
    frame = make_measurements(patterns=("barrier",), sizes=(0,), launches=2, noise=0.0)
    text = lines("imb", frame)
    start = text.index("# Benchmarking Barrier ")
    assert text[start + 3] == " #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]"


def test_imb_overlap(make_measurements: Measurements) -> None:
    values = [
        {"name": "pure_s", "value": 2e-6},
        {"name": "work_s", "value": 3e-6},
        {"name": "overlap", "value": 0.25},
    ]
    frame = exact(make_measurements, patterns=("ibcast",), axes="work=1", values=values)
    text = lines("imb", frame)
    start = text.index("# Benchmarking Ibcast ")
    assert text[start + 3].split() == [
        "#bytes", "#repetitions", "t_ovrl[usec]", "t_pure[usec]", "t_CPU[usec]", "overlap[%]"
    ]  # fmt: skip
    assert text[start + 4].split() == ["0", "4000", "1.00", "2.00", "3.00", "25.00"]


def test_osu_latency_and_collective(make_measurements: Measurements) -> None:
    latency = lines("osu", exact(make_measurements))
    start = latency.index("# OSU MPI Latency Test")
    assert latency[start + 1 : start + 4] == [
        "# Size       Avg Latency(us)",
        "0                       1.00",
        "5000                    2.00",
    ]
    frame = exact(make_measurements, patterns=("bcast",), rank_s=[0.5e-6, 1.5e-6])
    bcast = lines("osu", frame)
    start = bcast.index("# OSU MPI Broadcast Latency Test")
    assert bcast[start + 1] == (
        "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations"
    )
    assert bcast[start + 3].split() == ["5000", "1.00", "0.50", "2.00", "4000"]


def test_osu_names_the_memory_of_both_sides(make_measurements: Measurements) -> None:
    text = lines("osu", exact(make_measurements, axes="memory=device-host"))
    start = text.index("# OSU MPI-CUDA Latency Test")
    assert text[start + 1 : start + 4] == [
        "# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)",
        "# Size       Avg Latency(us)",
        "0                       1.00",
    ]
    same = lines("osu", exact(make_measurements, axes="memory=managed"))
    assert "# Send Buffer on MANAGED (M) and Receive Buffer on MANAGED (M)" in same


XCCL = [name for name in OSU.benchmarks() if name.startswith("osu_xccl_")]


@pytest.mark.parametrize("benchmark", XCCL)
def test_osu_tests_of_nccl_have_titles_that_the_import_knows(
    make_measurements: Measurements, benchmark: str
) -> None:
    pattern = OSU.benchmarks()[benchmark]
    text = lines("osu", exact(make_measurements, patterns=(pattern,), transport="nccl"))
    (title,) = [line for line in text if line.startswith("# OSU ")]
    _, identity = identity_of(title.removeprefix("# OSU "))
    assert (identity.transport, identity.pattern, identity.is_known) == ("nccl", pattern, True)
    is_pair = pattern in ("pingpong", "stream", "bibw")
    assert identity.ranks == (2 if is_pair else 0)
    start = text.index(title)
    if is_pair:
        place = "# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)"
        column = "  Avg Latency(us)" if pattern == "pingpong" else " Bandwidth (MB/s)"
        assert text[start + 1 : start + 3] == [place, f"# Size     {column}"]
    else:
        assert text[start + 1].split()[1:4] == ["Size", "Avg", "Latency(us)"]


@pytest.mark.parametrize(
    ("names", "transport"),
    [
        ("osu_xccl_allreduce,osu_xccl_latency", "nccl"),
        ("osu_xccl_allreduce, osu_latency", ""),
        ("OSU_PUT_LATENCY", "rma"),
        ("allreduce", ""),
        ("", ""),
    ],
)
def test_the_transport_of_a_suites_tests(names: str, transport: str) -> None:
    assert transport_of("osu", names) == transport


@pytest.mark.parametrize(
    ("pattern", "memory", "heading"),
    [
        ("rma-put", "device-host", ["# OSU MPI_Put-CUDA Latency Test",
         "# Rank 0 Memory on DEVICE (D) and Rank 1 Memory on HOST (H)"]),
        ("allreduce", "device", ["# OSU MPI-CUDA Allreduce Latency Test"]),
        ("allreduce", "managed", ["# OSU MPI-CUDA MANAGED Allreduce Latency Test"]),
        ("bcast", "host-device", ["# OSU MPI-CUDA Broadcast Latency Test",
         "# Send Buffer on HOST (H) and Receive Buffer on DEVICE (D)"]),
    ],
)  # fmt: skip
def test_osu_titles_of_gpu_memory(
    make_measurements: Measurements, pattern: str, memory: str, heading: list[str]
) -> None:
    transport = "rma" if pattern.startswith("rma") else "mpi"
    frame = exact(
        make_measurements, patterns=(pattern,), axes=f"memory={memory}", transport=transport
    )
    text = lines("osu", frame)
    start = text.index(heading[0])
    assert text[start : start + len(heading)] == heading
    assert text[start + len(heading)].startswith("# Size")
    (point, *_) = read_text("\n".join(text)).points
    assert (point.pattern, dict(point.axes)["memory"]) == (pattern, memory)


@pytest.mark.parametrize(
    ("memory", "word"), [("device", "device"), ("pinned", "host"), ("managed", "shared")]
)
def test_imb_says_the_memory_in_its_own_word(
    make_measurements: Measurements, memory: str, word: str
) -> None:
    both = pl.concat([exact(make_measurements), exact(make_measurements, axes=f"memory={memory}")])
    text = lines("imb", both)
    opening = text.index(f"# Buffers               : -mem_alloc_type {word}")
    assert "# Benchmarking PingPong " in text[:opening]
    assert "# Benchmarking PingPong " in text[opening:]
    assert any(line.endswith("Intel(R) MPI Benchmarks (GPU)") for line in text)
    read = read_text("\n".join(text)).points
    assert [dict(point.axes) for point in read] == [{}, {}, *[{"memory": memory}] * 2]


@pytest.mark.parametrize(
    ("name", "memory"), [("osu", "pinned"), ("osu", "pinned-host"), ("imb", "device-host")]
)
def test_memory_that_a_suite_cannot_name_is_not_taken_for_the_hosts(
    make_measurements: Measurements, name: str, memory: str
) -> None:
    text = lines(name, exact(make_measurements, axes=f"memory={memory}"))
    assert not any("Latency Test" in line or "PingPong" in line for line in text)


def test_osu_pairs_all_at_once_only(make_measurements: Measurements) -> None:
    some = exact(make_measurements, patterns=("pairs-bandwidth",), ranks=8, axes="pairs=2")
    assert not any("Multiple Bandwidth" in line for line in lines("osu", some))
    every = exact(make_measurements, patterns=("pairs-bandwidth",), ranks=8, axes="pairs=4")
    text = lines("osu", every)
    start = text.index("# OSU MPI Multiple Bandwidth / Message Rate Test")
    assert text[start + 1] == "# [ pairs: 4 ] [ window size: 100 ]"
    assert text[start + 2] == "# Size                  MB/s        Messages/s"
    assert text[start + 4].split() == ["5000", "2500.00", "500000.00"]


def test_points_of_other_axes_are_left_out(make_measurements: Measurements) -> None:
    frame = exact(make_measurements, patterns=("bcast",), axes="start=barrier")
    assert not any("Bcast" in line for line in lines("imb", frame))


@pytest.mark.parametrize("name", ["imb", "osu"])
def test_every_library_has_tables_of_its_own(name: str, make_measurements: Measurements) -> None:
    frame = make_measurements(libraries=("mpich", "openmpi"), sizes=(8,))
    text = lines(name, frame)
    assert sum(line.endswith((": mpich", ": openmpi")) for line in text) == 2


def test_names_of_benchmarks() -> None:
    styles = load("nhalf.exchange.styles", Style)
    assert styles["imb"]().pattern("pingpong") == "pingpong"
    assert styles["imb"]().pattern("Reduce_scatter") == "reduce-scatterv"
    assert styles["imb"]().pattern("Ibcast_pure") == "ibcast"
    assert styles["osu"]().pattern("osu_mbw_mr") == "pairs-bandwidth"
    assert styles["osu"]().pattern("osu_ireduce_scatter") == "ireduce-scatterv"
    with pytest.raises(InputError, match="osu_latency"):
        styles["osu"]().pattern("osu_latencies")


def test_a_non_blocking_operation_alone_has_no_overlap_to_show(
    make_measurements: Measurements,
) -> None:
    frame = exact(make_measurements, patterns=("ibcast",))
    text = lines("imb", frame)
    assert "# Benchmarking Ibcast " not in text
    start = text.index("# Benchmarking Ibcast_pure ")
    assert text[start + 3] == "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]"
    assert not any("Broadcast" in line for line in lines("osu", frame))


@pytest.mark.parametrize(
    ("name", "pattern", "axes", "title"),
    [
        ("osu", "bibw", "", "# OSU MPI Bi-Directional Bandwidth Test"),
        ("osu", "pingpong-persistent", "", "# OSU MPI Persistent Latency Test"),
        ("osu", "gatherv", "", "# OSU MPI Gatherv Latency Test"),
        ("osu", "iallgatherv", "work=1", "# OSU MPI Non-blocking Allgatherv Latency Test"),
        ("osu", "reduce-scatterv", "", "# OSU MPI Reduce_scatter Latency Test"),
        ("osu", "bcast-persistent", "work=1", "# OSU MPI Persistent Broadcast Latency Test"),
        ("imb", "bcast-persistent", "work=1", "# Benchmarking Bcast_persistent "),
        ("imb", "bcast-persistent", "", "# Benchmarking Bcast_pure_persistent "),
    ],
)
def test_titles(
    name: str, pattern: str, axes: str, title: str, make_measurements: Measurements
) -> None:
    values = [{"name": part, "value": 1e-6} for part in ("pure_s", "work_s", "overlap")]
    frame = exact(make_measurements, patterns=(pattern,), axes=axes, values=values)
    assert title in lines(name, frame)


def test_osu_quantiles(make_measurements: Measurements) -> None:
    """The columns of `osu_latency -z`; rates are those that this share of the samples reaches."""
    frame = make_measurements(sizes=(0, 5000), samples=100, noise=0.05, patterns=("pingpong",))
    text = load("nhalf.exchange.styles", Style)["osu"]().text(Facts(frame, {}), (0.5, 0.99))
    head = next(line for line in text.splitlines() if line.startswith("# Size"))
    row = next(line for line in text.splitlines() if line.startswith("0 "))
    columns = ["Avg Latency(us)", "P50 Tail Lat(us)", "P99 Tail Lat(us)"]
    assert head.split()[2:] == " ".join(columns).split()
    average, half, most = (float(cell) for cell in row.split()[1:])
    assert abs(half - average) < 0.05 < most - average
    rates = make_measurements(sizes=(5000,), samples=100, noise=0.05, patterns=("stream",))
    text = load("nhalf.exchange.styles", Style)["osu"]().text(Facts(rates, {}), (0.99, 0.9999))
    rate, most_reach, unknown = text.splitlines()[-1].split()[1:]
    assert float(most_reach) < float(rate)
    assert unknown == "-"
    with pytest.raises(InputError, match="no quantiles"):
        load("nhalf.exchange.styles", Style)["imb"]().text(Facts(frame, {}), (0.5,))
