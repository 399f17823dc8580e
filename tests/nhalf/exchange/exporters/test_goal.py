"""Schedules in GOAL: read as LogGOPSim's converter does, and carried out."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.exchange.exporters import ExportOptions
from nhalf.exchange.exporters.goal import SCHEDULES, Goal
from nhalf.facts.facts import Facts
from nhalf.machines.machine import Machine

FactsOf = Callable[[pl.LazyFrame], Facts]


@dataclass
class Operation:
    """One line of a rank, and what it waits for."""

    kind: str
    size_bytes: int
    peer: int
    after: list[str] = field(default_factory=list)


def parsed(text: str) -> list[dict[str, Operation]]:
    """The operations of every rank by label; fails on anything that txt2bin would not read."""
    lines = [line for line in text.splitlines() if line and not line.startswith("//")]
    count = int(re.fullmatch(r"num_ranks (\d+)", lines.pop(0))[1])  # type: ignore[index]
    ranks: list[dict[str, Operation]] = []
    for line in lines:
        if re.fullmatch(r"rank \d+ \{", line):
            assert line == f"rank {len(ranks)} {{"
            ranks.append({})
        elif found := re.fullmatch(r"(l\d+): (send|recv) (\d+)b (to|from) (\d+) tag 0", line):
            assert (found[2] == "send") == (found[4] == "to")
            assert int(found[5]) < count
            ranks[-1][found[1]] = Operation(found[2], int(found[3]), int(found[5]))
        elif found := re.fullmatch(r"(l\d+) requires (l\d+)", line):
            assert found[2] in ranks[-1]
            ranks[-1][found[1]].after.append(found[2])
        else:
            assert line == "}"
    assert len(ranks) == count
    return ranks


def carried_out(ranks: list[dict[str, Operation]]) -> list[tuple[int, set[int]]]:
    """When each rank is done, if a send takes 1 and nothing else does, and from which ranks it has
    heard; fails where anything waits for ever."""
    ends: list[dict[str, int]] = [{} for _ in ranks]
    heard = [{number} for number in range(len(ranks))]
    flying: dict[tuple[int, int], deque[tuple[int, set[int]]]] = defaultdict(deque)
    moved = True
    while moved:
        moved = False
        for number, operations in enumerate(ranks):
            for label, one in operations.items():
                if label in ends[number] or any(a not in ends[number] for a in one.after):
                    continue
                ready = max((ends[number][a] for a in one.after), default=0)
                if one.kind == "send":
                    flying[number, one.peer].append((ready + 1, set(heard[number])))
                    ends[number][label] = ready + 1
                elif flying[one.peer, number]:
                    arrives, knows = flying[one.peer, number].popleft()
                    heard[number] |= knows
                    ends[number][label] = max(ready, arrives)
                else:
                    continue
                moved = True
    assert [len(done) for done in ends] == [len(operations) for operations in ranks]
    assert not any(flying.values())
    return [(max(done.values(), default=0), known) for done, known in zip(ends, heard, strict=True)]


def schedule(pattern: str, ranks: int, size_bytes: int = 8) -> list[dict[str, Operation]]:
    return parsed(
        Goal(ExportOptions(pattern=pattern, ranks=ranks, size_bytes=size_bytes)).text(None)
    )


@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 7, 8, 12, 16, 33])
def test_schedules_do_what_they_are_called(ranks: int) -> None:
    rounds = (ranks - 1).bit_length()
    everyone = set(range(ranks))
    done = carried_out(schedule("bcast", ranks))
    assert all(0 in known for _, known in done)
    assert max(end for end, _ in done) == rounds
    assert sum(len(operations) for operations in schedule("bcast", ranks)) == 2 * (ranks - 1)
    done = carried_out(schedule("barrier", ranks))
    assert [known for _, known in done] == [everyone] * ranks
    assert {end for end, _ in done} == {rounds}
    for operations in schedule("barrier", ranks):
        # A round begins when both messages of the one before are done.
        assert [one.after for one in operations.values()] == [[], []] + [
            [f"l{2 * k + 1}", f"l{2 * k + 2}"] for k in range(rounds - 1) for _ in range(2)
        ]
    done = carried_out(schedule("ring", ranks))
    assert [end for end, _ in done] == [1] * ranks
    assert all({(number - 1) % ranks, number} <= known for number, (_, known) in enumerate(done))
    done = carried_out(schedule("pingpong", ranks))
    assert [end for end, _ in done] == [2, 2, *[0] * (ranks - 2)]


@pytest.mark.parametrize("pattern", list(SCHEDULES))
def test_sizes(pattern: str) -> None:
    def sizes(size_bytes: int) -> set[int]:
        ranks = schedule(pattern, 4, size_bytes)
        return {one.size_bytes for operations in ranks for one in operations.values()}

    assert sizes(4096) == ({1} if pattern == "barrier" else {4096})
    # Nothing of no bytes: LogGOPSim would take G (0 - 1).
    assert sizes(0) == {1}


def test_ranks_and_size_are_those_of_the_run(
    facts_of: FactsOf, make_measurements: Callable[..., pl.LazyFrame]
) -> None:
    rings = make_measurements(patterns=("ring",), sizes=(8, 64), ranks=6, launches=1, samples=1)
    others = make_measurements(patterns=("bcast",), sizes=(8, 512), ranks=9, launches=1, samples=1)
    facts = facts_of(pl.concat([rings, others]))
    ring = parsed(Goal(ExportOptions(pattern="ring")).text(facts))
    assert len(ring) == 6
    assert ring[0]["l1"].size_bytes == 64
    default = parsed(Goal().text(facts))
    assert len(default) == 9
    assert default[0]["l1"].size_bytes == 512
    assert len(default[2]) == 0
    asked = parsed(Goal(ExportOptions(pattern="ring", ranks=3, size_bytes=5)).text(facts))
    assert len(asked) == 3
    assert asked[0]["l1"].size_bytes == 5


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (ExportOptions(), "which size.*--bytes"),
        (ExportOptions(size_bytes=8), "how many ranks.*--ranks"),
        (ExportOptions(size_bytes=8, ranks=1), "for a rank count of 1;"),
        (ExportOptions(size_bytes=8, ranks=10**6), "for a rank count of 1000000"),
        (ExportOptions(pattern="rings"), "did you mean ring"),
    ],
)
def test_what_is_refused(asked: ExportOptions, words: str) -> None:
    for subject in (None, Machine(name="box")):
        with pytest.raises(InputError, match=words):
            Goal(asked).text(subject)
