"""Switches are claimed only as far as the two times beside them bear it out."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest

from nhalf.facts.causes import packets_explain
from nhalf.facts.facts import Facts
from nhalf.facts.jumps import jump_between
from nhalf.facts.overview import overview
from nhalf.facts.switches import bends, jumps, switches
from nhalf.machines.machine import PeriodicSteps, Segment
from nhalf.present.findings.protocols import PacketSteps, ProtocolSwitch, RateFalls
from nhalf.store.keys import MEASUREMENT_COLUMNS
from nhalf.store.places import StartedLaunch
from tests.nhalf.synthetic import USUAL

LAUNCHES = 5
Make = Callable[..., pl.LazyFrame]


def curve(
    times_s: Mapping[int, float], noise: float = 0.001, seed: int = 1, **columns: Any
) -> pl.LazyFrame:
    """Launches of a curve with these times by size."""
    random = np.random.default_rng(seed)
    rows = [
        {
            **USUAL, "pattern": "pingpong", "bytes": size, "launch": launch, "position": place,
            "bytes_per_time": size,
            "samples_s": [time_s * float(np.exp(random.normal(0, noise)))] * 3, **columns,
        }
        for launch in range(LAUNCHES)
        for place, (size, time_s) in enumerate(times_s.items())
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=MEASUREMENT_COLUMNS).lazy()


def line(sizes: list[int], t0_s: float = 1e-6, rate_Bps: float = 5e9) -> dict[int, float]:
    return {size: t0_s + size / rate_Bps for size in sizes}


DOUBLINGS = [2**k for k in range(2, 22)]


def test_two_sizes_save_no_more_than_the_time_falls() -> None:
    """A line through 0 B and 1 B has any slope: nothing follows from it for 2 B."""
    times_s = {0: 0.5e-6, 1: 1.48e-6} | line([2, *DOUBLINGS], t0_s=1.26e-6)
    facts = Facts(curve(times_s))
    left = Segment(from_bytes=0, to_bytes=1, t0_s=0.5e-6, r_inf_Bps=1 / 0.98e-6)
    right = Segment(from_bytes=2, to_bytes=2**21, t0_s=1.26e-6, r_inf_Bps=5e9)
    found = jump_between(facts.launches, facts.launches, left, right)
    assert found is not None
    assert not found.costs
    assert found.ratio.median == pytest.approx(1.26 / 1.48, rel=0.01)
    texts = [one.text for one in ProtocolSwitch().find(facts)]
    assert not [text for text in texts if "100 %" in text]


def test_a_switch_costs_no_more_than_the_time_rises() -> None:
    """A line through two sizes that do not lie on it says nothing of the first one."""
    times_s = line(DOUBLINGS) | {2**21: 522e-6, 2**22: 6000e-6}
    launches = Facts(curve(times_s)).launches
    left = Segment(from_bytes=4, to_bytes=2**20, t0_s=1e-6, r_inf_Bps=5e9)
    right = Segment(from_bytes=2**21, to_bytes=2**22, t0_s=0.0, r_inf_Bps=1e9)
    found = jump_between(launches, launches, left, right)
    assert found is not None
    # 211 us before: in proportion 421 us, so that no more than 24 % are the switch's.
    assert found.ratio.median == pytest.approx(522 / 420.4, rel=0.01)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(12))
def test_what_is_claimed_follows_from_what_is_stated(seed: int) -> None:
    """Steps, caches and noise at random: the expected time lies between the possible ones."""
    random = np.random.default_rng(seed)
    sizes = [0, 1, 2, *DOUBLINGS]
    factor = np.exp(
        np.cumsum(random.normal(0, 0.3, len(sizes)) * (random.random(len(sizes)) < 0.3))
    )
    times_s = {size: (1e-6 + size / 5e9) * f for size, f in zip(sizes, factor, strict=True)}
    measured = curve(times_s, noise=0.1, seed=seed)
    for one in switches(Facts(measured)):
        jump = one.jump
        most_s = jump.before_s * (jump.after_bytes / jump.before_bytes if jump.before_bytes else 99)
        assert jump.before_s / 1.3 < jump.expected_s < most_s * 1.3
        assert (jump.after_s > jump.expected_s) == jump.costs


def test_every_pattern_is_looked_at_and_a_place_is_said_once() -> None:
    steps = {"pingpong": 1.4, "stream": 4.0, "exchange": 1.3}
    frames = []
    for pattern, factor in steps.items():
        times_s = {
            size: time_s * (factor if size > 4096 else 1)
            for size, time_s in line(DOUBLINGS).items()
        }
        frames.append(curve(times_s, pattern=pattern))
    facts = Facts(pl.concat(frames))
    [one] = switches(facts)
    assert one.pattern == "stream"
    assert one.jump.ratio.median == pytest.approx(4.0, rel=0.02)
    assert [pattern for pattern, _ in one.also] == ["pingpong", "exchange"]
    [finding] = ProtocolSwitch().find(facts)
    assert finding.text.startswith("mpich: in stream, the step between 4 KiB and 8 KiB costs 4.0x")
    assert "1.82 µs for 4 KiB, 10.6 µs for 8 KiB, where 2.64 µs would follow" in finding.text
    assert finding.pattern == "stream"
    assert finding.text.endswith("Also in pingpong (+40 %), exchange (+30 %).")


CACHED = {"run": {"caches": {"L1_bytes": 48 * 2**10, "L2_bytes": 2 * 2**20}}}


def test_a_change_near_the_end_of_a_cache_is_called_that() -> None:
    times_s = {
        size: time_s * (2 if size >= 2**20 else 1)
        for size, time_s in line([*DOUBLINGS, 2**22]).items()
    }
    [finding] = ProtocolSwitch().find(Facts(curve(times_s), environments=CACHED))
    assert finding.label == "Cache or protocol"
    assert (
        "the change of slope between 512 KiB and 1 MiB (cache or protocol: the L2 cache, 2 MiB, is "
        "near) costs 2.0x the time"
    ) in finding.text
    assert "pingpong-diffbuf" in finding.remedy
    [unknown] = ProtocolSwitch().find(Facts(curve(times_s)))
    assert unknown.label == "Step"


def test_a_jump_at_one_size_is_no_cache() -> None:
    sizes = sorted([*DOUBLINGS, 2**20 + 1, 2**22])
    times_s = {size: time_s * (2 if size > 2**20 else 1) for size, time_s in line(sizes).items()}
    [finding] = ProtocolSwitch().find(Facts(curve(times_s), environments=CACHED))
    assert finding.label == "Eager limit"
    assert "the eager limit at 1 MiB (rendezvous above it) costs 100 % (" in finding.text


PACKETS = range(0, 2000, 8)


def test_what_packets_explain_is_no_switch() -> None:
    times_s = {size: 7e-6 + 2e-6 * max(0, (size - 217) // 232 + 1) for size in PACKETS}
    facts = Facts(curve(times_s, noise=0.01), environments={"run": {}})
    [packets] = PacketSteps().find(facts)
    assert "every 232 B cost" in packets.text
    assert list(ProtocolSwitch().find(facts)) == []
    assert overview(facts)[0].switches == ()


@pytest.mark.parametrize(
    ("before", "after", "excess_s", "explained"),
    [
        (216, 217, 2e-6, True), (216, 217, 2.9e-6, True), (216, 217, 6e-6, False),
        (217, 448, 2e-6, False), (0, 1144, 8e-6, True), (0, 1144, 14e-6, False),
        (0, 216, 1e-9, False),
    ],
)  # fmt: skip
def test_packets_explain_no_more_than_their_steps(
    before: int, after: int, excess_s: float, explained: bool
) -> None:
    steps = PeriodicSteps(
        offset_bytes=217, period_bytes=232, height_s=2e-6, height_ci=(1.9e-6, 2.1e-6)
    )
    assert packets_explain(steps, before, after, excess_s) == explained
    assert not packets_explain(None, before, after, excess_s)


def flagged(measured: pl.LazyFrame, flag_s: Callable[[int], float]) -> pl.LazyFrame:
    """Measurements with the flag of the machine's state beside each point, by its size."""
    flags = [
        [{"name": name, "value": flag_s(size)} for name in ("flag_after_s", "flag_before_s")]
        for size in measured.select("bytes").collect()["bytes"]
    ]
    return measured.with_columns(pl.Series("values", flags, MEASUREMENT_COLUMNS["values"]))


@pytest.mark.parametrize(("slow_s", "expected"), [(265e-9, 0), (61e-9, 1)])
def test_points_in_two_states_make_no_switch(slow_s: float, expected: int) -> None:
    times_s = {size: time_s * (2 if size > 4096 else 1) for size, time_s in line(DOUBLINGS).items()}
    measured = flagged(curve(times_s), lambda size: slow_s if size > 4096 else 61e-9)
    assert len(switches(Facts(measured))) == expected


ONE_HOST = {"site": {"hosts": []}}
LIMIT = {"eager_limits": {"openmpi-5.0.11": {"btl_sm_eager_limit": 4096}}}


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        (LIMIT, "the eager limit at 4 KiB (btl_sm_eager_limit is 4 KiB; rendezvous above it)"),
        ({}, "the eager limit at 4 KiB (rendezvous above it)"),
        (
            {
                "eager_limits": {"openmpi-5.0.11": {"btl_tcp_eager_limit": 4096}},
                **ONE_HOST,
                "variables": {"OMPI_MCA_btl": "tcp,self"},
            },
            "the eager limit at 4 KiB (btl_tcp_eager_limit is 4 KiB; rendezvous above it)",
        ),
        ({"variables": {"I_MPI_EAGER_THRESHOLD": "4096"}}, "at 4 KiB (rendezvous above it)"),
    ],
)
def test_the_eager_limit_is_compared_with_what_the_library_says(
    environment: dict[str, Any], place: str
) -> None:
    sizes = sorted([*DOUBLINGS, 4097])
    times_s = {size: time_s * (1.5 if size > 4096 else 1) for size, time_s in line(sizes).items()}
    measured = curve(times_s, mpi="openmpi-5.0.11")
    [finding] = ProtocolSwitch().find(Facts(measured, environments={"run": environment}))
    assert finding.label == "Eager limit"
    assert place in finding.text


def test_what_the_library_reports_in_the_launch_is_the_limit() -> None:
    sizes = sorted([*DOUBLINGS, 4097])
    times_s = {size: time_s * (1.5 if size > 4096 else 1) for size, time_s in line(sizes).items()}
    library = "openmpi-5.0.11"
    launch = StartedLaunch(library, variables={"btl_sm_eager_limit": "4096"})
    facts = Facts(
        curve(times_s, mpi=library),
        environments={"run": {"eager_limits": {library: {"btl_sm_eager_limit": 65536}}}},
        find_started=lambda: {"run": {(library, 2, "cores"): [launch]}},
    )
    [finding] = ProtocolSwitch().find(facts)
    assert "(btl_sm_eager_limit is 4 KiB by MPI_T; rendezvous above it)" in finding.text


@pytest.mark.parametrize(
    "environment",
    [
        {**LIMIT, "variables": {"OMPI_MCA_btl_sm_eager_limit": "16K"}},
        {"eager_limits": {"openmpi-5.0.11": {"btl_sm_eager_limit": 65536}}},
        {"eager_limits": {"openmpi-5.0.11": {"btl_tcp_eager_limit": 4096}}, **ONE_HOST},
        {**LIMIT, **ONE_HOST, "variables": {"OMPI_MCA_btl": "tcp,self"}},
    ],
)
def test_a_step_at_no_limit_in_use_is_no_eager_limit(environment: dict[str, Any]) -> None:
    sizes = sorted([*DOUBLINGS, 4097])
    times_s = {size: time_s * (1.5 if size > 4096 else 1) for size, time_s in line(sizes).items()}
    measured = curve(times_s, mpi="openmpi-5.0.11")
    [finding] = ProtocolSwitch().find(Facts(measured, environments={"run": environment}))
    assert finding.label == "Step"
    assert "the step at 4 KiB costs" in finding.text


def test_an_empty_message_is_a_case_of_its_own() -> None:
    """The step is between 0 and 1 B; a line through 0, 1 and 2 B would put it after 2 B."""
    sizes = [1, 2, 3, 4, 6, *DOUBLINGS[1:]]
    times_s = {0: 0.77e-6, **line(sizes)}
    facts = Facts(curve(times_s))
    [finding] = ProtocolSwitch().find(facts)
    assert "the step between 0 B and 1 B costs 30 %" in finding.text
    assert overview(facts)[0].switches == ((0, 1),)


FALL = sorted({int(2 ** (power / 4)) for power in range(8, 90)})


def falling(start: int, end: int, factor: float = 2.0) -> dict[int, float]:
    """Times whose rate falls by a factor between two sizes, evenly on a logarithmic scale."""
    shares = {
        size: min(1.0, max(0.0, math.log(size / start) / math.log(end / start))) for size in FALL
    }
    return {size: (1e-6 + size / 1e10) * factor**share for size, share in shares.items()}


def test_a_gradual_fall_is_the_cache_and_said_once_for_all_libraries() -> None:
    environment = {**CACHED["run"], **LIMIT}
    frames = [
        curve(falling(600_000, 1_700_000), mpi="mpich-5.0.2"),
        curve(falling(700_000, 1_600_000), mpi="openmpi-5.0.11"),
    ]
    facts = Facts(pl.concat(frames), environments={"run": environment})
    [finding] = RateFalls().find(facts)
    assert finding.label == "Cache"
    times = facts.summary.select("bytes", "median_s").iter_rows()
    measured_rates = {float(f"{size / time_s / 1e9:.3g}") for size, time_s in times}
    assert "the buffers no longer fit the L2 cache, 2 MiB" in finding.text
    assert "mpich-5.0.2 (" in finding.text
    assert "openmpi-5.0.11 (" in finding.text
    for number in re.findall(r"[\d.]+(?= GB/s)", finding.text):
        assert float(number) in measured_rates
    assert [*ProtocolSwitch().find(facts)] == []
    causes = {change.cause for model in facts.models for change in model.breakpoints}
    assert causes <= {"", "L2 cache"}


def test_a_fall_in_one_step_may_be_the_protocol() -> None:
    facts = Facts(curve(falling(2**20, 2**20 + 1)), environments=CACHED)
    assert [*RateFalls().find(facts)] == []
    assert [finding.label for finding in ProtocolSwitch().find(facts)] == ["Cache or protocol"]


@pytest.mark.parametrize("factor", [1.0, 1.1])
def test_a_rate_that_stays_does_not_fall(factor: float) -> None:
    facts = Facts(curve(falling(600_000, 1_700_000, factor)), environments=CACHED)
    assert [*RateFalls().find(facts)] == []


def test_a_fall_beyond_all_caches_is_not_explained_by_them() -> None:
    for environments in (CACHED, {}):
        facts = Facts(curve(falling(100_000, 250_000)), environments=environments)
        assert [*RateFalls().find(facts)] == []


def test_several_limits_at_one_size_are_all_named() -> None:
    sizes = [*DOUBLINGS, 7845]
    times_s = {size: time_s * (1.5 if size > 7845 else 1) for size, time_s in line(sizes).items()}
    limits = {"CELL_SIZE": 8192, "COPY_THRESHOLD": 8192, "OFI_EAGER_THRESHOLD": 65536}
    environments = {"run": {"eager_limits": {"mpich-5.0.2": limits}}}
    measured = curve(dict(sorted(times_s.items())), mpi="mpich-5.0.2")
    [finding] = ProtocolSwitch().find(Facts(measured, environments=environments))
    assert "(CELL_SIZE is 8 KiB, COPY_THRESHOLD is 8 KiB; rendezvous above it)" in finding.text


def test_a_small_step_and_a_collective_have_no_eager_limit() -> None:
    small, large = sorted([*DOUBLINGS, 33]), sorted([*DOUBLINGS, 4097])
    step = {size: time_s * (1.5 if size > 32 else 1) for size, time_s in line(small).items()}
    [finding] = ProtocolSwitch().find(Facts(curve(step)))
    assert finding.label == "Step"
    step = {size: time_s * (1.5 if size > 4096 else 1) for size, time_s in line(large).items()}
    [finding] = ProtocolSwitch().find(Facts(curve(step, pattern="allreduce")))
    assert finding.label == "Step"


def test_of_a_vague_jump_only_what_is_sure_is_said() -> None:
    times_s = {size: time_s * (8 if size > 4096 else 1) for size, time_s in line(DOUBLINGS).items()}
    wild = curve(times_s, noise=0.5, seed=5)
    for finding in ProtocolSwitch().find(Facts(wild)):
        if finding.high / finding.low > 4:
            assert "costs at least" in finding.text
            assert finding.figure.startswith("≥")


LOWER = Segment(from_bytes=4, to_bytes=1024, t0_s=1e-6, r_inf_Bps=5e9)
UPPER = Segment(from_bytes=2048, to_bytes=2**21, t0_s=1.3e-6, r_inf_Bps=5e9)


def stepped(launches: Sequence[int], by: float = 1.3) -> pl.DataFrame:
    """Launches of a line that jumps after 1 KiB; each is slower than the one before."""
    times_s = {size: time * (by if size > 1024 else 1) for size, time in line(DOUBLINGS).items()}
    rows = [
        (k, size, time * (1 + k / 10) * (1 + (k % 3) / 1000))
        for k in launches
        for size, time in times_s.items()
    ]
    return pl.DataFrame(rows, schema=["launch", "bytes", "median_s"], orient="row")


@pytest.mark.parametrize(("others", "is_seen"), [(2, False), (3, True)])
def test_launches_in_other_states_prove_a_jump_if_there_are_enough(
    others: int, is_seen: bool
) -> None:
    reported = stepped(range(2))
    by_state = pl.concat([reported, stepped(range(5, 5 + others))])
    jump = jump_between(reported, by_state, LOWER, UPPER)
    assert (jump is not None) is is_seen
    assert jump_between(reported, reported, LOWER, UPPER) is None


@pytest.mark.parametrize(("by", "is_evident"), [(1.02, False), (1.05, True)])
def test_a_jump_of_two_percent_is_what_lines_leave_over(by: float, is_evident: bool) -> None:
    launches = stepped(range(5), by)
    upper = msgspec.structs.replace(UPPER, t0_s=by * 1e-6, r_inf_Bps=5e9 / by)
    assert jumps(launches, launches, LOWER, upper) is is_evident


def test_a_segment_of_a_narrow_range_has_no_rate_that_could_bend() -> None:
    wide = Segment(from_bytes=0, to_bytes=64, t0_s=1e-6, r_inf_Bps=5e9, r_inf_ci=(4.9e9, 5.1e9))
    narrow = Segment(from_bytes=70, to_bytes=91, t0_s=1e-6, r_inf_Bps=9e9, r_inf_ci=(8e9, 1e10))
    assert not bends(wide, narrow)
    assert bends(wide, msgspec.structs.replace(narrow, to_bytes=140))
