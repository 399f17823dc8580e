"""Sentences about applications, of runs whose times are known."""

from __future__ import annotations

from nhalf.present.findings.applications import ApplicationParts, Applications, ApplicationSpeedup
from tests.nhalf.applied import Ran, applied


def test_who_is_faster_is_told_with_the_kernel_that_shows_it_most() -> None:
    facts = applied(
        {
            Ran("cg", "mpich", 2): 4.0, Ran("cg", "openmpi", 2): 6.0,
            Ran("ep", "mpich", 2): 4.0, Ran("ep", "openmpi", 2): 4.4,
            Ran("ft", "mpich", 2): 4.0, Ran("ft", "openmpi", 2): 4.0,
        }
    )  # fmt: skip
    (found,) = Applications().find(facts)
    assert found.text.startswith("MPICH runs cg.A 1.50x as fast as Open MPI, on 2 ranks")
    assert found.text.endswith("Also faster in ep.A.")
    assert found.low <= 1.5 <= found.high
    assert found.pattern == "npb-cg"


def test_shapes_are_told_apart() -> None:
    facts = applied(
        {Ran("cg", workers=8, placement="1x8"): 6.0, Ran("cg", workers=8, placement="8x1"): 4.0}
    )
    (found,) = Applications().find(facts)
    assert found.text.startswith("8x1 runs cg.A 1.50x as fast as 1x8, MPICH, 8 ranks")
    assert found.kind == "application-shape"


def test_one_winner_on_several_numbers_of_ranks_is_one_finding() -> None:
    runs = {Ran("cg", "mpich", workers): 4.0 for workers in (1, 2, 4)}
    slower = {1: 4.8, 2: 6.0, 4: 5.2}
    runs |= {Ran("cg", "openmpi", workers): time_s for workers, time_s in slower.items()}
    (found,) = Applications().find(applied(runs))
    assert found.text.startswith("MPICH runs cg.A 1.50x as fast as Open MPI, on 2 ranks or threads")
    assert found.text.endswith(
        " Likewise on 4 ranks or threads (cg.A 1.30x), on 1 rank or thread (cg.A 1.20x)."
    )


def test_who_wins_here_and_loses_there_is_two_findings() -> None:
    times_s = {("mpich", 1): 4.0, ("openmpi", 1): 6.0, ("mpich", 2): 6.0, ("openmpi", 2): 4.0}
    found = Applications().find(
        applied({Ran("cg", *key): time_s for key, time_s in times_s.items()})
    )
    assert [one.text.split(",")[0] for one in found] == [
        "MPICH runs cg.A 1.50x as fast as Open MPI",
        "Open MPI runs cg.A 1.50x as fast as MPICH",
    ]


def test_equals_and_single_launches_are_no_finding() -> None:
    same = {Ran("cg", "mpich", 2): 4.0, Ran("cg", "openmpi", 2): 4.0}
    assert list(Applications().find(applied(same))) == []
    other = {Ran("cg", "mpich", 2): 4.0, Ran("cg", "openmpi", 2): 6.0}
    assert list(Applications().find(applied(other, launches=1))) == []


def test_the_best_and_the_worst_speedup_are_told() -> None:
    facts = applied(
        {
            Ran("ep", workers=1): 8.0, Ran("ep", workers=4): 2.0, Ran("cg", workers=1): 8.0,
            Ran("cg", workers=4): 5.0,
        }
    )  # fmt: skip
    (found,) = ApplicationSpeedup().find(facts)
    assert "from 1 to 4 ranks or threads: ep.A is 4.0x as fast" in found.text
    assert "cg.A 1.60x" in found.text
    assert found.low <= 1.6 <= found.high


def test_an_exchanged_part_is_told_where_it_matters_and_where_it_does_not() -> None:
    facts = applied(
        {
            Ran("cg", "mpich", 2): 4.0, Ran("cg", "mpich+tournament", 2): 2.0,
            Ran("ep", "mpich", 2): 4.0, Ran("ep", "mpich+tournament", 2): 4.0,
            Ran("is", "mpich", 2): 4.0, Ran("is", "mpich+tournament", 2): 5.0,
        }
    )  # fmt: skip
    faster, slower, same = ApplicationParts().find(facts)
    assert faster.text.startswith("MPICH, 2 ranks: with tournament, cg.A is 2.0x as fast as")
    assert "is.A is 1.25x as slow as" in slower.text
    assert "changes ep.A by less than 3 %" in same.text
