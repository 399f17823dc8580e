"""Who is slow among equal nodes and links, and how often somebody is named who is not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from nhalf.results.pair_map.slow import Suspect, judge, judge_alone
from nhalf.statistics.intervals import Floats

OUTLIERS = 0.01
"""This share of single launches takes twice as long."""


def even(count: int) -> Floats:
    return np.ones((count, count))


def slow_sender(count: int, factor: float = 2.0) -> Floats:
    factors = even(count)
    factors[1] *= factor
    return factors


def slow_node(count: int, factor: float = 2.0) -> Floats:
    factors = slow_sender(count, factor)
    factors[:, 1] *= factor
    return factors


def slow_way(count: int, *ways: tuple[int, int], factor: float = 2.0) -> Floats:
    factors = even(count)
    for way in ways or [(0, 1)]:
        factors[way] = factor
    return factors


def drawn(
    random: np.random.Generator, factors: Floats, noise: float, *, directed: bool = True
) -> Floats:
    """Three launches of a map of times of 1 ms with lognormal noise and outliers."""
    shape = (3, *factors.shape)
    logs = np.log(factors) + random.normal(0.0, noise, shape)
    logs += np.log(2) * (random.random(shape) < OUTLIERS)
    if not directed:
        logs = np.triu(logs, 1)
        logs += logs.transpose(0, 2, 1)
    times_s: Floats = 1e-3 * np.exp(logs)
    diagonal = range(len(factors))
    times_s[:, diagonal, diagonal] = np.nan
    return times_s


def exact(factors: Floats, launches: int = 3) -> Floats:
    times_s: Floats = np.repeat(1e-3 * factors[None], launches, axis=0)
    diagonal = range(len(factors))
    times_s[:, diagonal, diagonal] = np.nan
    return times_s


def suspects(times_s: Floats, *, directed: bool = True) -> list[Suspect]:
    judgement = judge(times_s, directed=directed)
    assert judgement is not None
    return judgement.suspects


def named(found: Sequence[Suspect]) -> list[tuple[str, tuple[int, ...]]]:
    return [(one.kind, one.members) for one in found]


@pytest.mark.parametrize("count", [3, 4, 5, 9])
def test_what_was_put_in_is_what_is_named(count: int) -> None:
    assert suspects(exact(even(count))) == []
    (sender,) = suspects(exact(slow_sender(count)))
    assert (sender.kind, sender.members, sender.peers) == ("sends", (1,), count - 1)
    assert sender.ratio.median == pytest.approx(2)
    assert named(suspects(exact(slow_sender(count).T))) == [("receives", (1,))]
    assert named(suspects(exact(slow_node(count)))) == [("node", (1,))]
    assert named(suspects(exact(slow_way(count)))) == [("way", (0, 1))]
    assert named(suspects(exact(slow_way(count, (0, 1), (1, 0))))) == [("link", (0, 1))]


def test_a_map_without_direction_knows_nodes_and_links() -> None:
    assert named(suspects(exact(slow_node(4)), directed=False)) == [("node", (1,))]
    link = slow_way(4, (0, 1), (1, 0))
    assert named(suspects(exact(link), directed=False)) == [("link", (0, 1))]


def test_several_causes_are_told_apart() -> None:
    both = slow_sender(6) * slow_way(6, (1, 3), (4, 5), factor=3.0)
    found = suspects(exact(both))
    assert set(named(found)) == {("sends", (1,)), ("way", (1, 3)), ("way", (4, 5))}
    assert [one.ratio.median for one in found] == pytest.approx([2, 3, 3])


def test_in_a_ring_the_pairs_of_a_slow_link_are_named_not_its_ends() -> None:
    # 0-1-2-3-0, the link 0-1 is slow, and 0-2 goes over 1.
    pairs = [(0, 1), (1, 0), (0, 2), (2, 0)]
    assert named(suspects(exact(slow_way(4, *pairs)))) == [("link", (0, 1)), ("link", (0, 2))]


def test_in_a_tree_most_pairs_are_slow_and_the_fast_ones_are_the_measure() -> None:
    pairs = [(i, j) for i in (0, 1) for j in (2, 3)]
    both = [*pairs, *((j, i) for i, j in pairs)]
    assert set(named(suspects(exact(slow_way(4, *both))))) == {("link", pair) for pair in pairs}


def test_one_fast_pair_does_not_make_all_others_slow() -> None:
    assert suspects(exact(slow_way(4, factor=0.3))) == []


def test_less_than_the_minimal_effect_is_not_named_however_sure() -> None:
    assert suspects(exact(slow_node(4, 1.19))) == []
    assert named(suspects(exact(slow_node(4, 1.21)))) == [("node", (1,))]


def test_two_members_have_directions_only() -> None:
    assert named(suspects(exact(slow_sender(2)))) == [("way", (1, 0))]
    assert suspects(exact(slow_node(2))) == []


def test_one_launch_or_no_pair_is_no_judgement() -> None:
    assert judge(exact(even(4), launches=1)) is None
    assert judge(np.full((3, 4, 4), np.nan)) is None
    assert judge_alone(np.full((3, 0), np.nan)) is None


def test_pairs_that_were_not_measured_are_left_out() -> None:
    times_s = exact(slow_way(5, (3, 2)))
    times_s[:, 0, 1] = np.nan
    times_s[1, 2, 4] = np.nan
    assert named(suspects(times_s)) == [("way", (3, 2))]


def test_a_launch_that_is_slow_as_a_whole_names_nobody() -> None:
    times_s = exact(slow_way(4))
    times_s[2] *= 3
    assert named(suspects(times_s)) == [("way", (0, 1))]


def test_members_by_themselves() -> None:
    times_s = np.repeat([[1e-6, 1e-6, 2e-6, 1e-6]], 3, axis=0)
    judgement = judge_alone(times_s)
    assert judgement is not None
    assert named(judgement.suspects) == [("alone", (2,))]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(("count", "noise"), [(3, 0.03), (4, 0.03), (4, 0.1), (8, 0.1), (8, 0.3)])
def test_equal_maps_name_nobody(count: int, noise: float, directed: bool) -> None:
    random = np.random.default_rng(count)
    maps = [drawn(random, even(count), noise, directed=directed) for _ in range(150)]
    assert sum(bool(suspects(times_s, directed=directed)) for times_s in maps) <= 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("count", "noise", "missed"), [(3, 0.03, 0), (4, 0.03, 0), (4, 0.1, 1), (8, 0.1, 0)]
)
def test_half_the_rate_is_named(count: int, noise: float, missed: int) -> None:
    random = np.random.default_rng(count)
    for kind, factors in {"sends": slow_sender(count), "way": slow_way(count)}.items():
        maps = [drawn(random, factors, noise) for _ in range(150)]
        found = [kind in {one.kind for one in suspects(times_s)} for times_s in maps]
        assert len(maps) - sum(found) <= missed
