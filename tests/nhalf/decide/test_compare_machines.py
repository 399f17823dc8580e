"""Machines side by side: what is paired, ratios, and where the order changes."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest

from nhalf.base.errors import InputError
from nhalf.decide.compare_machines import as_json, compare_machines, faster, shown_sizes
from nhalf.machines import catalogue
from nhalf.machines.machine import FittedModel, LogGP, Machine, PatternModel, Segment
from nhalf.machines.timings import BETWEEN, WITHIN, libraries, timings, where_of
from nhalf.present.machines_words import labels, rows_of, sentences, titles


def message(t0_s: float, rate_Bps: float, **further: Any) -> FittedModel:
    """A ping-pong of one line."""
    segment = Segment(from_bytes=0, to_bytes=2**20, t0_s=t0_s, r_inf_Bps=rate_Bps)
    given: dict[str, Any] = {"transport": "mpi", "pattern": "pingpong", "ranks": 2, **further}
    return FittedModel(segments=(segment,), **given)


def machine(name: str, *models: FittedModel | PatternModel, **further: Any) -> Machine:
    return Machine(
        name=name,
        models=tuple(model for model in models if isinstance(model, FittedModel)),
        patterns=tuple(model for model in models if isinstance(model, PatternModel)),
        **further,
    )


def test_the_size_at_which_the_order_changes_is_exact() -> None:
    # 10 µs + n/100 MB/s against 2 µs + n/50 MB/s: equal at 800 B, worth a word 2 % beyond.
    one = compare_machines(machine("a", message(1e-5, 1e8)), machine("b", message(2e-6, 5e7)))
    (pattern,) = one.patterns
    (curve,) = pattern.curves
    (crossing,) = curve.crossings
    assert crossing.faster == "A"
    n = crossing.at
    assert (
        (2e-6 + n / 5e7) / (1e-5 + n / 1e8)
        >= 1.02
        > (2e-6 + (n - 1) / 5e7) / (1e-5 + (n - 1) / 1e8)
    )
    assert curve.places[0].ratio == pytest.approx(0.2)
    (words,) = sentences(one)
    assert words.startswith(
        f"pingpong of 2 ranks: b is 5 times faster for short messages; from {n} B on a is faster, "
        "up to 2 times"
    )


def test_ranks_may_change_the_order() -> None:
    a = PatternModel(pattern="barrier", startup_s={"p": 1e-6}, to_ranks=64)
    b = PatternModel(pattern="barrier", startup_s={"log2(p)": 5e-6}, to_ranks=64)
    one = compare_machines(machine("a", a), machine("b", b))
    (pattern,) = one.patterns
    assert not pattern.sized
    (found,) = pattern.by_ranks
    (crossing,) = found.crossings
    assert crossing.faster == "B"
    p = crossing.at
    assert p / (5 * math.log2(p)) >= 1.02 > (p - 1) / (5 * math.log2(p - 1))
    assert sentences(one)[-1] == f"barrier: a is faster on few ranks, b from {p} on."


def test_equal_machines_are_as_fast() -> None:
    one = machine("a", message(1e-5, 1e8))
    found = compare_machines(one, one)
    assert sentences(found) == ["pingpong of 2 ranks: both are equally fast."]
    assert labels(found) == {"A": "A", "B": "B"}
    assert all(row[-1] == "neither" for row in rows_of(found))


def test_one_order_is_told_in_one_sentence() -> None:
    slow = machine("slow", message(4e-5, 2.5e7))
    assert sentences(compare_machines(machine("a", message(1e-5, 1e8)), slow)) == [
        "pingpong of 2 ranks: a is 4 times faster at all sizes."
    ]


def test_nothing_in_common_is_an_error() -> None:
    barrier = PatternModel(pattern="barrier", startup_s={"p": 1e-6})
    with pytest.raises(InputError, match="no model of a common pattern"):
        compare_machines(machine("a", message(1e-5, 1e8)), machine("b", barrier))
    with pytest.raises(InputError, match="b has no models"):
        compare_machines(machine("a", message(1e-5, 1e8)), machine("b"))
    few = PatternModel(pattern="barrier", startup_s={"p": 1e-6}, to_ranks=4)
    many = PatternModel(pattern="barrier", startup_s={"p": 1e-6}, from_ranks=8)
    with pytest.raises(InputError, match="no model of a common pattern"):
        compare_machines(machine("a", few), machine("b", many))


def test_times_of_nothing_are_left_out() -> None:
    free = machine("free", message(0.0, math.inf))
    with pytest.raises(InputError, match="no model of a common"):
        compare_machines(machine("a", message(1e-5, 1e8)), free)


def test_several_libraries_have_to_be_named() -> None:
    both = machine("m", message(1e-5, 1e8, mpi="x"), message(2e-5, 1e8, mpi="y"))
    assert libraries(both) == ["x", "y"]
    with pytest.raises(InputError, match="several libraries; name one"):
        compare_machines(both, both)
    found = compare_machines(both, both, ("x", "y"))
    assert found.patterns[0].curves[0].places[0].ratio == pytest.approx(2)
    with pytest.raises(InputError, match="unknown library 'z'"):
        timings(both, "z")


def test_places_of_one_kind_are_compared_with_their_like() -> None:
    def two(factor: float) -> tuple[FittedModel, FittedModel]:
        return (
            message(1e-5 * factor, 1e8, placement="same-node"),
            message(4e-5 * factor, 1e8, placement="2x1"),
        )

    found = compare_machines(machine("a", *two(1)), machine("b", *two(3)))
    pairs = {(one.a.where, one.b.where): one.curves[0].places[0].ratio for one in found.patterns}
    assert pairs == {(BETWEEN, BETWEEN): pytest.approx(3), (WITHIN, WITHIN): pytest.approx(3)}


@pytest.mark.parametrize(
    ("placement", "where"),
    [
        ("other-node", BETWEEN),
        ("same-node", WITHIN),
        ("4x2", BETWEEN),
        ("1x8", WITHIN),
        ("any x 2", BETWEEN),
        ("1 x any", WITHIN),
        ("cores", ""),
        ("", ""),
    ],
)
def test_places_by_name_and_layout(placement: str, where: str) -> None:
    assert where_of(placement) == where


def test_sizes_and_ranks_that_are_asked_for_are_shown() -> None:
    found = compare_machines(
        catalogue.machine("sp2-mpl"), catalogue.machine("sp2-pvme"), ranks=(5,), sizes=(0, 777)
    )
    for pattern in found.patterns:
        assert [curve.ranks for curve in pattern.curves] == [5], pattern.a.pattern
        sizes = {place.size_bytes for place in pattern.curves[0].places}
        assert sizes == ({0, 777} if pattern.sized else {0})


def test_the_sp2_with_mpl_and_with_pvme() -> None:
    found = compare_machines(catalogue.machine("sp2-mpl"), catalogue.machine("sp2-pvme"))
    parameters = {one.name: (one.a, one.b) for one in found.parameters}
    assert parameters["t0_s"] == (pytest.approx(47e-6), pytest.approx(104e-6))
    assert parameters["r_inf_Bps"] == (pytest.approx(36.2e6), pytest.approx(17.8e6))
    by_name = {pattern.a.pattern: pattern for pattern in found.patterns}
    # The broadcast is that timed in the same way, not the completion time of the same study.
    assert by_name["bcast"].a.how == by_name["bcast"].b.how == ""
    place = by_name["pingpong"].curves[0].places[0]
    assert place.ratio == pytest.approx(104 / 47)
    assert found.only_a == ("allreduce", "exchange", "many-to-one")
    assert found.only_b == ()


@pytest.mark.parametrize("a", catalogue.names())
def test_every_machine_of_record_goes_with_the_sp2(a: str) -> None:
    found = compare_machines(catalogue.machine(a), catalogue.machine("sp2-mpl"))
    assert sentences(found)
    assert all(len(row) == len(titles(found)) for row in rows_of(found))
    told = msgspec.json.decode(msgspec.json.encode(as_json(found)))
    assert told["patterns"][0]["pattern"] == "pingpong"


def test_parameters_of_loggp_are_there_where_one_knows_them() -> None:
    known = LogGP(transport="mpi", latency_s=3e-6, gap_per_byte_s=1e-9)
    a = machine("a", message(1e-5, 1e8), loggp=(known,))
    found = compare_machines(a, machine("b", message(1e-5, 1e8)))
    names = {one.name: (one.a, one.b) for one in found.parameters}
    assert names["latency_s"] == (3e-6, None)
    assert "gap_s" not in names


def test_small_things() -> None:
    assert [faster(1, 2), faster(2, 1), faster(1, 1.01), faster(0, 1), faster(math.nan, 1)] == [
        *("A", "B", "", "", "")
    ]
    assert shown_sizes([8, 1, 4, 2, 1]) == [1, 4, 8]
    assert shown_sizes([]) == []
