from __future__ import annotations

from nhalf.facts.causes import CoreCache, caches
from nhalf.sites.environment import environment


def test_the_caches_of_this_machine_are_recorded_and_read_again() -> None:
    recorded = environment()
    found = caches(recorded)
    assert len(found) == len(recorded["caches"])
    assert found == sorted(found, key=lambda cache: cache.size_bytes)
    assert all(cache.size_bytes >= 2**10 for cache in found)


def test_runs_without_them_have_none() -> None:
    assert caches({}) == []
    assert caches({"caches": {"L2_bytes": 2048, "L1_bytes": 1024}}) == [
        CoreCache("L1", 1024),
        CoreCache("L2", 2048),
    ]
