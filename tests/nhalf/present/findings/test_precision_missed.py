"""What the noise allows is said once; points are named where they are worse than others."""

from __future__ import annotations

import polars as pl

from nhalf.facts.facts import Facts
from nhalf.present.findings.precision import PrecisionMissed
from tests.nhalf.synthetic import build_measurements


def said(facts: Facts) -> list[str]:
    return [finding.text for finding in PrecisionMissed().find(facts)]


def test_a_quiet_machine_is_no_word_worth() -> None:
    assert said(Facts(build_measurements(launch_noise=0.002))) == []


def test_noise_everywhere_is_one_sentence() -> None:
    (text,) = said(Facts(build_measurements(launch_noise=0.1)))
    assert text.startswith("Half-width ±")
    assert "with 5 launches" in text
    assert text.endswith("the target of ±3 % was not reached.")
    (finding,) = PrecisionMissed().find(Facts(build_measurements(launch_noise=0.1)))
    assert f"Half-width {finding.figure} with" in text


def test_a_point_that_is_worse_than_its_neighbours_is_named() -> None:
    given = build_measurements(launch_noise=0.002).collect()
    odd = (pl.col("bytes") == 1024) & (pl.col("launch") > 2)
    worse = pl.col("samples_s").list.eval(1.7 * pl.element())
    slow = given.with_columns(samples_s=pl.when(odd).then(worse).otherwise("samples_s"))
    (text,) = said(Facts(slow.lazy()))
    assert "of 1 KiB is less precise than its neighbours" in text


def test_where_nothing_is_known_no_point_is_told_apart() -> None:
    (text,) = said(Facts(build_measurements(launch_noise=1.5)))
    assert text == (
        "Launches differ too much: with 5 launches, half of the intervals are wider than the "
        "times themselves, too wide to compare libraries."
    )


def test_few_launches_are_not_blamed_on_the_machine() -> None:
    (text,) = said(Facts(build_measurements(launch_noise=1.5).filter(pl.col("launch") < 2)))
    assert text.startswith("Too few launches: with 2 launches")


def test_unusable_points_are_one_line() -> None:
    wild = pl.col("bytes").is_in([1, 256, 65536, 4194304])
    spread = pl.when(wild).then(10.0 ** (pl.col("launch") - 2)).otherwise(1.0)
    measured = build_measurements(noise=0.001, launch_noise=0.001)
    scaled = pl.col("samples_s").list.first() * spread
    found = list(
        PrecisionMissed().find(
            Facts(measured.with_columns(samples_s=pl.concat_list(scaled)), {}, {"run": {}})
        )
    )
    [unusable] = [finding for finding in found if finding.kind == "precision-missed"]
    assert unusable.text.startswith(
        "4 points are unusable, with intervals wider than the times themselves: mpich, pingpong of "
    )
    assert unusable.text.endswith(" and 1 more.")
    assert "±" not in unusable.text
