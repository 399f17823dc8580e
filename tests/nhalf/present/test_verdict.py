"""The first line of a report: whom to use, or that nobody is faster."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from nhalf.facts.contests import Exemption
from nhalf.facts.facts import Facts
from nhalf.present.findings.messages import FastestLibrary
from nhalf.present.verdict import BUSY, EQUAL, exception, undecided, verdict
from nhalf.statistics.intervals import Interval
from nhalf.store.run import Others

Make = Callable[..., pl.LazyFrame]
TITLES = {"a": "A MPI", "b": "B MPI"}


def test_the_faster_library_is_named(make_measurements: Make) -> None:
    measured = make_measurements(libraries=("a", "b"), slower={"a": 1.3}, launch_noise=0.005)
    said = verdict(Facts(measured, TITLES, {"run": {}}))
    assert said.startswith("Use B MPI: the fastest for all messages")
    assert said.endswith("Sure: all these intervals exclude a tie.")


def test_nobody_chooses_by_a_busy_machine(make_measurements: Make) -> None:
    measured = make_measurements(libraries=("a", "b"), slower={"a": 1.3}, launch_noise=0.005)
    launches = [Others("a", number, 2, 1.0, 2) for number in range(5)]
    busy = Facts(measured, TITLES, {"run": {}}, find_others=lambda: {"run": launches})
    assert verdict(busy) == BUSY


def test_a_tie_of_the_fastest_is_told(make_measurements: Make) -> None:
    names = ("a", "b", "c")
    measured = make_measurements(libraries=names, slower={"a": 1.3}, launch_noise=0.005)
    said = verdict(Facts(measured, {**TITLES, "c": "C MPI"}, {"run": {}}))
    assert "exclude a tie" not in said
    assert said.endswith("for all messages the fastest are too close to tell apart.")


def cliff_of_a(make_measurements: Make, at_large: dict[str, float]) -> Facts:
    """A leads up to 64 KiB, is level with B from there on, and far behind from 2 MiB."""

    def measured(sizes: list[int], slower: dict[str, float]) -> pl.LazyFrame:
        return make_measurements(
            libraries=("a", "b", "c"), sizes=sizes, slower=slower, launch_noise=0.002
        )

    sizes = [2**k for k in range(23)]
    parts = [
        measured(sizes[:17], {"b": 1.2, "c": 2.0}),
        measured(sizes[17:21], {**at_large, "c": 2.0}),
        measured(sizes[21:], {"a": 5.0, "c": 2.0}),
    ]
    return Facts(pl.concat(parts), {**TITLES, "c": "C MPI"}, {"run": {}})


def large_finding(facts: Facts) -> str:
    (found,) = (one for one in FastestLibrary().find(facts) if one.kind == "fastest-large")
    return found.text


def test_a_cliff_of_the_leader_makes_it_a_question_of_size(make_measurements: Make) -> None:
    facts = cliff_of_a(make_measurements, {"b": 1.015})
    said = verdict(facts)
    assert said.startswith(
        "Use A MPI: the fastest for small and medium messages (1 B to 64 KiB). For large ones"
    )
    assert "it depends on the size: in pingpong, 2 MiB to 4 MiB, B MPI is 5.0x as fast" in said
    assert "too close" not in said
    large = large_finding(facts)
    assert large.startswith("A MPI or B MPI is fastest for large messages (pingpong, 128 KiB to")
    assert "; which one depends on the size). " in large


def test_a_library_with_a_cliff_is_not_as_fast(make_measurements: Make) -> None:
    facts = cliff_of_a(make_measurements, {"a": 1.015})
    said = verdict(facts)
    assert "for large ones B MPI is up to 5.0x as fast as A MPI (pingpong, 2 MiB to 4 MiB)" in said
    assert "A MPI or" not in said
    large = large_finding(facts)
    assert large.startswith(
        "B MPI is fastest for large messages (128 KiB to 4 MiB). On average there, C MPI takes"
    )
    assert "A MPI is as fast at most sizes, but takes 5.0x as long at 2 MiB to 4 MiB." in large


def test_equal_libraries_are_not_told_apart(make_measurements: Make) -> None:
    measured = make_measurements(libraries=("a", "b"), seed=3)
    facts = Facts(measured, TITLES, {"run": {}})
    assert verdict(facts) == undecided(facts)
    assert verdict(facts).endswith(
        "take the one that you have. More launches would narrow the intervals."
    )


def test_collectives_decide_where_messages_do_not(make_measurements: Make) -> None:
    """A is twice as fast in bcast on 4 ranks, B in barriers."""
    equal = make_measurements(libraries=("a", "b"), seed=3)
    exact = {"libraries": ("a", "b"), "ranks": 4, "noise": 0.0, "launch_noise": 0.0}
    bcast = make_measurements(patterns=("bcast",), sizes=(8, 4096), slower={"b": 2.0}, **exact)
    barrier = make_measurements(patterns=("barrier",), sizes=(0,), slower={"a": 3.0}, **exact)
    both = verdict(Facts(pl.concat([equal, bcast, barrier]), TITLES, {"run": {}}))
    assert both == (
        f"{EQUAL}. In collectives A MPI is fastest in 2 cases, by up to 2.0x (bcast, 8 B, "
        "4 ranks), B MPI in 1."
    )
    alone = verdict(Facts(bcast, TITLES, {"run": {}}))
    assert (
        alone == "In collectives A MPI is fastest in 2 cases, by up to 2.0x (bcast, 8 B, 4 ranks)."
    )


def test_the_lead_in_collectives_is_that_over_the_next_library(make_measurements: Make) -> None:
    """In bcast A is ahead of B, and B of C; in barriers A and B tie, ahead of C."""
    exact = {"libraries": ("a", "b", "c"), "ranks": 4, "noise": 0.0, "launch_noise": 0.0}
    bcast = make_measurements(patterns=("bcast",), sizes=(8,), slower={"b": 1.5, "c": 3.0}, **exact)
    barrier = make_measurements(patterns=("barrier",), sizes=(0,), slower={"c": 5.0}, **exact)
    assert verdict(Facts(pl.concat([bcast, barrier]), TITLES, {"run": {}})) == (
        "In collectives A MPI is fastest in 1 case, by up to 1.50x (bcast, 8 B, 4 ranks), "
        "A MPI or B MPI in 1."
    )


def test_one_library_needs_no_choice(make_measurements: Make) -> None:
    assert verdict(Facts(make_measurements(libraries=("a",)), TITLES, {"run": {}})) == ""


def test_one_exception_is_no_plural() -> None:
    one = Exemption("stream", 2048, 8192, "A MPI", Interval(1.5, 1.4, 1.6))
    assert exception(one, 0) == "Except in stream, 2 KiB to 8 KiB, where A MPI is 1.50x as fast."
    assert exception(one, 1).endswith("as fast, and 1 more exception in the findings.")
    assert exception(one, 2).endswith("as fast, and 2 more exceptions in the findings.")


def test_ties_elsewhere_are_named_with_the_praise(make_measurements: Make) -> None:
    """A alone is fastest for medium messages; others are as fast for small and large ones."""
    names = ("a", "b", "c")
    measured = make_measurements(libraries=names, slower={"b": 1.3, "c": 1.3}, launch_noise=0.005)
    time = pl.col("samples_s").list.eval(pl.element() / 1.3)
    ties = [
        (pl.col("mpi") == mpi) & pl.col("bytes").is_between(low, high)
        for mpi, low, high in (("b", 0, 1024), ("c", 65537, 2**40))
    ]
    alike = measured.with_columns(
        samples_s=pl.when(ties[0] | ties[1]).then(time).otherwise("samples_s")
    )
    said = verdict(Facts(alike, {**TITLES, "c": "C MPI"}, {"run": {}}))
    assert said.startswith("Use A MPI: the fastest for medium messages"), said
    assert "not beaten elsewhere (small: B MPI as fast; large: C MPI as fast)" in said
    assert "too close" not in said
