"""The parameters of the LogP family: what the simulated machine was given must come out.

Its messages take o_s + L + o_r + mG, and lie at least max(g + mG, o_s, o_r) apart. Hence

    RTT(m) = 2 (o_s + L + o_r) + mG             g(0) = max(g, o_s, o_r)
    g(m) = RTT(m) - RTT(0) + g(0) = g(0) + mG    L_PLogP = o_s + L + o_r - g(0)
    L_LogP = L_PLogP + g(1) - o_s - o_r = L + G

The one byte of g(1) is where the G in L_LogP comes from.

What is doubted about the parameters of a library.
"""

from __future__ import annotations

import math
import subprocess
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import polars as pl
import pytest

from nhalf.base.errors import MissingError
from nhalf.base.native_files import executable
from nhalf.results.logp.parameters import logp
from nhalf.results.logp.times import GAP, PATTERNS, RECEIVE, ROUND_TRIP, SEND
from nhalf.statistics.intervals import Interval
from tests.nhalf.results.logp.ideal import (
    GIVEN,
    MACHINES,
    SIZES,
    frame,
    ideal,
    intervals_of,
    truth,
    values,
)


def probe_is_built() -> bool:
    try:
        executable("probe-model")
    except MissingError:
        return False
    return True


needs_probe = pytest.mark.skipif(not probe_is_built(), reason="the model probe was not built")


def measured(
    options: Mapping[str, float], launches: int = 2, sizes: Sequence[int] = SIZES, seed: int = 1
) -> pl.DataFrame:
    """Launch medians of the four patterns on the simulated machine."""
    places = [(k, p, s) for k in range(launches) for p in sorted(PATTERNS) for s in sizes]
    lines, before = [], -1
    for number, (launch, pattern, size) in enumerate(places):
        begin = f" seed={seed * 100 + launch}" if launch != before else ""
        lines.append(f"id={number} pattern={pattern} bytes={size} samples_max=60{begin}")
        before = launch
    done = subprocess.run(
        [
            str(executable("probe-model")),
            "--options",
            ",".join(f"{name}={value!r}" for name, value in options.items()),
        ],
        input="\n".join(lines).encode(),
        capture_output=True,
        check=True,
    )
    records = [msgspec.json.decode(line) for line in done.stdout.splitlines()]
    points = [record for record in records if record["nhalf"] == "point"]
    assert len(points) == len(places)
    assert all(point["verified"] for point in points)
    return frame(
        [
            (pattern, size, launch, float(np.median(point["samples_s"])))
            for (launch, pattern, size), point in zip(places, points, strict=True)
        ]
    )


def test_nothing_measured_gives_nothing() -> None:
    found = logp(frame([]))
    assert values(found) == {}
    assert found.launches == 0
    assert found.identifiable is None
    assert found.doubts == ()
    assert "gap of 0 B, roundtrip of 0 B, roundtrip of 1 B" in found.missing


@needs_probe
@pytest.mark.parametrize("name", MACHINES)
def test_what_was_put_in_comes_out(name: str) -> None:
    given = MACHINES[name]
    found = logp(measured(given))
    expected = truth(given)
    assert values(found).keys() == expected.keys()
    for parameter, value in values(found).items():
        assert value == pytest.approx(expected[parameter], rel=1e-9, abs=1e-18), parameter
    assert found.missing == ""
    assert found.identifiable
    for size in found.sizes:
        gap_s = expected["saturation_gap_s"] + size.size_bytes * given["G"]
        assert size.gap_s is not None
        assert size.gap_s.median == pytest.approx(gap_s, rel=1e-9)
        assert size.send_overhead_s is not None
        assert size.send_overhead_s.median == pytest.approx(given["o_s"], rel=1e-9)
        assert size.recv_overhead_s is not None
        assert size.recv_overhead_s.median == pytest.approx(given["o_r"], rel=1e-9)
        # A stream hides the overheads behind the bytes, which round trips cannot show.
        stream_s = max(given["g"] + size.size_bytes * given["G"], given["o_s"], given["o_r"])
        assert size.stream_gap_s is not None
        assert size.stream_gap_s.median == pytest.approx(stream_s, rel=1e-9)


@needs_probe
def test_a_rendezvous_is_in_the_gap_and_not_in_the_other_parameters() -> None:
    protocol = {"eager_bytes": 2048.0, "rendezvous_s": 3e-6, "rendezvous_G": 2e-9}
    found = logp(measured({**GIVEN, **protocol}))
    expected = truth({**GIVEN, "G": 2e-9})
    expected["latency_s"] = GIVEN["L"] + GIVEN["G"]
    expected["gap_s"] = GIVEN["g"] + GIVEN["G"]
    expected["gap_per_byte_published_s"] = 2e-9 + (3e-6 + GIVEN["g"]) / SIZES[-1]
    for parameter, value in values(found).items():
        assert value == pytest.approx(expected[parameter], rel=1e-9), parameter
    for size in found.sizes:
        late_s = 3e-6 + 2e-9 * size.size_bytes if size.size_bytes > 2048 else None
        gap_s = late_s if late_s is not None else GIVEN["G"] * size.size_bytes
        assert size.gap_s is not None
        assert size.gap_s.median == pytest.approx(GIVEN["g"] + gap_s, rel=1e-9)


@needs_probe
def test_without_overheads_and_gap_the_whole_way_is_latency() -> None:
    given = {"o_s": 0.0, "o_r": 0.0, "g": 0.0, "L": 3e-6, "G": 0.0}
    found = logp(measured(given))
    assert values(found)["latency_s"] == pytest.approx(3e-6, rel=1e-9)
    assert found.gap_per_byte_s is None
    assert found.missing.startswith("G needs two large sizes")


@needs_probe
def test_a_network_without_latency_is_said_to_be_one() -> None:
    given = {"o_s": 2e-6, "o_r": 1e-6, "g": 1e-7, "L": 0.0, "G": 0.0}
    found = logp(measured(given))
    assert found.identifiable is False
    assert values(found)["half_round_trip_s"] == pytest.approx(3e-6, rel=1e-9)
    first = found.doubts[0]
    assert first.startswith("L is indistinguishable from 0")
    assert "half a round trip, the sum L + o_s + o_r, instead: 3 µs" in first


@needs_probe
def test_intervals_hold_the_truth_on_a_noisy_machine() -> None:
    noise = {"noise": 0.05, "launch_noise": 0.05}
    expected = truth(GIVEN)
    inside: list[bool] = []
    for seed in range(20):
        found = logp(measured({**GIVEN, **noise}, launches=5, sizes=(0, 1, 4096, 65536), seed=seed))
        for parameter, interval in vars(found).items():
            if isinstance(interval, Interval):
                inside.append(interval.covers(expected[parameter]))
    assert len(inside) == 20 * len(expected)
    assert 0.93 <= np.mean(inside) < 1


def test_formulas_alone_give_the_parameters() -> None:
    found = values(logp(ideal()))
    for parameter, value in truth(GIVEN).items():
        assert found[parameter] == pytest.approx(value, rel=1e-12), parameter


def test_what_slows_a_whole_launch_widens_no_ratio() -> None:
    found = logp(ideal(factors=(1.0, 2.0, 3.0)))
    assert found.busy_share is not None
    assert found.busy_share.half_width < 1e-12
    assert found.latency_s is not None
    assert found.latency_s.low < GIVEN["L"] < found.latency_s.high


def test_one_launch_leaves_open_whether_latency_is_more_than_0() -> None:
    def slow_stream(pattern: str, size: int, time_s: float) -> float:
        return time_s + 1.4e-5 if pattern == GAP else time_s

    found = logp(ideal(factors=(1.0,)))
    assert found.identifiable is None
    assert logp(ideal(factors=(1.0,), change=slow_stream)).doubts == ()
    (warning,) = logp(ideal(change=slow_stream)).doubts
    assert warning.startswith("L of the parameterised model")
    assert values(found)["latency_s"] == pytest.approx(GIVEN["L"] + GIVEN["G"], rel=1e-9)


@pytest.mark.parametrize("pattern", sorted(PATTERNS))
@pytest.mark.parametrize("size", [0, 1])
def test_a_point_that_was_not_measured_is_named(pattern: str, size: int) -> None:
    rows = ideal().filter(~((pl.col("pattern") == pattern) & (pl.col("bytes") == size)))
    found = logp(rows)
    needed = (pattern, size) not in {(SEND, 0), (RECEIVE, 0), (GAP, 1)}
    assert (f"{pattern} of {size} B was not measured" == found.missing) == needed
    assert (found.latency_s is None) == (needed and pattern != GAP)
    assert (found.parameterised_latency_s is None) == (size == 0 and pattern in (GAP, ROUND_TRIP))


def test_points_of_different_launches_do_not_make_parameters() -> None:
    rows = ideal().filter((pl.col("pattern") == ROUND_TRIP) == (pl.col("launch") == 0))
    found = logp(rows)
    assert found.latency_s is None
    assert found.half_round_trip_s is not None
    assert found.missing == "no launch measured all the points that the parameters need"


@pytest.mark.parametrize("sizes", [(0, 1), (0, 1, 8), (0, 1, 65536)])
def test_gap_per_byte_needs_two_sizes_that_cost_more(sizes: tuple[int, ...]) -> None:
    found = logp(ideal(sizes=sizes))
    assert found.gap_per_byte_s is None
    assert found.missing.startswith("G needs two large sizes")
    assert found.latency_s is not None


def test_one_wrong_size_does_not_bend_the_gap_per_byte() -> None:
    def hiccup(pattern: str, size: int, time_s: float) -> float:
        return time_s * 3 if (pattern, size) == (ROUND_TRIP, 16384) else time_s

    sizes = (0, 1, 4096, 8192, 16384, 24576, 32768, 49152, 65536)
    found = values(logp(ideal(sizes=sizes, change=hiccup)))
    assert found["gap_per_byte_s"] == pytest.approx(GIVEN["G"], rel=1e-9)


def test_times_of_zero_do_no_harm() -> None:
    def nothing(pattern: str, size: int, time_s: float) -> float:
        return 0.0

    found = logp(ideal(change=nothing))
    assert all(math.isfinite(value) for value in values(found).values())
    assert found.busy_share is None


def test_every_interval_holds_its_value() -> None:
    found = logp(ideal(factors=(1.0, 1.3, 0.9, 1.1, 1.02)))
    for item in (found, *found.sizes):
        for interval in intervals_of(item):
            assert interval.low <= interval.median <= interval.high


def test_a_point_of_another_state_of_the_machine_is_named() -> None:
    needed = (ROUND_TRIP, 0)
    rows = ideal().filter(~((pl.col("pattern") == ROUND_TRIP) & (pl.col("bytes") == 0)))
    state = "in the state of the machine that most of the run was measured in"
    assert logp(rows, {needed}).missing == f"roundtrip of 0 B was not measured {state}"
    assert logp(rows, {(GAP, 0)}).missing == "roundtrip of 0 B was not measured"


def test_an_overhead_above_the_gap_is_named_and_not_clipped() -> None:
    def slow_receive(pattern: str, size: int, time_s: float) -> float:
        return 9e-6 if pattern == RECEIVE and size <= 8 else time_s

    found = logp(ideal(change=slow_receive))
    assert values(found)["recv_overhead_s"] == 9e-6
    warnings = [warning for warning in found.doubts if warning.startswith("o_r exceeds g")]
    assert len(warnings) == 1
    assert "at 3 sizes from 0 B to 8 B (most at 0 B: 9 µs against 6 µs)" in warnings[0]
    assert not any(warning.startswith("o_s exceeds") for warning in found.doubts)


@pytest.mark.parametrize(
    ("send_s", "latency_s", "why"),
    [
        (6.5e-6, 0.0, "o_s + o_r, is nearly the total time of a message"),
        (8e-6, -1.5e-6, "o_s + o_r, timed separately, exceed the total time"),
    ],
)
def test_latency_of_0_and_below_is_named_and_not_clipped(
    send_s: float, latency_s: float, why: str
) -> None:
    def slow_send(pattern: str, size: int, time_s: float) -> float:
        byte_s = GIVEN["G"] if (pattern, size) == (ROUND_TRIP, 1) else 0.0
        return send_s if pattern == SEND else time_s - byte_s

    found = logp(ideal(change=slow_send))
    assert values(found)["latency_s"] == pytest.approx(latency_s, abs=1e-17)
    assert found.identifiable is False
    assert why in found.doubts[0]


def test_launches_that_differ_are_the_other_reason() -> None:
    rows = ideal(factors=(1.0, 1.0, 1.0)).with_columns(
        median_s=pl.when((pl.col("pattern") == ROUND_TRIP) & (pl.col("launch") == 2))
        .then(pl.col("median_s") * 40)
        .otherwise("median_s")
    )
    found = logp(rows)
    assert found.identifiable is False
    assert "launches differ too much" in found.doubts[0]


@pytest.mark.parametrize(("factor", "words"), [(0.5, "closer together"), (3.0, "farther apart")])
def test_a_stream_that_differs_from_round_trips_is_named(factor: float, words: str) -> None:
    def other_stream(pattern: str, size: int, time_s: float) -> float:
        return time_s * factor if pattern == GAP and size >= 4096 else time_s

    (warning,) = logp(ideal(change=other_stream)).doubts
    assert f"messages arrive {words}" in warning
    assert "at 3 sizes from 4 KiB to 64 KiB" in warning
    assert not logp(ideal()).doubts


def test_overheads_that_the_clock_does_not_see_are_named() -> None:
    def free(pattern: str, size: int, time_s: float) -> float:
        return 0.0 if pattern == SEND and size <= 1 else time_s

    found = logp(ideal(change=free))
    assert "o_s is below what the clock can resolve at 2 sizes" in found.doubts[-1]
    assert values(found)["send_overhead_s"] == 0


def test_an_interval_wider_than_the_way_is_no_proof_of_busy_processors() -> None:
    def slow_send(pattern: str, size: int, time_s: float) -> float:
        return 8e-6 if pattern == SEND else time_s

    found = logp(ideal(factors=(1.0, 1.0, 9.0), change=slow_send))
    assert found.busy_share is not None
    assert found.busy_share.median > 0.8
    assert found.identifiable is False
    assert "launches differ too much" in found.doubts[0]
