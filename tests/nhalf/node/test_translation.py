"""How many pages a core knows, and what it costs where it does not, from timing alone."""

from typing import Any, cast

import pytest

from nhalf.node.measuring import CoreProbe, ask
from nhalf.node.reading import Reading
from nhalf.node.translation import PageSizes, page_sizes, reaches, tables
from tests.nhalf.node.synthetic_core import CYCLE_S, SyntheticCore


def asked(launches: int = 2, first: int = 0, **changes: Any) -> list[Reading]:
    found: list[Reading] = []
    for launch in range(first, first + launches):
        core = SyntheticCore(launch=launch, seed=launch + 1, **changes)
        ask(cast("CoreProbe", core))
        found += core.readings
    return found


@pytest.mark.parametrize("held", [(64, 1536), (96, 2048), (72, 3072)])
def test_tables_of_pages_are_seen(held: tuple[int, int]) -> None:
    seen = tables(asked(pages=held))
    found = seen.reaches
    assert seen.unresolved == ""
    assert [one.level for one in found] == [1, 2]
    for one, pages, cycles in zip(found, held, (7.0, 40.0), strict=True):
        assert one.pages <= pages < one.pages_beyond <= 1.26 * one.pages
        assert one.miss_cycles == pytest.approx(cycles, rel=0.1)
        assert one.miss_s == pytest.approx(cycles * CYCLE_S, rel=0.1)


def test_no_step_is_no_table() -> None:
    assert reaches(asked(page_cycles=(0.0, 0.0))) == []
    assert tables(asked(page_cycles=(0.0, 0.0))).unresolved == "TLB: no step up to 8192 pages"
    assert tables([]).reaches == ()


def test_a_neighbour_that_takes_pages_makes_it_say_so() -> None:
    gradual = tables(asked(pages=(96, 2048), pages_taken_share=0.6))
    assert [one.level for one in gradual.reaches] == [1]
    assert gradual.reaches[0].pages <= 96 < gradual.reaches[0].pages_beyond
    assert gradual.unresolved.startswith("TLB 2: loads become slower gradually between")


def test_launches_that_disagree_are_no_table() -> None:
    found = asked(pages=(96, 2048), launches=1) + asked(pages=(40, 2048), launches=1, first=1)
    assert tables(found).unresolved.startswith("TLB 1: launches disagree about a step between")
    assert tables(found).reaches == ()


def test_looks_at_a_shared_core_only_are_no_table() -> None:
    assert "other programs had the core" in tables(asked(alone_share=0.01)).unresolved
    assert tables(asked(alone_share=0.5)).unresolved == ""


def test_small_pages_cost_what_they_do() -> None:
    found = page_sizes(asked())
    assert found is not None
    assert found.size_bytes == 32 << 20
    misses_s = (7 * (1 - 64 / 8192) + 40 * (1 - 1536 / 8192)) * CYCLE_S
    assert found.small_s - found.huge_s == pytest.approx(misses_s, rel=0.1)
    assert page_sizes([]) is None


def test_a_system_may_give_no_huge_pages() -> None:
    assert PageSizes(1 << 20, 1e-9, 1e-9, None).is_huge
    assert not PageSizes(1 << 20, 1e-9, 1e-9, 0.5).is_huge
