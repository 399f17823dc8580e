"""The file of expectations: what it may say, and what is said about what it may not."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nhalf.base.errors import InputError
from nhalf.decide.check.expectations import Expectation, read_expectations

FILE = Path("promise.toml")


def read(text: str, tolerance: float | None = None) -> list[Expectation]:
    content: dict[str, Any] = msgspec.toml.decode(text)
    return read_expectations(FILE, content, tolerance)


def one(text: str) -> Expectation:
    (found,) = read(f"[[expect]]\n{text}")
    return found


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ('metric="time"\nat_most="3us"', 0.0, 3e-6),
        ('metric="time"\nat_most="3us"\nat_least="1us"\ntolerance="10%"', 0.9e-6, 3.3e-6),
        ('metric="bandwidth"\nat_least="8 Gbit/s"\ntolerance=0.05', 0.95e9, math.inf),
        ('metric="n_half"\nat_most="64K"', 0.0, 65536.0),
        ('metric="b_eff"\nat_least="1 GB/s"', 1e9, math.inf),
        ('metric="b_eff.pingpong_latency_s"\nat_most="3us"', 0.0, 3e-6),
        ('metric="b_eff.random_ratio"\nat_least=0.5', 0.5, math.inf),
        ('metric="time"\nat_least="3us"\ntolerance="200%"', 0.0, math.inf),
    ],
)
def test_bounds_are_in_the_unit_of_the_metric(text: str, low: float, high: float) -> None:
    bounds = one(text).bounds
    assert (bounds.low, bounds.high) == pytest.approx((low, high))


def test_what_stands_at_the_top_holds_for_all_that_say_nothing() -> None:
    first, second = read(
        """
        source = "the vendor"
        tolerance = "10%"
        [[expect]]
        metric = "time"
        at_most = "1us"
        [[expect]]
        name = "mine"
        source = "me"
        tolerance = 0.0
        metric = "time"
        at_most = "1us"
        """,
        tolerance=0.5,
    )
    assert (first.source, second.source) == ("the vendor", "me")
    assert first.bounds.high == pytest.approx(1.1e-6)
    assert second.bounds.high == pytest.approx(1e-6)
    assert (first.name, second.name) == ("time", "mine")


def test_the_tolerance_of_the_command_line_is_for_those_without() -> None:
    (found,) = read('[[expect]]\nmetric="time"\nat_most="1us"', tolerance=0.5)
    assert found.bounds.high == pytest.approx(1.5e-6)


def test_a_name_is_made_of_what_is_selected() -> None:
    found = one(
        'metric="time"\nat_most="1us"\nmpi=["mpich*", "openmpi"]\nranks="2:8"\nbytes="0:8K,1M"\n'
        "axes={pairs=[2, 4]}"
    )
    assert found.name == "openmpi, mpich* 2 to 8 ranks 1 MiB, 0 B to 8 KiB pairs=2, 4 time"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("expect = []", "expects nothing"),
        ("expect = 3", "expect: Expected `array`"),
        ("[[expct]]", "expct: unknown key 'expct'; did you mean expect"),
        ('[[expect]]\nmetric="time"\nat_mots="1us"', r"expect\[0\].at_mots: .* mean at_most"),
        ('[[expect]]\nmetric="time"', r"expect\[0\] has no bound; add at_most or at_least"),
        ('[[expect]]\nmetric="tim"\nat_most="1us"', r"expect\[0\].metric: .* did you mean time"),
        ('[[expect]]\nmetric="time"\nat_most=3', r"expect\[0\].at_most: '3' is not a time"),
        ('[[expect]]\nmetric="time"\nat_most=true', r"expect\[0\].at_most: Expected"),
        ('[[expect]]\nmetric="bandwidth"\nat_least="1us"', "at_least: '1us' is not a rate"),
        ('[[expect]]\nmetric="time"\nat_most="1us"\nbytes="8Q"', "bytes: '8Q' is not a size"),
        ('[[expect]]\nmetric="time"\nat_most="1us"\nbytes="8:2"', "ends before it begins"),
        ('[[expect]]\nmetric="time"\nat_most="1us"\nranks="x"', "ranks: 'x' is not a number"),
        ('[[expect]]\nmetric="time"\nat_most="1us"\ntolerance="x"', "tolerance: 'x' is not a sh"),
        ('[[expect]]\nmetric="time"\nat_most="1us"\nat_least="2us"', "nothing can meet both"),
        (
            '[[expect]]\nmetric="b_eff"\nat_least="1 GB/s"\nbytes=8',
            "b_eff cannot be selected by bytes",
        ),
        ('[[expect]]\nmetric="b_eff.random_ratio"\nat_least=-1', "is not a positive number"),
        ('[[expect]]\nat_least="1us"', "missing required field `metric`"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as raised:
        read(text)
    assert str(raised.value).startswith("promise.toml")
