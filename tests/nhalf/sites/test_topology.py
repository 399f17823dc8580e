"""Cores by their caches, from a made-up sysfs."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.sites.topology import last_level_caches, parse_cpu_list


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
