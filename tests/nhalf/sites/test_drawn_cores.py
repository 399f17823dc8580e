"""Cores of the same kind, drawn on made-up machines."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from nhalf.sites.drawn_cores import draw_of, drawn_cores

PER_CACHE, PER_NODE = 4, 8


def write(path: Path, text: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n")


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """Two sockets of two nodes, each of two caches of four cores: 32 cores, and as many second
    threads; the last cache of each socket has slower cores.
    """
    folder = tmp_path / "cpu"
    for cpu in range(64):
        core = cpu % 32
        of_cache = core // PER_CACHE * PER_CACHE
        threads = [of_cache + i + second for i in range(PER_CACHE) for second in (0, 32)]
        own = folder / f"cpu{cpu}"
        write(own / "topology" / "thread_siblings_list", f"{core},{core + 32}")
        write(own / "topology" / "core_siblings_list", f"socket {core // 16}")
        write(own / "cache" / "index3" / "level", 3)
        write(own / "cache" / "index3" / "shared_cpu_list", ",".join(map(str, threads)))
        write(own / "cpu_capacity", 512 if core % 16 >= 12 else 1024)
        (own / f"node{core // PER_NODE}").mkdir()
    for node, distances in enumerate(["10 12 32 32", "12 10 32 21", "32 32 10 12", "32 21 12 10"]):
        write(tmp_path / "node" / f"node{node}" / "distance", distances)
    return folder


def drawn(
    chosen: list[int], sysfs: Path, allowed: range | list[int] = range(64), draws: int = 60
) -> list[list[int]]:
    """Many draws for ranks bound to the first threads of these cores."""
    places = [{core} for core in chosen]
    return [drawn_cores(places, allowed, f"1 {number}", sysfs) for number in range(draws)]


def test_two_that_share_a_cache_go_wherever_two_do(sysfs: Path) -> None:
    pairs = drawn([0, 1], sysfs)
    assert all(a // PER_CACHE == b // PER_CACHE and a != b for a, b in pairs)
    assert {a // PER_CACHE for a, _ in pairs} == {0, 1, 2, 4, 5, 6}
    assert {a > b for a, b in pairs} == {True, False}


def test_slower_cores_are_not_taken_for_others(sysfs: Path) -> None:
    assert all({a // PER_CACHE, b // PER_CACHE} <= {3, 7} for a, b in drawn([12, 13], sysfs))


@pytest.mark.parametrize(
    ("chosen", "nodes"),
    [
        ([0, 8], {(0, 1), (1, 0), (2, 3), (3, 2)}),
        ([8, 24], {(1, 3), (3, 1)}),
        ([0, 16], {(0, 2), (2, 0), (0, 3), (3, 0), (1, 2), (2, 1)}),
    ],
    ids=["in a socket", "near sockets", "far sockets"],
)
def test_memory_is_as_far_as_before(
    chosen: list[int], nodes: set[tuple[int, int]], sysfs: Path
) -> None:
    assert {(a // PER_NODE, b // PER_NODE) for a, b in drawn(chosen, sysfs)} == nodes


def test_a_full_machine_changes_its_order_alone(sysfs: Path) -> None:
    order = list(range(32))
    for cores in drawn(order, sysfs, draws=5):
        assert sorted(cores) == order
        assert cores != order
        assert len({cores[rank] // PER_CACHE for rank in range(PER_CACHE)}) == 1


def test_a_seed_repeats_its_draw(sysfs: Path) -> None:
    assert drawn([0, 5], sysfs) == drawn([0, 5], sysfs)


def test_only_what_may_be_used_is(sysfs: Path) -> None:
    pairs = drawn([0, 1], sysfs, [0, 1, 2, 9, 42])
    assert {core for pair in pairs for core in pair} == {0, 1, 2, 9, 42}
    assert all(pair == [] for pair in drawn([0, 1], sysfs, [2, 3]))


def test_ranks_bound_to_whole_cores_are_bound_to_a_thread_of_each(sysfs: Path) -> None:
    cores = drawn_cores([{0, 32}, {1, 33}], range(64), "1", sysfs)
    assert len({core % 32 for core in cores}) == 2


@pytest.mark.parametrize(
    "chosen",
    [[{0, 1}, {2}], [{0}, {0}], [{0}, {32}], [set(), set()], [{0}, {99}], []],
    ids=["free", "one core", "threads of a core", "unknown", "elsewhere", "nobody"],
)
def test_who_is_not_bound_to_a_core_stays(chosen: list[set[int]], sysfs: Path) -> None:
    assert drawn_cores(chosen, range(64), "1", sysfs) == []


def test_an_unknown_machine_keeps_its_cores(tmp_path: Path) -> None:
    assert drawn_cores([{0}, {1}], range(8), "1", tmp_path) == []


def test_each_draw_serves_two_launches_that_are_apart() -> None:
    draws = [draw_of(launch) for launch in range(12)]
    assert draws == [0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5]
    assert set(Counter(draws).values()) == {2}
