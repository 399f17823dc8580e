"""The study of global arrays: layers below MPI in records, crossovers, planted accesses."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import msgspec
import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.facts.facts import Facts
from nhalf.studies import catalogue
from nhalf.studies.form import Quantity
from nhalf.studies.judge import FAILS, HOLDS, UNTESTED, ConclusionJudgement, judge
from nhalf.studies.measured import Measured
from nhalf.studies.published.numbers import published
from nhalf.studies.recorded import RecordedMachine
from tests.nhalf.synthetic import build_measurements

NAME = "global-arrays"
SOCKETS: dict[str, Any] = {"pattern": "pingpong", "transport": "tcp"}
SOCKETS_RATE = {**SOCKETS, "bytes": "1M", "figure": "r-inf"}
SHORT: dict[str, Any] = {"pattern": "am-short", "transport": "am"}
LONG: dict[str, Any] = {"pattern": "am-long", "transport": "am"}
CROSSOVER = {**LONG, "figure": "crossover"}
SET_UP = {**LONG, "bytes": 64, "axes": {"copy": "bulk-each"}}
EXACT = {"launches": 3, "noise": 0.0, "launch_noise": 0.0}


def quantity(**members: Any) -> Quantity:
    return msgspec.convert(members, Quantity)


@pytest.mark.parametrize(
    ("machine", "members", "number"),
    [
        ("gige-pair", SOCKETS, 54e-6),
        ("gige-pair", SOCKETS_RATE, 76.5e6),
        ("sci-torus", SOCKETS, 5e-6),
        ("sci-torus", SOCKETS_RATE, 255e6),
        ("sci-torus", SHORT, 3.28e-6),
        ("sci-torus", {"pattern": "pingpong", "transport": "mpi"}, 14.63e-6),
        ("sci-torus", SET_UP, 100e-6),
        ("sci-torus", CROSSOVER, 8192),
    ],
)
def test_layers_below_mpi(machine: str, members: dict[str, Any], number: float) -> None:
    value = published(RecordedMachine(machine), quantity(**members))
    assert value is not None
    assert value.median == pytest.approx(number)
    assert value.origin == "published"


@pytest.mark.parametrize(
    ("machine", "members"),
    [
        ("gige-pair", SHORT),
        ("sci-torus", {**SHORT, "predicted": True}),
        ("sci-torus", {**SHORT, "bytes": 4096}),
        ("sci-torus", {**LONG, "bytes": 64}),
        ("sci-torus", {**SET_UP, "axes": {"copy": "bulk"}}),
        ("sp2-mpl", CROSSOVER),
    ],
)
def test_layers_that_are_not_published(machine: str, members: dict[str, Any]) -> None:
    assert published(RecordedMachine(machine), quantity(**members)) is None


def long_messages(bulk_us: dict[int, float]) -> Measured:
    """Long messages of which programmed stores take 10 µs at every size."""
    times_us = {"stores": dict.fromkeys(bulk_us, 10.0), "bulk": bulk_us}
    frames = [
        build_measurements(
            transport="am", patterns=("am-long",), sizes=(size,), axes=f"copy={copy}",
            samples_s=[us * 1e-6] * 3, **EXACT,
        )
        for copy, by_size in times_us.items()
        for size, us in by_size.items()
    ]  # fmt: skip
    return Measured("run", Facts(pl.concat(frames)))


def test_the_crossover_lies_between_two_sizes() -> None:
    source = long_messages({1024: 20.0, 4096: 12.0, 8192: 8.0, 65536: 5.0})
    value = source.value(quantity(**CROSSOVER))
    assert value.median == pytest.approx(math.sqrt(4096 * 8192))
    assert (value.ci, value.origin) == ((4096.0, 8192.0), "measured")


@pytest.mark.parametrize(
    ("bulk_us", "words"),
    [
        ({1024: 20.0, 65536: 12.0}, "only stores are faster"),
        ({1024: 8.0, 65536: 5.0}, "only bulk copies are faster"),
        ({1024: 10.0, 65536: 10.0}, "neither stores nor bulk copies"),
        ({1024: 5.0, 65536: 20.0}, "neither stores nor bulk copies"),
    ],
)
def test_a_run_without_a_crossover(bulk_us: dict[int, float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        long_messages(bulk_us).value(quantity(**CROSSOVER))


def test_other_patterns_have_no_crossover() -> None:
    with pytest.raises(InputError, match="pingpong has no crossover"):
        long_messages({64: 1.0}).value(quantity(**{**CROSSOVER, "pattern": "pingpong"}))


@cache
def judged(**times_us: float) -> dict[str, ConclusionJudgement]:
    """The conclusions on a run whose pair table takes these times by access."""
    frames = [
        build_measurements(
            transport="threads", patterns=("sdes-dpt",), sizes=(0,), ranks=1,
            axes=f"access={access},of=round", samples_s=[us * 1e-6] * 3, **EXACT,
        )
        for access, us in times_us.items()
    ]  # fmt: skip
    form = catalogue.study(NAME)
    source = Measured("run", Facts(pl.concat(frames)))
    return {
        conclusion.id: judge(conclusion, source, form.machines) for conclusion in form.conclusion
    }


def test_casts_as_fast_as_plain_c_and_slower_shared_pointers_hold() -> None:
    verdicts = judged(ordinary=10.0, cast=10.5, block=12.0, pointer=60.0)
    assert verdicts["cast-as-plain-pairs"].verdict == HOLDS
    assert verdicts["pointer-slower-pairs"].verdict == HOLDS
    assert verdicts["block-faster-pairs"].verdict == HOLDS
    value = verdicts["pointer-slower-pairs"].value
    assert value is not None
    assert value.median == pytest.approx(60 / 10.5)
    assert verdicts["cast-as-plain-distribution"].verdict == UNTESTED
    assert "sdes-ddt was not measured" in verdicts["cast-as-plain-distribution"].reason


def test_the_opposite_does_not_hold() -> None:
    verdicts = judged(ordinary=10.0, cast=13.0, block=12.0, pointer=11.0)
    for name in ("cast-as-plain-pairs", "pointer-slower-pairs", "block-faster-pairs"):
        assert verdicts[name].verdict == FAILS


def test_what_needs_several_ranks_cannot_be_tested_on_one() -> None:
    judgement = judged(ordinary=10.0, cast=10.0)["longer-blocks-cast"]
    assert judgement.verdict == UNTESTED
    assert "block=1" in judgement.reason
    form = catalogue.study(NAME)
    of_one = {c.id for c in form.conclusion if c.ranks_least == 1}
    assert {c.id for c in form.conclusion if c.value.ranks == 1} == of_one
    several = next(c for c in form.conclusion if c.id == "pointer-slower-pairs")
    several = msgspec.structs.replace(several, ranks_least=2)
    frame = build_measurements(
        transport="threads", patterns=("sdes-dpt",), sizes=(0,), ranks=1,
        axes="access=pointer,of=round", **EXACT,
    )  # fmt: skip
    reason = judge(several, Measured("run", Facts(frame)), form.machines).reason
    assert reason == "1 rank is too few: it shows from 2"
