# SPDX-License-Identifier: Apache-2.0
"""Doubts about the places of ranks."""

from __future__ import annotations

from typing import Any

from nhalf.study.placement import placement_advice


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
