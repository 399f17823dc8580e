"""Doubts about the places of ranks."""

from __future__ import annotations

from typing import Any

import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.machines.layout import Layout
from nhalf.sites import placement
from nhalf.sites.placement import Placement, cores_for, placement_advice


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
