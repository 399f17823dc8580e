"""A traced program for Perfetto and LogGOPSim: every message has both ends, everything nests."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import InputError
from nhalf.exchange.exporters import ExportOptions
from nhalf.exchange.exporters.chrome import Chrome
from nhalf.exchange.exporters.goal import Goal
from nhalf.exchange.program.replay_actions import binomial
from nhalf.facts.program.program import Program
from tests.nhalf.traced_programs import program, stored
from tests.server import Ended

COLLECTIVES = ("Barrier", "Bcast", "Reduce", "Allreduce", "Alltoall", "Gather", "Scatter", "Scan")


def rows(ranks: int) -> Iterator[dict[str, Any]]:
    """A halo exchange on a ring, begun before and waited for, then every kind of collective."""
    for rank in range(ranks):
        left, right = (rank - 1) % ranks, (rank + 1) % ranks
        usual = {"rank": rank, "tag": 3, "size_bytes": 100}
        received = {"call": "MPI_Irecv", "kind": "received", "start_s": 0.1, "end_s": 0.5}
        yield {**usual, **received, "partner": left}
        sent = {"call": "MPI_Send", "kind": "sent", "start_s": 0.2, "end_s": 0.3}
        yield {**usual, **sent, "partner": right}
        waited = {"call": "MPI_Wait", "kind": "waiting", "start_s": 0.4, "end_s": 0.5}
        yield {**usual, **waited, "partner": -2}
        for number, name in enumerate(COLLECTIVES):
            root = 1 if name in ("Bcast", "Reduce", "Gather", "Scatter") else -2
            span = {"start_s": 1.0 + number, "end_s": 1.5 + number, "size_bytes": 64}
            kind = {"call": f"MPI_{name}", "kind": "collective", "partner": root}
            yield {"rank": rank, **kind, **span}


def example(ranks: int) -> Program:
    return program(ranks, timeline=rows(ranks), elapsed_s=10.0)


def test_every_call_is_a_slice_and_every_message_a_flow() -> None:
    events = json.loads(Chrome().text(example(3)))["traceEvents"]
    kinds = Counter(event["ph"] for event in events)
    assert kinds == {"M": 6, "X": 3 * (2 + len(COLLECTIVES)), "s": 3, "f": 3}
    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    for end in (event for event in events if event["ph"] == "f"):
        assert end["ts"] > starts[end["id"]]["ts"]
        assert end["pid"] == (starts[end["id"]]["pid"] + 1) % 3
        # It ends in the wait that completed it.
        inside = [
            event
            for event in events
            if event["ph"] == "X" and event["pid"] == end["pid"]
            if event["ts"] <= end["ts"] <= event["ts"] + event["dur"]
        ]
        assert [event["name"] for event in inside] == ["MPI_Wait"]


def test_slices_of_a_thread_nest() -> None:
    events = json.loads(Chrome().text(example(4)))["traceEvents"]
    for rank in range(4):
        spans = sorted(
            (event["ts"], event["ts"] + event["dur"])
            for event in events
            if event["ph"] == "X" and event["pid"] == rank
        )
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))


def test_counts_become_counters() -> None:
    bins = [{"kind": "sent", "start_s": 0.0, "width_s": 0.5, "bytes": 7, "rank": 1}]
    events = json.loads(Chrome().text(program(2, bins=bins)))["traceEvents"]
    counted = [(e["ts"], e["args"]["bytes"]) for e in events if e["ph"] == "C"]
    assert counted == [(0.0, 7), (500000.0, 0)]


@pytest.mark.parametrize("ranks", [2, 3, 4, 7, 8])
def test_a_schedule_has_both_ends_of_every_message(ranks: int) -> None:
    text = Goal().text(example(ranks))
    assert f"num_ranks {ranks}\n" in text
    sent: Counter[tuple[str, ...]] = Counter()
    taken: Counter[tuple[str, ...]] = Counter()
    for rank, body in re.findall(r"rank (\d+) \{\n(.*?)\}", text, flags=re.S):
        labels = re.findall(r"^l(\d+):", body, flags=re.M)
        assert labels == [str(number + 1) for number in range(len(labels))]
        for label, needed in re.findall(r"^l(\d+) requires l(\d+)", body, flags=re.M):
            assert int(needed) < int(label)
        for size, target, tag in re.findall(r"send (\d+)b to (\d+) tag (\d+)", body):
            sent[rank, target, size, tag] += 1
        for size, source, tag in re.findall(r"recv (\d+)b from (\d+) tag (\d+)", body):
            taken[source, rank, size, tag] += 1
    assert sent == taken
    assert sum(sent.values()) > ranks


def test_what_follows_a_wait_requires_its_receive() -> None:
    body = Goal().text(example(2)).split("rank 0 {")[1].splitlines()
    receive = next(line.split(":")[0] for line in body if "recv 100b" in line)
    assert any(line.endswith(f"requires {receive}") for line in body)
    send = next(line.split(":")[0] for line in body if "send 100b" in line)
    assert f"{send} requires {receive}" not in body


def test_threads_have_cpus_and_labels_of_their_own() -> None:
    made = example(2)
    second = made.timeline.with_columns(thread=made.timeline["thread"] + 1)
    both = Program(
        *(made.path, made.trace, made.calls, made.bins),
        made.timeline.extend(second.filter(second["kind"] == "sent")),
        made.communicators,
    )
    text = Goal().text(both)
    assert "t1l1: calc 200000000 cpu 1\n" in text  # up to its send, which nobody receives


@pytest.mark.parametrize("count", [1, 2, 5, 8, 13])
def test_trees_reach_everybody_once(count: int) -> None:
    parents = {place: binomial(place, count)[0] for place in range(count)}
    children = [child for place in range(count) for child in binomial(place, count)[1]]
    assert sorted(children) == list(range(1, count))
    assert all(place in binomial(parents[place] or 0, count)[1] for place in range(1, count))


def test_counts_have_no_schedule() -> None:
    with pytest.raises(InputError, match="timeline"):
        Goal().text(program(2))
    with pytest.raises(InputError, match="its own messages"):
        Goal(ExportOptions(pattern="ring")).text(example(2))
    with pytest.raises(InputError, match="traced program"):
        Chrome().text(None)


def test_the_command_exports_a_trace(tmp_path: Path, call: Callable[..., Ended]) -> None:
    run = stored(example(4), tmp_path / "run")
    assert "num_ranks 4" in call("export", run, "--to", "goal").out
    assert json.loads(call("export", run, "--to", "chrome").out)["displayTimeUnit"] == "ns"
    for form in ("simgrid", "extrap", "loggopsim-params", "reframe"):
        call("export", run, "--to", form).is_error(2, "needs")
