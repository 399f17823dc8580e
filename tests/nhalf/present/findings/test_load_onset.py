"""From how many pairs at once on a short message takes longer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.present.findings import Finding
from nhalf.present.findings.traffic import LoadOnset
from nhalf.store.run import Run
from tests.nhalf.cli.model_machine import model, needs_probes

Make = Callable[..., pl.LazyFrame]
Call = Callable[..., Any]


def loaded(make: Make, times_s: Mapping[tuple[int, int], float], **more: Any) -> pl.LazyFrame:
    """Ping-pongs of several pairs at once: the time by number of pairs and size."""
    given = {"launches": 3, "ranks": 16, "noise": 0.0, "launch_noise": 0.0, **more}
    return pl.concat(
        make(
            patterns=("pairs-latency",), axes=f"pairs={pairs}", sizes=(size,),
            samples_s=[time_s] * 3, **given,
        )
        for (pairs, size), time_s in times_s.items()
    )  # fmt: skip


def found(frame: pl.LazyFrame) -> list[Finding]:
    return list(LoadOnset().find(Facts(frame)))


RISING = {
    **{(pairs, 16): time_s for pairs, time_s in ((1, 1e-6), (2, 1.02e-6), (4, 1.5e-6), (8, 3e-6))},
    **{(pairs, 32): time_s for pairs, time_s in ((1, 2e-6), (2, 2.2e-6), (4, 3e-6), (8, 4e-6))},
}


def test_the_load_is_the_one_that_was_put_in(make_measurements: Make) -> None:
    (finding,) = found(loaded(make_measurements, RISING))
    assert finding.text == (
        "mpich: with 2 or more pairs at once, messages of 32 B, and from 4 pairs on those of 16 B, "
        "take longer than between a single pair: 32 B with 2 pairs 1.10x the 2 µs of a single pair "
        "(interval 1.1 to 1.1), 2.0x with 8."
    )
    assert (finding.kind, finding.size_bytes, finding.figure) == ("load-onset", 32, "2 pairs")
    assert finding.value == pytest.approx(1.1)


def test_a_load_that_costs_nothing_ends_what_lies_below_it(make_measurements: Make) -> None:
    times_s = {(1, 16): 1e-6, (2, 16): 2e-6, (4, 16): 1e-6, (8, 16): 2e-6}
    (finding,) = found(loaded(make_measurements, times_s))
    assert finding.figure == "8 pairs"


@pytest.mark.parametrize(
    "times_s",
    [
        {(1, 16): 1e-6},
        {(2, 16): 1e-6, (4, 16): 2e-6},
        {(1, 16): 1e-6, (2, 16): 1e-6, (4, 16): 1.03e-6},
        {(1, 16): 1e-6, (2, 16): 3e-6, (4, 16): 0.9e-6},
        {(1, 0): 1e-6, (2, 0): 2e-6, (4, 0): 3e-6},
        {(1, 4096): 1e-6, (2, 4096): 2e-6, (4, 4096): 3e-6},
        {(1, 16): 0.0, (2, 16): 2e-6},
    ],
    ids=str,
)
def test_no_rise_or_nothing_to_compare_is_no_finding(
    times_s: dict[tuple[int, int], float], make_measurements: Make
) -> None:
    assert found(loaded(make_measurements, times_s)) == []


def test_what_the_finding_on_the_most_pairs_says_is_not_repeated(make_measurements: Make) -> None:
    smallest = {(1, 8): 1e-6, (2, 8): 2e-6}
    assert found(loaded(make_measurements, smallest)) == []
    (finding,) = found(loaded(make_measurements, {**smallest, (1, 16): 1e-6, (2, 16): 2e-6}))
    assert finding.text.startswith("mpich: with 2 pairs at once, messages of 16 B take longer")


def test_one_launch_and_shared_cores_say_nothing_about_load(make_measurements: Make) -> None:
    assert found(loaded(make_measurements, RISING, launches=1)) == []
    assert found(loaded(make_measurements, RISING, advice=["oversubscribed"])) == []


@needs_probes
def test_the_model_machine_slows_with_its_fourth_pair(call: Call, tmp_path: Path) -> None:
    """Rank 1 is twice as slow, and of the pairs spread over 8 ranks only four at once use it."""
    (text,) = _of_model(call, tmp_path, "slow=2,slow_from=1")
    assert text == (
        "model: with 4 pairs at once, messages of 16 B and 32 B take longer than between a single "
        "pair: 16 B with 4 pairs 1.50x the 7 µs of a single pair (interval 1.5 to 1.5)."
    )


@needs_probes
def test_noise_is_no_load(call: Call, tmp_path: Path) -> None:
    assert _of_model(call, tmp_path, "noise=0.1,launch_noise=0.1") == []


def _of_model(call: Call, tmp_path: Path, parameters: str) -> list[str]:
    words = ["--pattern", "pairs-latency", "--ranks", "8", "--bytes", "16,32", "--launches", "3"]
    ended = call(*model(tmp_path / "run", *words, "--quiet", parameters=parameters))
    assert ended.code == 0, ended.err
    return [finding.text for finding in LoadOnset().find(Facts.of([Run(tmp_path / "run")]))]
