"""Maps of pairs from the store: ranks, hosts, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from nhalf.results.pair_map import equal_text, map_name, sentences
from nhalf.results.pair_map.times import PairTimes, as_row, hosts_of, natural, pair_maps
from nhalf.store.places import Place

Make = Callable[..., pl.LazyFrame]
Factor = Callable[[str, str], float]

FOUR = ["n1", "n2", "n3", "n10"]
LATENCY, TOGETHER = "pair-map-latency", "pair-map-together"


def one_map(
    make: Make, hosts: list[str], factor: Factor | None = None, **more: object
) -> PairTimes:
    """The only map of ranks on hosts."""
    places = {"run": {("mpich", len(hosts), ""): [Place(host) for host in hosts]}}
    measured = make(hosts, factor, **more) if factor else make(hosts, **more)
    (found,) = pair_maps(measured, hosts_of(places))
    return found


def said(make: Make, hosts: list[str], factor: Factor, **more: object) -> list[str]:
    return sentences(as_row(one_map(make, hosts, factor, **more)))


def test_nothing_measured_nothing_found(make_measurements: Make, make_pair_map: Make) -> None:
    assert pair_maps(make_measurements(), {}) == []
    assert pair_maps(make_pair_map(FOUR, verified=False), {}) == []
    assert pair_maps(make_pair_map(FOUR, rank_s=[], values=[]), {}) == []


@pytest.mark.parametrize("pattern", ["pair-map-bandwidth", LATENCY, TOGETHER])
def test_hosts_stand_in_the_order_of_their_names_within_apart(
    pattern: str, make_pair_map: Make
) -> None:
    hosts = ["n10", "n2", "n10", "n2"]
    found = one_map(make_pair_map, hosts, pattern=pattern)
    assert found.members == ["n2", "n10"]
    assert found.times_s.shape == (3, 4, 4)
    assert found.between_s[:, 0, 1] == pytest.approx([1e-4] * 3)
    assert np.isnan(found.between_s[:, [0, 1], [0, 1]]).all()
    assert found.within_s == pytest.approx(np.full((3, 2), 1e-6))


def test_launches_on_other_hosts_do_not_count(make_pair_map: Make) -> None:
    moved = make_pair_map(FOUR, lambda i, j: 9.0, advice=["moved"])
    assert pair_maps(moved, {}) == []
    (found,) = pair_maps(pl.concat([make_pair_map(FOUR), moved]), {})
    assert np.nanmax(found.times_s) == pytest.approx(1e-4)


def test_small_messages_judge_nobody_where_hosts_share_cores(make_pair_map: Make) -> None:
    def slow(first: str, second: str) -> float:
        return 3.0 if "n2" in (first, second) else 1.0

    alone = as_row(one_map(make_pair_map, FOUR, slow, pattern=LATENCY))
    assert alone["slow"]
    shared = one_map(make_pair_map, FOUR, slow, pattern=LATENCY, advice=["shared-cores"])
    row = as_row(shared)
    assert row["slow"] == []
    assert "share the cores" in row["missing"]
    rates = as_row(one_map(make_pair_map, FOUR, slow, advice=["shared-cores"]))
    assert [one["members"] for one in rates["slow"]] == [["n2"]]


def test_two_ranks_of_a_host_are_not_judged(make_pair_map: Make) -> None:
    def slow(first: str, second: str) -> float:
        return 3.0

    row = as_row(one_map(make_pair_map, ["n1", "n1"], slow))
    assert row["slow"] == []
    assert "no other to compare" in row["missing"]


def test_without_places_ranks_are_members(make_pair_map: Make) -> None:
    (found,) = pair_maps(make_pair_map(FOUR), {})
    assert not found.by_host
    assert found.members == ["rank 0", "rank 1", "rank 2", "rank 3"]
    assert one_map(make_pair_map, ["n1"] * 3).members == ["rank 0", "rank 1", "rank 2"]


def test_what_was_measured_twice_is_taken_once(make_pair_map: Make) -> None:
    measured = make_pair_map(FOUR)
    twice = pl.concat([measured, measured, make_pair_map(FOUR, lambda i, j: 9.0)])
    (found,) = pair_maps(twice, {})
    assert np.nanmax(found.times_s) == pytest.approx(1e-4)


def test_names_are_sorted_as_people_do() -> None:
    assert sorted(["n10", "n9", "a", "n9b"], key=natural) == ["a", "n9", "n9b", "n10"]


def test_a_row_holds_every_number(make_pair_map: Make) -> None:
    row = as_row(one_map(make_pair_map, FOUR, lambda i, j: 2.0 if i == "n2" else 1.0))
    assert row["level"] == "hosts"
    assert row["members"] == FOUR
    assert row["times_s"][0][1] == pytest.approx(1e-4)
    assert row["times_s"][1] == [pytest.approx(2e-4), None, *[pytest.approx(2e-4)] * 2]
    assert row["base_s"] == pytest.approx(1e-4)
    (slow,) = row["slow"]
    assert (slow["kind"], slow["members"], slow["peers"]) == ("sends", ["n2"], 3)
    assert slow["ratio"] == pytest.approx(2)
    assert map_name(row) == "bandwidth, 256 KiB"


def test_one_launch_makes_a_map_without_judgement(make_pair_map: Make) -> None:
    row = as_row(one_map(make_pair_map, FOUR, launches=1))
    assert row["slow"] == []
    assert row["missing"] == "slow members can be identified only with two or more launches"
    assert equal_text(row) == ""


def test_equal_links_are_said_to_be(make_pair_map: Make) -> None:
    row = as_row(one_map(make_pair_map, FOUR, lambda i, j: 1.05 if (i, j) == FOUR[:2] else 1.0))
    assert sentences(row) == []
    assert equal_text(row) == "all 12 links between hosts and directions are equal within 0.1 %"
    latency = as_row(one_map(make_pair_map, ["n1"] * 4, pattern=LATENCY))
    assert equal_text(latency) == "all 6 pairs of ranks are equal within 0.1 %"


def test_far_from_equal_and_few_links_are_no_news(make_pair_map: Make) -> None:
    fast = as_row(one_map(make_pair_map, FOUR, lambda i, j: 0.5 if (i, j) == ("n1", "n2") else 1.0))
    assert fast["slow"] == []
    assert equal_text(fast | {"equal_within_ratio": 1.3}) == ""
    assert equal_text(as_row(one_map(make_pair_map, ["n1", "n2"]))) == ""


def test_where_ranks_share_cores_the_row_says_so(make_pair_map: Make) -> None:
    assert as_row(one_map(make_pair_map, FOUR))["doubts"] == []
    row = as_row(one_map(make_pair_map, FOUR, advice=["oversubscribed"]))
    assert row["doubts"] == ["ranks share cores, which may be what is slow"]


def test_a_slow_host_is_slow_with_all_its_ranks_but_not_within(make_pair_map: Make) -> None:
    hosts = sorted([*FOUR, *FOUR])

    def factor(i: str, j: str) -> float:
        return 1.9 if i == "n3" and j != "n3" else 1.0

    assert said(make_pair_map, hosts, factor) == [
        "n3's sends take 1.90x as long as those of others, to all 3 of them: "
        "suspect the node, not a link"
    ]


def test_a_host_that_is_slow_within_is_no_slow_link(make_pair_map: Make) -> None:
    def factor(i: str, j: str) -> float:
        return 3.0 if i == j == "n3" else 1.0

    assert said(make_pair_map, [*FOUR, *FOUR], factor) == [
        "messages within n3 take 3.00x as long as within others"
    ]


def test_links_are_told_from_nodes(make_pair_map: Make) -> None:
    def way(i: str, j: str) -> float:
        return 2.0 if (i, j) == ("n1", "n3") else 1.0

    assert said(make_pair_map, FOUR, way) == [
        "n1 to n3 takes 2.00x as long as between others, not so back; other pairs of both do not: "
        "link, not node"
    ]

    def ring(i: str, j: str) -> float:
        return 2.0 if {i, j} in ({"n1", "n2"}, {"n1", "n3"}) else 1.0

    assert said(make_pair_map, FOUR, ring, pattern=LATENCY) == [
        "n1-n2 2.00x, n1-n3 2.00x as long: all of them at n1, whose other pairs are not slow"
    ]


def test_pairs_between_two_groups_share_a_route(make_pair_map: Make) -> None:
    def tree(i: str, j: str) -> float:
        return 2.0 if (i in FOUR[:2]) != (j in FOUR[:2]) else 1.0

    (text,) = said(make_pair_map, FOUR, tree)
    assert text.endswith(
        "as long: all ways between (n1, n2) and (n3, n10), none within: their route"
    )


def test_of_two_and_of_three_hosts_no_more_is_said_than_is_known(make_pair_map: Make) -> None:
    def slow(i: str, j: str) -> float:
        return 2.0 if i == "n2" else 1.0

    assert said(make_pair_map, ["n1", "n2"], slow) == [
        "from n2 to n1 a message takes 2.00x as long as back; with two members, a slow "
        "node cannot be distinguished from a slow link"
    ]

    def node(i: str, j: str) -> float:
        return 2.0 if "n2" in (i, j) else 1.0

    (text,) = said(make_pair_map, ["n1", "n2", "n3"], node, pattern=LATENCY)
    assert text.startswith("n2's messages take 2.00x")
    assert text.endswith("(with three members, n1-n3 may instead be fast)")
