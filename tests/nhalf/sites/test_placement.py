"""Doubts about the places of ranks.

Cores by their caches, from a made-up sysfs.

Threads of OpenMP programs are bound as ranks are, unless the user decided otherwise.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.machines.layout import Layout
from nhalf.sites import placement
from nhalf.sites.placement import (
    Placement,
    bound_threads,
    cores_for,
    last_level_caches,
    parse_cpu_list,
    placement_advice,
)


class TestPlacementAdvice:
    @staticmethod
    def rank(host: str, *cores: int) -> dict[str, Any]:
        return {"host": host, "allowed_cpus": list(cores)}

    def test_each_on_a_core_of_its_own(self) -> None:
        assert placement_advice([self.rank("a", 0), self.rank("a", 1)]) == []

    def test_nobody_is_anywhere(self) -> None:
        assert placement_advice([]) == []

    def test_one_that_may_move(self) -> None:
        assert placement_advice([self.rank("a", 0, 1), self.rank("a", 1)]) == ["unpinned"]

    def test_one_that_does_not_say(self) -> None:
        assert "unpinned" in placement_advice([self.rank("a"), self.rank("a", 1)])

    def test_two_on_one_core(self) -> None:
        assert placement_advice([self.rank("a", 3), self.rank("a", 3)]) == ["oversubscribed"]

    def test_the_same_core_of_two_hosts(self) -> None:
        assert placement_advice([self.rank("a", 3), self.rank("b", 3)]) == []

    def test_more_ranks_than_cores(self) -> None:
        both = [self.rank("a", 0, 1)] * 3
        assert placement_advice(both) == ["unpinned", "oversubscribed"]

    def test_ranks_that_may_move_as_was_asked_for(self) -> None:
        assert placement_advice([self.rank("a", 0, 1), self.rank("a", 0, 1)], "free") == []

    @pytest.mark.parametrize(("core", "advice"), [(5, []), (6, ["misplaced"])])
    def test_ranks_elsewhere_than_asked_for(
        self, core: int, advice: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(placement, "last_level_caches", lambda _: [[4, 5], [6, 7]])
        found = [self.rank("a", 4), self.rank("a", core)]
        assert placement_advice(found, "same-cache") == advice


class TestHosts:
    @staticmethod
    def rank(host: str, *networks: str, fabrics: tuple[str, ...] = ()) -> dict[str, Any]:
        return {"host": host, "allowed_cpus": [0], "networks": networks, "fabrics": fabrics}

    def test_where_they_were_asked_for(self) -> None:
        both = [self.rank("a.cluster"), self.rank("b")]
        assert placement_advice(both, "2x1", ["a", "b.cluster"]) == []

    def test_elsewhere(self) -> None:
        both = [self.rank("a"), self.rank("b")]
        assert placement_advice(both, "2x1", ["b", "a"]) == ["misplaced"]
        assert placement_advice(both, "2x1", ["a", "c"]) == ["misplaced"]

    def test_hosts_of_a_lab(self) -> None:
        both = [self.rank("a") | {"allowed_cpus": [0, 1]}, self.rank("b")]
        assert placement_advice(both, "2x1", ["a", "b"], True) == ["shared-cores"]
        assert placement_advice(both[:1], "1x1", ["a"], True) == []

    def test_one_network_for_all(self) -> None:
        assert placement_advice([self.rank("a", "eth0"), self.rank("b", "eth0", "eth1")]) == []
        assert placement_advice([self.rank("a", "eth0"), self.rank("b")]) == []

    def test_networks_that_differ(self) -> None:
        both = [self.rank("a", "eth0"), self.rank("b", "eth1")]
        assert placement_advice(both) == ["mixed-networks"]

    def test_a_fast_network_that_nobody_uses(self) -> None:
        slow = [self.rank("a", "eth0", fabrics=("mlx5_0",)), self.rank("b", "eth0")]
        assert placement_advice(slow) == ["slow-network"]
        fast = [self.rank(host, "eth0", "mlx5_0", fabrics=("mlx5_0",)) for host in "ab"]
        assert placement_advice(fast) == []
        alone = [self.rank("a", "eth0", fabrics=("mlx5_0",))]
        assert placement_advice(alone) == []


def test_cores_of_each_placement() -> None:
    caches = [[0, 1], [2, 3, 4]]
    assert cores_for("cores", 2, caches) == []
    assert cores_for("same-cache", 3, caches) == [2, 3, 4]
    assert cores_for("same-node", 2, caches) == [0, 2]


def test_what_the_machine_cannot_give() -> None:
    with pytest.raises(MissingError, match="no 3 cores share"):
        cores_for("same-cache", 3, [[0, 1]])
    with pytest.raises(MissingError, match="there is one cache"):
        cores_for("same-node", 2, [[0, 1]])
    with pytest.raises(MissingError, match="no 2 cores share"):
        cores_for("same-cache", 2, [])
    with pytest.raises(InputError, match="same-cache"):
        Placement.parse("same-cash").check()


def test_layouts_are_placements() -> None:
    cyclic = Placement.parse("4x2:cyclic").check()
    assert cyclic == Placement("4x2:cyclic", Layout(4, 2, cyclic=True))
    assert cyclic.fits(8)
    assert not cyclic.fits(4)
    assert Placement.parse("cores").fits(5)
    with pytest.raises(InputError, match="no machine has 0 ranks"):
        Placement.parse("0x2")


@pytest.mark.parametrize(
    ("text", "hosts"), [("4x2", 4), ("other-node", 2), ("cores", 1), ("unknown", 1)]
)
def test_a_placement_needs_hosts(text: str, hosts: int) -> None:
    assert Placement.parse(text).hosts == hosts


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """Two core complexes of two cores with two hardware threads each: cpu and cpu + 4."""
    for cpu in range(8):
        core = cpu % 4
        folder = tmp_path / f"cpu{cpu}"
        first = core // 2 * 2
        shared = {2: f"{core},{core + 4}", 3: f"{first}-{first + 1},{first + 4}-{first + 5}"}
        for level, cpus in shared.items():
            index = folder / "cache" / f"index{level}"
            index.mkdir(parents=True)
            (index / "level").write_text(f"{level}\n")
            (index / "shared_cpu_list").write_text(f"{cpus}\n")
        (folder / "topology").mkdir()
        (folder / "topology" / "thread_siblings_list").write_text(f"{core},{core + 4}\n")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "cpus"), [("0-3,8\n", [0, 1, 2, 3, 8]), ("5", [5]), ("", []), ("x-3,-", [])]
)
def test_lists_of_the_kernel(text: str, cpus: list[int]) -> None:
    assert parse_cpu_list(text) == cpus


def test_groups_by_last_level_cache_without_second_threads(sysfs: Path) -> None:
    assert last_level_caches(range(8), sysfs) == [[0, 1], [2, 3]]
    assert last_level_caches([1, 5, 6], sysfs) == [[1], [6]]


def test_an_unknown_machine_has_cores_without_caches(tmp_path: Path) -> None:
    assert last_level_caches([0, 1], tmp_path) == [[0], [1]]


@pytest.fixture(autouse=True)
def _four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two caches with two cores each, of which each has a second hardware thread."""
    monkeypatch.setattr(placement, "last_level_caches", lambda _allowed: [[0, 1], [4, 5]])
    for variable in ("OMP_PROC_BIND", "OMP_PLACES"):
        monkeypatch.delenv(variable, raising=False)


def test_each_thread_has_a_core() -> None:
    assert bound_threads(4) == {"OMP_PROC_BIND": "true", "OMP_PLACES": "{0},{1},{4},{5}"}


def test_of_named_cores_each_is_a_place() -> None:
    assert bound_threads(2, [3, 5])["OMP_PLACES"] == "{3},{5}"


def test_too_few_cores_bind_nothing() -> None:
    assert bound_threads(5) == {}
    assert bound_threads(2, [3]) == {}


@pytest.mark.parametrize("variable", ["OMP_PROC_BIND", "OMP_PLACES"])
def test_the_user_decides(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "spread")
    assert bound_threads(1) == {}
