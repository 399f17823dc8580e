"""Performance guidelines: planted violations are found, with their factor; nothing else is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.guidelines import TOLERANCE, guidelines, violations, worst_by_guideline
from nhalf.store.keys import MEASUREMENT_COLUMNS
from nhalf.store.run import Run
from tests.nhalf.cli.model_machine import needs_probes
from tests.nhalf.synthetic import USUAL

Call = Callable[..., Any]
RANKS = 8
SIZES = tuple(2**power for power in range(3, 18))
OF_BLOCKS = ("gather", "scatter", "allgather", "alltoall")
OF_MESSAGES = ("bcast", "reduce", "allreduce", "reduce-scatter")


def consistent_s(pattern: str, size_bytes: int) -> float:
    """Times that violate nothing, by as little as may be: all equal for equal bytes."""
    moved_bytes = size_bytes * RANKS if pattern in OF_BLOCKS else size_bytes
    return 1e-5 + moved_bytes / 1e9


def facts_of(
    slower: Mapping[tuple[str, int], float] | None = None,
    noise: float = 0.0,
    launches: int = 5,
    seed: int = 1,
    patterns: Sequence[str] = (*OF_BLOCKS, *OF_MESSAGES, "barrier"),
    environments: Mapping[str, Mapping[str, Any]] | None = None,
    **columns: Any,
) -> Facts:
    """A run in which some points (pattern, bytes) take longer by a factor."""
    random = np.random.default_rng(seed)
    rows = []
    for launch in range(launches):
        whole = random.normal(0, noise)
        for pattern, size in itertools.product(patterns, SIZES):
            size_bytes = 0 if pattern == "barrier" else size
            if pattern == "barrier" and size != SIZES[0]:
                continue
            factor = (slower or {}).get((pattern, size_bytes), 1.0)
            own = math.exp(whole + random.normal(0, noise))
            time_s = consistent_s(pattern, size_bytes) * factor * own
            point = {"pattern": pattern, "bytes": size_bytes, "launch": launch, "ranks": RANKS,
                     "position": len(rows), "bytes_per_time": size_bytes,
                     "samples_s": [time_s] * 3}  # fmt: skip
            rows.append({**USUAL, **point, **columns})
    frame = pl.DataFrame(rows, schema=MEASUREMENT_COLUMNS).lazy()
    return Facts(frame, environments=dict(environments or {}))


def told(facts: Facts) -> list[tuple[str, int, str, str]]:
    return sorted(
        (verdict.mock_up.operation, verdict.size_bytes, verdict.mock_up.words, verdict.kind)
        for verdict in violations(facts)
    )


def test_a_consistent_library_violates_nothing() -> None:
    facts = facts_of()
    assert len(guidelines(facts)) > 300
    assert violations(facts) == ()


def test_a_planted_violation_is_found_with_its_factor() -> None:
    facts = facts_of({("allreduce", size): 3.0 for size in SIZES})
    assert {entry[:1] + entry[2:] for entry in told(facts)} == {
        ("allreduce", "reduce + bcast", "composition"),
        ("allreduce", "reduce-scatter + allgather", "composition"),
    }
    own = [v for v in violations(facts) if v.mock_up.words == "reduce + bcast"]
    assert {verdict.size_bytes for verdict in own} == set(SIZES)
    for verdict in own:
        assert verdict.factor.median == pytest.approx(1.5, rel=1e-9)
        assert verdict.factor.low == pytest.approx(verdict.factor.high, rel=1e-9)
        assert verdict.sizes_bytes == (verdict.size_bytes,) * 2
    ((worst, number), *_) = [pair for pair in worst_by_guideline(facts) if pair[0] in own]
    assert (worst.kind, number) == ("composition", len(SIZES))


@pytest.mark.parametrize("factor", [1.04, 1.06])
def test_the_tolerance_is_a_ratio(factor: float) -> None:
    facts = facts_of({("gather", 1024): factor})
    expected = [("gather", 1024, "allgather", "composition")] if factor > TOLERANCE else []
    assert told(facts) == expected


def test_a_short_message_may_not_take_longer_than_a_long_one() -> None:
    facts = facts_of({("bcast", 64): 1.5}, patterns=["bcast"])
    assert told(facts) == [("bcast", 64, "bcast", "monotony")]
    (verdict,) = violations(facts)
    assert verdict.sizes_bytes == (128,)
    expected = 1.5 * consistent_s("bcast", 64) / consistent_s("bcast", 128)
    assert verdict.factor.median == pytest.approx(expected, rel=1e-9)


def test_a_message_may_not_take_longer_than_its_pieces() -> None:
    slow = {("bcast", size): 4.0 for size in SIZES if size >= 4096}
    facts = facts_of(slow, patterns=["bcast"])
    assert told(facts) == [("bcast", 4096, "bcast", "pieces")]
    (verdict,) = violations(facts)
    assert (verdict.sizes_bytes, verdict.mock_up.parts[0].calls) == ((2048,), 2)
    expected = 2 * consistent_s("bcast", 4096) / consistent_s("bcast", 2048)
    assert verdict.factor.median == pytest.approx(expected, rel=1e-9)


def test_a_barrier_may_not_take_longer_than_the_smallest_allreduce() -> None:
    facts = facts_of({("barrier", 0): 2.0})
    assert told(facts) == [("barrier", 0, "allreduce", "composition")]
    assert violations(facts)[0].sizes_bytes == (SIZES[0],)


def test_what_was_not_measured_is_not_tested() -> None:
    assert guidelines(facts_of(patterns=["gather"], launches=1)) == ()
    only = facts_of({("scatter", SIZES[-1]): 9.0}, patterns=["scatter", "bcast"])
    composed = [v for v in guidelines(only) if v.kind == "composition"]
    # A broadcast of all blocks of the three largest sizes would be longer than any measured one.
    assert max(verdict.size_bytes for verdict in composed) == SIZES[-1] // RANKS


def test_nothing_and_one_launch_are_no_violation() -> None:
    empty = facts_of().measurements.filter(pl.col("launch") < 0)
    assert guidelines(Facts(empty)) == ()
    assert guidelines(facts_of({("gather", 8): 9.0}, launches=1)) == ()
    of_nothing = facts_of(patterns=["gather", "allgather"]).measurements.with_columns(
        samples_s=pl.lit([0.0])
    )
    assert guidelines(Facts(of_nothing)) == ()


def test_other_algorithms_and_starts_are_no_side_of_it() -> None:
    slow = facts_of({("gather", size): 9.0 for size in SIZES}, algorithm="linear")
    late = facts_of({("gather", size): 9.0 for size in SIZES}, axes="start=barrier")
    both = pl.concat([slow.measurements, late.measurements, facts_of().measurements])
    assert violations(Facts(both)) == ()
    crowded = facts_of({("gather", size): 9.0 for size in SIZES}, advice=["oversubscribed"])
    assert guidelines(crowded) == ()


def test_one_launch_in_virtual_time_decides() -> None:
    facts = facts_of({("gather", 1024): 1.5}, launches=1, advice=["virtual"])
    assert told(facts) == [("gather", 1024, "allgather", "composition")]


@pytest.mark.parametrize("runs", [10, pytest.param(400, marks=pytest.mark.full)])
def test_violations_are_few_where_there_are_none(runs: int) -> None:
    """Equal sides with noise of 5 % per launch and point: at most 5 % of runs have any."""
    alarms = sum(bool(violations(facts_of(noise=0.05, seed=seed))) for seed in range(runs))
    assert alarms <= 0.05 * runs


def test_noise_does_not_hide_a_large_one() -> None:
    facts = facts_of({("gather", size): 2.0 for size in SIZES}, noise=0.05)
    found = [entry for entry in told(facts) if entry[2] == "allgather"]
    assert len(found) == len(SIZES)


@needs_probes
def test_on_the_model_machine_verdicts_are_the_ratios_of_its_times(
    call: Call, tmp_path: Path
) -> None:
    patterns = ("bcast", "reduce", "allreduce", "gather", "allgather", "alltoall")
    words = ("--transport", "model", "--ranks", str(RANKS), "--pattern", ",".join(patterns))
    ended = call(
        "run", *words, "--bytes", "8,64,512,4K", "--launches", "2", "--out", tmp_path / "run"
    )
    assert ended.code == 0, ended.err
    facts = Facts.of([Run(tmp_path / "run")])
    times_s = {(pattern, size): time_s for pattern, size, time_s
               in facts.summary.select("pattern", "bytes", "median_s").iter_rows()}  # fmt: skip
    composed = [verdict for verdict in guidelines(facts) if verdict.kind == "composition"]
    violated = {verdict.mock_up.words for verdict in composed if verdict.is_violated}
    # Its allgather sends to each rank in turn, and its exchange does so at once.
    assert violated == {"alltoall", "gather + bcast"}
    for verdict in composed:
        parts = zip(verdict.mock_up.parts, verdict.sizes_bytes, strict=True)
        whole_s = sum(times_s[part.pattern, size] for part, size in parts)
        ratio = times_s[verdict.mock_up.operation, verdict.size_bytes] / whole_s
        assert verdict.factor.median == pytest.approx(ratio, rel=1e-6)
        assert verdict.is_violated == (ratio > TOLERANCE)
