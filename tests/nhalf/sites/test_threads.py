"""Threads of OpenMP programs are bound as ranks are, unless the user decided otherwise."""

from __future__ import annotations

import pytest

from nhalf.sites import threads
from nhalf.sites.threads import bound_threads


@pytest.fixture(autouse=True)
def _four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two caches with two cores each, of which each has a second hardware thread."""
    monkeypatch.setattr(threads, "last_level_caches", lambda _allowed: [[0, 1], [4, 5]])
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
