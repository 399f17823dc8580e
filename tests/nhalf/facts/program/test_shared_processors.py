"""Ranks on fewer processors than they are, and what is said of them."""

from __future__ import annotations

import pytest

from nhalf.facts.program.program import Program
from nhalf.facts.program.shared_processors import SharedProcessors, shared_processors
from nhalf.present.findings import findings
from nhalf.present.program.others import listed, sharing_lines
from tests.nhalf.traced_programs import program


def bound(*processors: str, hosts: int = 1) -> Program:
    """A program whose ranks may run on these processors of their hosts, e.g. '01'."""
    made = program(len(processors), hosts=hosts)
    for record, own in zip(made.trace.ranks, processors, strict=True):
        record.processors = tuple(int(digit) for digit in own)
    return made


@pytest.mark.parametrize(
    "processors",
    [(), ("",), ("", "", ""), ("0",), ("0", "1"), ("01", "01"), ("01", "12", "20"), ("0", "01")],
)
def test_ranks_with_processors_enough_share_none(processors: tuple[str, ...]) -> None:
    assert shared_processors(bound(*processors)) == ()
    assert list(sharing_lines(bound(*processors))) == []


@pytest.mark.parametrize(
    ("processors", "on", "ranks"),
    [
        (("0", "0"), (0,), (0, 1)),
        (("01", "01", "01"), (0, 1), (0, 1, 2)),
        (("3", "0123", "3"), (3,), (0, 2)),
        (("0", "01", "1"), (0, 1), (0, 1, 2)),
        (("01", "01", "12", "12"), (0, 1, 2), (0, 1, 2, 3)),
    ],
)
def test_ranks_without_share_what_they_have(
    processors: tuple[str, ...], on: tuple[int, ...], ranks: tuple[int, ...]
) -> None:
    shared = SharedProcessors("node0", on, ranks, len(ranks))
    assert shared_processors(bound(*processors)) == (shared,)


def test_threads_that_run_count_each() -> None:
    assert shared_processors(bound("01", "01")) == ()
    made = bound("01", "01")
    for record in made.trace.ranks:
        record.threads_running = 4
    (shared,) = shared_processors(made)
    assert (shared.threads, shared.threads_each, shared.ranks) == (8, 4.0, (0, 1))
    assert list(sharing_lines(made)) == [
        "Oversubscribed: 8 threads of 2 ranks (0, 1) share 2 processors of node0 (processors 0, 1)."
    ]
    single = bound("0")
    single.trace.ranks[0].threads_running = 2
    assert next(iter(sharing_lines(single))).startswith("Oversubscribed: 2 threads of 1 rank (0) ")


def test_processors_of_hosts_are_their_own() -> None:
    assert shared_processors(bound("0", "0", hosts=2)) == ()
    both = shared_processors(bound("0", "1", "0", "1", "2", "1", hosts=2))
    assert [(each.host, each.processors, each.ranks) for each in both] == [
        ("node1", (1,), (1, 3, 5)),
        ("node0", (0,), (0, 2)),
    ]


def test_it_is_the_first_thing_to_know() -> None:
    made = bound("0", "0", "0", "1", hosts=1)
    text = "Oversubscribed: 3 ranks (0-2) share 1 processor of node0 (processor 0)."
    assert list(sharing_lines(made)) == [text]
    assert findings(made)[0].text == text
    twice = bound("0", "0", "3", "3", "01234567")
    assert "; so it is in 1 more place." in next(iter(sharing_lines(twice)))


def test_numbers_in_a_row_are_joined() -> None:
    assert listed([]) == ""
    assert listed([5]) == "5"
    assert listed([0, 1, 3, 4, 5, 9]) == "0, 1, 3-5, 9"
