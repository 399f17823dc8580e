"""Predictions: the published formulas of the SP2, the fastest of every cell, crossovers."""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec
import numpy as np
import pytest

from nhalf.base.errors import InputError
from nhalf.decide.predict import predict, predicted
from nhalf.decide.way import Way
from nhalf.decide.ways import known_ways
from nhalf.machines.algorithms import algorithms
from nhalf.machines.catalogue import machine, names
from nhalf.machines.change import change
from nhalf.machines.machine import FittedModel, Machine, Node, PatternModel, Segment
from nhalf.machines.message import Messages
from nhalf.machines.parts import parts_of
from nhalf.machines.shared import Shared

US = 1e-6
PART = 8192
RANKS = [*range(2, 33), 64]
SIZES = [0, 16, 216, 217, 2048, 2049, 8192, 65535, 65536, 1 << 20]


def pingpong_us(n: float) -> float:
    """Abandah 1995, ch. 2: t0 + n/r in µs, rates in bytes per µs."""
    for limit, t0, rate in ((217, 47, 23.5), (2049, 55, 22.6), (65536, 74, 29.3)):
        if n < limit:
            return t0 + n / rate
    return 399 + n / 36.2


def one_to_many_us(n: float, p: float) -> float:
    return (-5.5 + 15.5 * p) + 0.031 * p * n


def stages(p: int) -> int:
    return math.ceil(math.log2(p))


def parts(n: int) -> float:
    return max(1, n / PART)


PUBLISHED: dict[str, Callable[[int, int], float]] = {
    "linear": lambda p, n: one_to_many_us(n, p - 2) + pingpong_us(n),
    "binomial": lambda p, n: stages(p) * pingpong_us(n),
    "binomial-pipelined": lambda p, n: parts(n) * stages(p) * pingpong_us(min(n, PART)),
    "binary": lambda p, n: stages(p) * (one_to_many_us(n, 1) + pingpong_us(n)),
    "binary-pipelined": lambda p, n: (
        (parts(n) - 1) * one_to_many_us(min(n, PART), 2)
        + stages(p) * (one_to_many_us(min(n, PART), 1) + pingpong_us(min(n, PART)))
    ),
    "native": lambda p, n: 23 + 27 * math.log2(p) + math.log2(p) * (pingpong_us(n) - t0_us(n)),
}


def t0_us(n: int) -> float:
    return next(
        t0 for limit, t0 in ((217, 47), (2049, 55), (65536, 74), (math.inf, 399)) if n < limit
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PUBLISHED)
def test_the_broadcasts_of_the_sp2_are_the_published_ones(name: str) -> None:
    """The study counted their costs; it did not follow their messages."""
    messages = Messages(machine("sp2-mpl"))
    ways = known_ways("bcast", messages, algorithms(), True, PART, is_followed=False)
    (way,) = (way for way in ways if way.algorithm == name)
    for p in RANKS:
        for n in SIZES:
            assert way.time_s(p, n) == pytest.approx(PUBLISHED[name](p, n) * US, rel=1e-9), (p, n)


@pytest.mark.parametrize("name", ["linear", "binomial"])
def test_messages_of_the_sp2_that_are_followed_take_what_its_study_counted(name: str) -> None:
    found = predict(f"bcast/{name}", machine("sp2-mpl"), [2, 8, 32], [0, 217, 65536], algorithms())
    for i, p in enumerate(found.ranks):
        for j, n in enumerate(found.size_bytes):
            # One message is T(n), where the study's formula has M(n, 0) below 0.
            published_us = max(PUBLISHED[name](p, n), pingpong_us(n))
            assert found.time_s[0, i, j] == pytest.approx(published_us * US, rel=0.01), (p, n)


def test_the_fastest_of_every_cell_is_told() -> None:
    few, sizes = [2, 32], SIZES[::3]
    predicted = predict("bcast", machine("sp2-mpl"), few, sizes, algorithms(), extrapolate=True)
    told = predicted.as_json()
    assert len(told["rows"]) == len(few) * len(sizes) * len(predicted.ways)
    best = {(row["ranks"], row["bytes"]): row["algorithm"] for row in told["best"]}
    assert len(best) == len(few) * len(sizes)
    times = {(row["ranks"], row["bytes"], row["algorithm"]): row["time_s"] for row in told["rows"]}
    for (p, n), name in best.items():
        assert times[p, n, name] == min(s for key, s in times.items() if key[:2] == (p, n))


def test_of_equal_ones_the_plain_one_is_named() -> None:
    """Up to one part a pipelined broadcast is the same as the plain one."""
    of = machine("poweredge-ib")
    found = predict("bcast", of, [8], [PART], algorithms(), extrapolate=True)
    names_there = [way.algorithm for way in found.ways]
    plain, pipelined = (names_there.index(x) for x in ("binomial", "binomial-pipelined"))
    assert found.time_s[plain, 0, 0] == found.time_s[pipelined, 0, 0]
    assert plain < pipelined


def test_a_crossover_is_where_the_order_changes() -> None:
    found = predict("bcast", machine("sp2-mpl"), [8], [16, 1 << 20], algorithms())
    assert found.crossovers
    for each in found.crossovers:
        by_name = {way.algorithm: way.time_s for way in found.ways}
        before, after = by_name[each.before], by_name[each.after]
        assert after(each.ranks, each.size_bytes) < before(each.ranks, each.size_bytes)
        assert after(each.ranks, each.size_bytes - 1) >= before(each.ranks, each.size_bytes - 1)


def test_where_an_algorithm_is_not_known_in_between_no_crossover_is_told() -> None:

    def short(ranks: int, size_bytes: int) -> float:
        if 100 < size_bytes < 1000:
            raise InputError("nothing is known of that")
        return 1.0 if size_bytes <= 100 else 3.0

    ways = [Way("short", short, ""), Way("long", lambda ranks, size_bytes: 2.0, "")]
    found = predicted("bcast", "m", [8], [16, 500, 2000], ways)
    assert found.best() == [["short", "long", "long"]]
    assert found.missing == ("short: nothing is known of that",)
    assert found.crossovers == ()


def test_one_rank_has_nothing_to_send() -> None:
    with pytest.raises(InputError, match="one rank"):
        predict("bcast", machine("sp2-mpl"), [1, 2], [8], algorithms())


def test_one_algorithm_by_its_name() -> None:
    found = predict("bcast/chain", machine("sp2-mpl"), [4], [8], algorithms())
    assert [way.algorithm for way in found.ways] == ["chain"]
    with pytest.raises(InputError, match="chian"):
        predict("bcast/chian", machine("sp2-mpl"), [4], [8], algorithms())


@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", names())
def test_barriers_and_broadcasts_of_every_machine(name: str) -> None:
    for operation in ("barrier", "bcast"):
        found = predict(operation, machine(name), [2, 5, 16], [8], algorithms(), extrapolate=True)
        assert (found.time_s[1:] > 0).all(), operation


def test_what_no_model_covers_is_refused_unless_allowed() -> None:
    known = machine("sp2-mpl")
    with pytest.raises(InputError, match=r"8\.?0? MiB|8 MiB"):
        predict("bcast/binomial", known, [4], [8 << 20], algorithms())
    assert predict("bcast/binomial", known, [4], [8 << 20], algorithms(), extrapolate=True)
    with pytest.raises(InputError, match="gather-scatter"):
        predict("gather-scatter", known, [4], [8], algorithms())


def test_more_ranks_than_a_machine_has_room_for_are_refused_or_marked() -> None:
    known = machine("sp2-mpl")
    assert known.ranks_max == 32
    with pytest.raises(InputError, match="room for 32 ranks, not for 33"):
        predict("bcast", known, [33], [8], algorithms())
    with pytest.raises(InputError, match="room for 32 ranks"):
        predict("one-to-many", known, [33], [8], algorithms())
    found = predict("bcast", known, [32, 33], [8, 8 << 20], algorithms(), extrapolate=True)
    told = {
        (row["ranks"], row["bytes"]): row["extrapolated"]
        for row in found.as_json()["rows"]
        if row["algorithm"] == "native"
    }
    expected = {(32, 8): False, (32, 8 << 20): True, (33, 8): True, (33, 8 << 20): True}
    assert told == expected
    assert found.as_json()["notes"][-1].endswith(
        "extrapolated beyond what was measured or published"
    )
    assert not predict("bcast", known, [32], [8], algorithms()).notes


def test_what_was_measured_at_a_number_of_ranks_counts_there() -> None:
    """A curve of eight ranks goes before a formula of all numbers of ranks, also in its gaps."""
    segments = (
        Segment(from_bytes=0, to_bytes=100, t0_s=10 * US, r_inf_Bps=1e9),
        Segment(from_bytes=200, to_bytes=1000, t0_s=20 * US, r_inf_Bps=1e9),
    )
    curve = FittedModel(transport="mpi", pattern="bcast", ranks=8, segments=segments)
    formula = PatternModel(pattern="bcast", startup_s={"p": US}, to_bytes=1000, to_ranks=16)
    known = Machine(name="m", models=(curve,), patterns=(formula,))
    found = predict("bcast", known, [4, 8], [0, 150, 1000], {})
    assert found.time_s[0, 0] == pytest.approx([4 * US] * 3)
    assert found.time_s[0, 1] == pytest.approx([10 * US, 10.15 * US, 21 * US])


def test_a_library_by_its_short_name_has_its_own_times() -> None:
    formulas = [
        PatternModel(pattern="scan", mpi=name, startup_s={"p": seconds}, to_bytes=9, to_ranks=9)
        for name, seconds in (("mpich-5.0.2", US), ("openmpi-5.0.11", 2 * US))
    ]
    known = Machine(name="m", patterns=tuple(formulas))
    for name in ("openmpi", "openmpi-5.0.11"):
        found = predict("scan", Messages(known, name), [4], [8], {})
        assert found.time_s[0, 0] == pytest.approx([8 * US])
    with pytest.raises(InputError, match="unknown library 'intel'"):
        predict("scan", Messages(known, "intel"), [4], [8], {})
    with pytest.raises(InputError, match="scan of several libraries"):
        predict("scan", known, [4], [8], {})


def test_patterns_without_algorithms_are_their_models() -> None:
    found = predict("pingpong", machine("sp2-mpl"), [2], [216, 217], algorithms())
    assert found.time_s[0, 0] == pytest.approx([(47 + 216 / 23.5) * US, (55 + 217 / 22.6) * US])
    many = predict("many-to-one", machine("sp2-mpl"), [4, 8], [100], algorithms())
    expected = [(3 + 13.3 * q + 0.0285 * q * 100) * US for q in (3, 7)]
    assert many.time_s[0, :, 0] == pytest.approx(expected)


def test_without_published_fans_messages_are_as_far_apart_as_sends_take() -> None:
    bare = msgspec.structs.replace(machine("sp2-mpl"), patterns=())
    found = predict("bcast/linear", bare, [2, 10], [100], algorithms())
    # A send keeps the processor for a quarter of an empty message, which is longer than its bytes.
    expected = [pingpong_us(100) * US, (8 * 47 / 4 + pingpong_us(100)) * US]
    assert found.time_s[0, :, 0] == pytest.approx(expected)


def test_machines_whose_collectives_are_no_messages_are_marked() -> None:
    operations = algorithms()
    for name, is_marked in (("x1-ssp", True), ("altix-bx2", True), ("poweredge-ib", False)):
        found = predict("bcast", machine(name), [32], [8], operations)
        assert any("composed of messages" in note for note in found.notes) == is_marked
        assert bool(machine(name).collectives_by) == is_marked
        reduced = predict("reduce", machine(name), [32], [8], operations)
        assert not any("composed of messages" in note for note in reduced.notes)
        assert any("inferred" in note for note in reduced.notes) == is_marked
        pair = predict("pingpong", machine(name), [2], [8], operations)
        assert not any("composed of messages" in note for note in pair.notes)


def test_an_operation_in_a_memory_is_native_and_has_an_interval() -> None:
    found = predict("barrier", machine("altix-bx2"), [2, 64], [0], algorithms())
    assert found.ways[0].algorithm == "native"
    level_s = math.sqrt(0.96e-6 * 1.18e-6)
    assert found.time_s[0, :, 0] == pytest.approx([level_s, 6 * level_s])
    row = next(row for row in found.as_json()["rows"] if row["ranks"] == 64)
    low, high = row["interval_s"]
    assert 6 * 0.96e-6 < low < 6 * level_s < high < 6 * 1.18e-6
    assert found.has_native
    assert found.best() == [["native"], ["native"]]


def test_an_operation_of_a_known_algorithm_is_that_one() -> None:
    found = predict("reduce", machine("altix-bx2"), [8], [8, 1 << 20], algorithms())
    names = [way.algorithm for way in found.ways]
    assert names[0] == "native"
    assert (found.time_s[0] == found.time_s[names.index("binomial")]).all()
    assert found.time_s[names.index("rabenseifner"), 0, 1] < found.time_s[0, 0, 1]


def test_changed_machines_have_no_operations_of_the_record() -> None:
    changed = change(machine("altix-bx2"), ["network.bandwidth=2x"])
    found = predict("barrier", changed, [64], [0], algorithms())
    assert not found.has_native
    assert any("composed of messages" in note for note in found.notes)


def test_ranks_that_users_do_not_get_are_extrapolated() -> None:
    found = predict("barrier", machine("x1-ssp"), [48, 64], [0], algorithms())
    assert not found.extrapolated[:, 0].any()
    assert found.extrapolated[:, 1].all()
    assert machine("x1-ssp").ranks_for_users == 48
    assert machine("poweredge-ib").ranks_for_users == machine("poweredge-ib").ranks_max == 864
    with pytest.raises(InputError, match="room for 64 ranks"):
        predict("barrier", machine("x1-ssp"), [65], [0], algorithms())


def test_an_all_to_all_takes_as_long_as_on_the_most_loaded_resource() -> None:
    """Both directions of a rank halve each other."""
    curve = FittedModel(
        transport="mpi",
        pattern="pingpong",
        ranks=2,
        segments=(Segment(from_bytes=0, to_bytes=1 << 20, t0_s=US, r_inf_Bps=1e9),),
    )
    alone = Machine(name="m", models=(curve,), node=Node(ranks=8))
    # Each of three rounds sends and receives 1000 bytes at once.
    halved = msgspec.structs.replace(
        alone, shared=(Shared(what="rank", why="", both_ways_ratio=1.0),)
    )
    operations = {"alltoall": [a for a in algorithms()["alltoall"] if a.name == "pairwise"]}
    times = [
        predict("alltoall", of, [4], [0, 1000], operations).time_s[0, 0] for of in (alone, halved)
    ]
    assert times[0] == pytest.approx([3 * US, 6 * US])
    assert times[1] == pytest.approx([3 * US, 9 * US])


def test_fans_without_published_times_are_the_parts_of_collectives() -> None:
    messages = Messages(machine("pentiumpro-ethernet"))
    parts = parts_of(messages)
    for pattern, letter in (("one-to-many", "M"), ("many-to-one", "R")):
        (way,) = known_ways(pattern, messages, algorithms(), extrapolate=False, is_followed=False)
        assert way.algorithm == "native"
        assert way.is_composed
        for ranks in (2, 8):
            for size in (8, 1024):
                expected_s = parts.functions[letter](np.array(float(size)), np.array(ranks - 1.0))
                assert way.time_s(ranks, size) == pytest.approx(float(expected_s))
    assert predict("one-to-many", machine("sp1-mpl"), [2], [0], algorithms()).time_s[
        0, 0, 0
    ] == pytest.approx(19e-6)


def test_patterns_between_ranks_are_followed_message_by_message() -> None:
    """Half of what both ways move on the altix is what one way does: as the library's, 1660 µs."""
    altix = machine("altix-bx2")
    found = predict("exchange", altix, [2, 8], [1 << 20], algorithms())
    assert [way.algorithm for way in found.ways] == ["followed"]
    assert found.time_s[0, :, 0] == pytest.approx([1660e-6, 1660e-6], rel=0.01)
    ring = predict("ring", altix, [2, 8], [1 << 20], algorithms())
    assert ring.time_s[0, :, 0] == pytest.approx([1660e-6, 3320e-6], rel=0.01)
    fan = predict("one-to-many", altix, [8], [1 << 20], algorithms())
    fan_s = parts_of(Messages(altix)).functions["M"](float(1 << 20), 7.0)
    assert fan.time_s[0, 0, 0] == pytest.approx(float(fan_s), rel=0.05)
    assert not found.notes


def test_published_and_followed_patterns_stand_beside_each_other() -> None:
    found = predict("exchange", machine("sp2-mpl"), [2], [8, 8192, 1 << 20], algorithms())
    assert [way.algorithm for way in found.ways] == ["native", "followed"]
    native, followed = found.time_s[:, 0]
    # One message of 8 B takes longer than the published exchange of two.
    assert followed == pytest.approx(np.maximum(native, [47.34e-6, 0, 0]), rel=1e-5)
