"""The map of all pairs in the report, and what findings say of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl
import pytest
import vl_convert

from nhalf.facts.facts import Facts
from nhalf.present.findings.traffic import PairMap as PairMapFinder
from nhalf.present.panels.pair_map import PairMap
from nhalf.store.places import Place

Make = Callable[..., pl.LazyFrame]
HOSTS = ["n1", "n1", "n2", "n2", "n3", "n3", "n4", "n4"]


def data_of(measured: pl.LazyFrame, hosts: Sequence[str]) -> Facts:
    places = {"run": {("mpich", len(hosts), ""): [Place(host) for host in hosts]}}
    return Facts(measured, find_places=lambda: places)


def cells(data: Facts) -> list[dict[str, Any]]:
    chart = PairMap().render(data)
    assert chart is not None
    spec = chart.to_dict()
    vl_convert.vegalite_to_svg(spec)
    (found,) = spec["datasets"].values()
    return list(found)


def slow_third(first: str, second: str) -> float:
    return 2.0 if first == "n3" and second != "n3" else 1.0


def test_without_a_map_there_is_nothing(make_measurements: Make) -> None:
    measured = make_measurements()
    data = Facts(measured)
    assert PairMap().render(data) is None
    assert list(PairMapFinder().find(data)) == []


def test_hosts_and_ranks_are_drawn_and_what_is_slow_is_framed(make_pair_map: Make) -> None:
    rows = cells(data_of(make_pair_map(HOSTS, slow_third), HOSTS))
    hosts = [row for row in rows if row["choice"].endswith("hosts")]
    assert len(hosts) == 16
    assert {row["pair"] for row in hosts if row["slow"]} == {"n3 to n1", "n3 to n2", "n3 to n4"}
    assert {row["pair"] for row in hosts if row["dot"]} == {"n1", "n2", "n3", "n4"}
    # Within a host a message takes a hundredth of the time, and is not compared with others.
    assert {row["ratio"] for row in hosts} == {1.0, 2.0}
    ranks = [row for row in rows if row["choice"].endswith("ranks")]
    assert len(ranks) == 56
    assert sum(row["dot"] for row in ranks) == 8


def test_similar_hosts_stand_together(make_pair_map: Make) -> None:
    hosts = ["a", "b", "c", "d"]

    def tree(first: str, second: str) -> float:
        return 1.0 if {first, second} in ({"a", "c"}, {"b", "d"}) else 3.0

    rows = cells(data_of(make_pair_map(hosts, tree), hosts))
    place = {row["pair"].partition(" ")[0]: row["y2"] for row in rows}
    assert abs(place["a"] - place["c"]) == abs(place["b"] - place["d"]) == 1


@pytest.mark.parametrize("count", [2, 70])
def test_few_and_many_ranks_are_drawn(count: int, make_pair_map: Make) -> None:
    hosts = [f"n{i}" for i in range(count)]
    measured = make_pair_map(hosts, slow_third, pattern="pair-map-together", launches=2)
    rows = cells(data_of(measured, hosts))
    assert 0 < len(rows) <= 64 * 64


def test_findings_name_the_node_or_say_that_all_are_equal(make_pair_map: Make) -> None:
    (slow,) = PairMapFinder().find(data_of(make_pair_map(HOSTS, slow_third), HOSTS))
    assert slow.kind == "slow-node"
    assert slow.value == pytest.approx(2)
    assert slow.text == (
        "Suspect node n3. Mpich, 8 ranks, bandwidth, 256 KiB: n3's sends take 2.00x as long as "
        "those of others, to all 3 of them: suspect the node, not a link."
    )
    (equal,) = PairMapFinder().find(data_of(make_pair_map(HOSTS), HOSTS))
    assert equal.kind == "pairs-equal"
    assert equal.text.endswith("all 12 links between hosts and directions are equal within 0.1 %.")
    assert equal.importance < slow.importance


def test_ranks_that_share_cores_blame_nobody(make_pair_map: Make) -> None:
    crowded = make_pair_map(HOSTS, slow_third, advice=["oversubscribed"])
    assert list(PairMapFinder().find(data_of(crowded, HOSTS))) == []


def test_the_map_opens_on_what_its_finding_is_about(make_pair_map: Make) -> None:
    latency = make_pair_map(HOSTS, pattern="pair-map-latency", size=8)
    bandwidth = make_pair_map(HOSTS, slow_third)
    chart = PairMap().render(data_of(pl.concat([latency, bandwidth]), HOSTS))
    assert chart is not None
    assert opening(chart) == "bandwidth, 256 KiB: hosts"


def test_a_map_that_is_not_judged_says_so_and_does_not_open(make_pair_map: Make) -> None:
    latency = make_pair_map(HOSTS, slow_third, pattern="pair-map-latency", size=8, launches=1)
    bandwidth = make_pair_map(HOSTS)
    chart = PairMap().render(data_of(pl.concat([latency, bandwidth]), HOSTS))
    assert chart is not None
    assert opening(chart) == "bandwidth, 256 KiB: hosts"
    rows = next(iter(chart.to_dict()["datasets"].values()))
    assert "latency, 8 B: hosts (not judged)" in {row["choice"] for row in rows}


def opening(chart: Any) -> str:
    """The map that is shown until a reader picks another."""
    (chosen,) = (one for one in chart.to_dict()["params"] if one["name"] == "chosen")
    return str(chosen["value"])


def test_no_empty_matrix_stands_beside_the_map(make_pair_map: Make) -> None:
    """A start of two ranks without this map has no facet: what is drawn is chosen first."""
    eight = make_pair_map(HOSTS, slow_third)
    two = make_pair_map(["n1", "n2"], pattern="pair-map-latency", size=8)
    places = {
        "run": {
            ("mpich", 8, ""): [Place(host) for host in HOSTS],
            ("mpich", 2, ""): [Place("n1"), Place("n2")],
        }
    }
    facts = Facts(pl.concat([eight, two]), find_places=lambda: places)
    chart = PairMap().render(facts)
    assert chart is not None
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    assert "mpich, 8 ranks" in svg
    assert "mpich, 2 ranks" not in svg
