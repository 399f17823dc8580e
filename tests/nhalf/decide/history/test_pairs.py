"""Pairs of hosts in the maps of runs: a curve each, of the slower way, blamed on node or link."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.decide.history.cluster import slower
from nhalf.decide.history.history import history
from nhalf.store.run import Run
from tests.nhalf.synthetic import build_pair_map, write_pair_map_run

HOSTS = ["n1", "n1", "n2", "n3", "n4"]
NIGHTS = 8
DAY_S = 86400.0
Factor = Callable[[str, str], float]


def nights(folder: Path, factor: Factor, pattern: str, hosts: list[str] = HOSTS) -> list[Run]:
    """Nightly maps; from the sixth on times are `factor` times as long."""

    def night(number: int) -> Run:
        def its(first: str, second: str) -> float:
            return (1 + 0.002 * (number % 3)) * (factor(first, second) if number > 4 else 1.0)

        frame = build_pair_map(hosts, its, pattern=pattern, started_s=1.7e9 + number * DAY_S)
        return write_pair_map_run(folder / f"night{number}", hosts, frame)

    return [night(number) for number in range(NIGHTS)]


@pytest.mark.parametrize("pattern", ["pair-map-latency", "pair-map-bandwidth", "pair-map-together"])
def test_a_node_whose_way_out_became_slow_is_named_by_its_pairs(
    tmp_path: Path, pattern: str
) -> None:
    runs = nights(tmp_path, lambda first, _: 2.0 if first == "n3" else 1.0, pattern)
    timeline = history(runs)
    pairs = [curve for curve in timeline.curves if "nodes" in curve.levels.curve]
    assert len(pairs) == len(timeline.curves) == 6, "no curve for each round beside them"
    assert {curve.levels.launches for curve in pairs} == {(3,) * NIGHTS}
    if pattern == "pair-map-latency":  # half of a round trip is that of the rank that began it
        return
    (found,) = slower(timeline)
    assert (found.nodes, len(found.curves), found.pairs) == (("n3",), 3, 3)
    assert found.ratio == pytest.approx(2.0, rel=0.01)
    assert found.name == f"{pattern}, 256 KiB, mpich"
    assert {shift.at for _, shift in timeline.shifts} == {"night5"}


def test_one_slow_link_is_a_pair(tmp_path: Path) -> None:
    runs = nights(
        tmp_path, lambda a, b: 2.0 if {a, b} == {"n1", "n4"} else 1.0, "pair-map-bandwidth"
    )
    (found,) = slower(history(runs))
    assert (found.nodes, len(found.curves)) == (("n1", "n4"), 1)


def test_pairs_are_narrowed_as_other_curves_are(tmp_path: Path) -> None:
    runs = nights(tmp_path, lambda a, b: 1.0, "pair-map-bandwidth")
    assert len(history(runs, mpi="mpich", sizes=[2**18]).curves) == 6
    with pytest.raises(InputError, match="size"):
        history(runs, sizes=[8])


def test_ranks_of_one_host_keep_their_curves(tmp_path: Path) -> None:
    runs = nights(tmp_path, lambda a, b: 1.0, "pair-map-bandwidth", ["n1"] * 3)
    assert all("nodes" not in curve.levels.curve for curve in history(runs).curves)


def test_other_nodes_each_night_have_only_the_pairs_they_share(
    tmp_path: Path,
) -> None:
    runs = nights(tmp_path / "a", lambda a, b: 1.0, "pair-map-bandwidth", ["n1", "n2", "n3"])
    others = nights(tmp_path / "b", lambda a, b: 1.0, "pair-map-bandwidth", ["n1", "n2", "n9"])
    counts = {
        curve.levels.curve["nodes"]: len(curve.levels.runs)
        for curve in history([*runs[:3], *others[3:]]).curves
    }
    assert counts == {"n1 n2": 8, "n1 n3": 3, "n2 n3": 3, "n1 n9": 5, "n2 n9": 5}
