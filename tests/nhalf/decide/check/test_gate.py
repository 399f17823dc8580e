"""Go, no-go or unsure: decided by looks that are given, without a clock or a core."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree as xml

import numpy as np
import pytest

from nhalf.decide.check.gate import LOOKS_LEAST, Decision, Gate, medians
from nhalf.node.all_cores import Look
from nhalf.present.junit import junit

TIMES_S = {"core 0": 1e-7, "core 1": 1e-7, "memory 0": 1e-3, "messages": 5e-8}
TOLERANCE = 0.05


def times_s(random: np.random.Generator, deviation: float) -> dict[str, float]:
    return {
        name: time_s * float(np.exp(deviation * random.standard_normal()))
        for name, time_s in TIMES_S.items()
    }


def past(count: int = 20, deviation: float = 0.005, seed: int = 1) -> list[dict[str, float]]:
    random = np.random.default_rng(seed)
    return [times_s(random, deviation) for _ in range(count)]


class Node:
    """Looks of a node whose core 1 takes longer, and on which others have a share of core 1."""

    def __init__(
        self,
        slow: Callable[[int], float] = lambda number: 1.0,
        taken: Callable[[int], float] = lambda number: 0.0,
        most: int = 20,
    ) -> None:
        self._slow, self._taken, self._most = slow, taken, most
        self._random = np.random.default_rng(5)
        self.number = 0

    def look(self) -> Look:
        seen = times_s(self._random, 0.003)
        seen["core 1"] *= self._slow(self.number)
        share = self._taken(self.number)
        self.number += 1
        return Look(seen, share, 1)

    def has_time(self) -> bool:
        return self.number < self._most


def decided(node: Node, baseline: list[dict[str, float]] | None = None) -> Gate:
    return Decision(
        node.look, past() if baseline is None else baseline, node.has_time, TOLERANCE
    ).made()


def test_a_node_as_usual_may_go_after_few_looks() -> None:
    result = decided(Node())
    assert (result.verdict, result.exit_code, result.looks) == ("go", 0, LOOKS_LEAST)
    assert result.counts
    assert "4 times within" in result.reason and "last 20 gates" in result.reason


@pytest.mark.parametrize("factor", [1.1, 1.25, 2.0])
def test_a_core_that_stays_slow_is_no_go_and_named(factor: float) -> None:
    result = decided(Node(lambda number: factor))
    assert (result.verdict, result.exit_code, result.looks) == ("no-go", 1, 20)
    assert result.reason.startswith("core 1 takes ")
    assert not result.counts


def test_a_slow_down_that_passes_is_go() -> None:
    result = decided(Node(lambda number: 1.5 if number < 3 else 1.0))
    assert result.verdict == "go"
    assert LOOKS_LEAST < result.looks < 20


def test_slow_beside_others_is_unsure_and_says_what_they_had() -> None:
    result = decided(Node(lambda number: 2.0, lambda number: 0.5))
    assert (result.verdict, result.exit_code) == ("unsure", 4)
    assert result.reason == "something else had 50 % of core 1"
    assert not result.counts


def test_looks_beside_others_do_not_accuse() -> None:
    loaded = decided(
        Node(lambda number: 2.0 if number % 2 else 1.0, lambda number: 0.4 * (number % 2))
    )
    assert loaded.verdict == "go"


def test_beside_others_and_not_slower_may_go_but_joins_no_baseline() -> None:
    result = decided(Node(taken=lambda number: 0.3))
    assert (result.verdict, result.counts) == ("go", False)


def test_the_first_gates_learn_and_join_the_baseline() -> None:
    baseline: list[dict[str, float]] = []
    for number in range(1, 9):
        result = decided(Node(), baseline)
        assert (result.verdict, result.counts) == ("unsure", True)
        assert result.reason == f"learning, gate {number} of 8"
        baseline.append(result.times_s)
    assert decided(Node(), baseline).verdict == "go"


def test_nobody_learns_beside_others() -> None:
    result = decided(Node(taken=lambda number: 0.5), [])
    assert (result.verdict, result.counts, result.looks) == ("unsure", False, 20)


def test_an_uneven_baseline_leaves_it_open() -> None:
    result = decided(Node(lambda number: 1.15), past(deviation=0.15))
    assert (result.verdict, result.counts) == ("unsure", True)
    assert "whose gates differ" in result.reason


def test_without_time_to_look_again_nothing_is_accused() -> None:
    result = decided(Node(lambda number: 2.0, most=4))
    assert result.verdict == "unsure"
    assert "--budget" in result.reason


def test_a_core_that_is_gone_is_unsure() -> None:
    baseline = [{**times, "core 2": 1e-7} for times in past()]
    node = Node()
    result = Decision(node.look, baseline, node.has_time, TOLERANCE, list(baseline[-1])).made()
    assert (result.verdict, result.counts) == ("unsure", False)
    assert result.reason.startswith("core 2 of the baseline is not here")


def test_a_baseline_of_other_things_is_learned_beside() -> None:
    result = decided(Node(), [{"core 7": 1.0}] * 20)
    assert (result.verdict, result.counts) == ("unsure", True)
    assert result.reason == "learning, gate 1 of 8"


def test_pairs_that_share_a_host_name_it() -> None:
    names = ("transfer n1 n3", "transfer n2 n3", "transfer n1 n2")
    random = np.random.default_rng(2)

    def seen(factor: float) -> dict[str, float]:
        noise = np.exp(0.005 * random.standard_normal(3))
        factors = (factor, factor, 1.0)
        return {name: a * b for name, a, b in zip(names, noise.tolist(), factors, strict=True)}

    node = Node(most=12)

    def look() -> Look:
        node.number += 1
        return Look(seen(2.0))

    result = Decision(look, [seen(1.0) for _ in range(20)], node.has_time, TOLERANCE).made()
    assert result.verdict == "no-go"
    assert result.reason.endswith(", and 1 more, each with n3")


def test_as_junit_a_slow_core_fails_and_an_unsure_one_is_skipped() -> None:
    slow = document(decided(Node(lambda number: 1.5)))
    assert [case.get("name") for case in slow.iter("testcase") if case.find("failure") is not None]
    assert (slow[0].get("failures"), slow[0].get("tests")) == ("1", "4")
    unsure = document(decided(Node(lambda number: 1.5, lambda number: 0.5)))
    assert (unsure[0].get("failures"), unsure[0].get("skipped")) == ("0", "1")
    learning = document(decided(Node(), []))
    assert (learning[0].get("tests"), learning[0].get("skipped")) == ("1", "1")


def document(result: Gate) -> xml.Element:
    content = junit(result.check(), name="gate", host="n1", started_s=0.0, time_s=1.0, strict=False)
    return xml.fromstring(content)


def test_medians_are_over_the_looks_that_have_a_time() -> None:
    looks = [Look({"a": 1.0}), Look({"a": 3.0, "b": 2.0}), Look({"a": 2.0})]
    assert medians(looks) == {"a": 2.0, "b": 2.0}
    assert medians([]) == {}
