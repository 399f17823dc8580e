"""The first line of a report on applications."""

from __future__ import annotations

from nhalf.present.verdict import UNDECIDED, application_verdict
from tests.nhalf.applied import Ran, applied


def test_the_winner_of_most_kernels_is_named_with_its_exception() -> None:
    said = application_verdict(
        applied(
            {
                Ran("cg", "mpich", 2): 4.0, Ran("cg", "openmpi", 2): 6.0,
                Ran("ep", "mpich", 2): 4.0, Ran("ep", "openmpi", 2): 4.4,
                Ran("lu", "mpich", 2): 5.0, Ran("lu", "openmpi", 2): 4.0,
            }
        )
    )  # fmt: skip
    assert said.startswith("Use MPICH on 2 ranks or threads: faster in cg.A, ep.A; cg.A is 1.50x")
    assert "Except in lu.A, where Open MPI is 1.25x as fast." in said
    assert said.endswith("Sure: all these intervals exclude a tie.")


def test_what_is_open_is_named() -> None:
    times_s = {("cg", "mpich"): 4.0, ("cg", "openmpi"): 6.0}
    times_s |= {("ft", "mpich"): 4.0, ("ft", "openmpi"): 4.0}
    facts = applied({Ran(*key, 2): time_s for key, time_s in times_s.items()})
    said = application_verdict(facts)
    assert said.endswith("Not sure against Open MPI in ft.A: the intervals leave it open.")


def test_it_is_about_the_most_ranks() -> None:
    times_s = {("mpich", 1): 4.0, ("openmpi", 1): 6.0, ("mpich", 4): 6.0, ("openmpi", 4): 4.0}
    facts = applied({Ran("cg", *key): time_s for key, time_s in times_s.items()})
    assert application_verdict(facts).startswith("Use Open MPI on 4 ranks or threads: faster in")


def test_equals_are_left_to_the_reader() -> None:
    same = {Ran("cg", "mpich", 2): 4.0, Ran("cg", "openmpi", 2): 4.0}
    assert application_verdict(applied(same)) == UNDECIDED


def test_alone_there_is_nothing_to_choose() -> None:
    assert application_verdict(applied({Ran("cg", "mpich", 2): 4.0})) == ""
