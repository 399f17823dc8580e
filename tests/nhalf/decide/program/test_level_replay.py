# SPDX-License-Identifier: Apache-2.0
"""Replays of many machines at once take the times of a replay step by step."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from nhalf.decide.program.actor_state import Spent
from nhalf.decide.program.costs import MachineCosts
from nhalf.decide.program.event_graph import event_graph, levels_min
from nhalf.decide.program.ideal_costs import IdealCosts
from nhalf.decide.program.level_replay import LevelReplay, Variant
from nhalf.decide.program.replay import Replay
from nhalf.decide.program.replays import replays
from nhalf.decide.program.traced_costs import TracedCosts
from nhalf.facts.program.program import Program
from nhalf.facts.program.script import Script, script
from nhalf.machines.message import Messages
from tests.nhalf.decide.program.known_programs import (
    RENDEZVOUS_BYTES,
    call,
    machine,
    model_of,
    with_counts,
)

CALLED = ("MPI_Barrier", "MPI_Allreduce", "MPI_Bcast", "MPI_Reduce", "MPI_Gather", "MPI_Scatter")
PATTERNS = tuple(
    model_of(name, 1e-3 * place) for place, name in enumerate(("barrier", "allreduce", "bcast"), 1)
)


def drawn(seed: int, ranks: int = 4, rounds: int = 30) -> Program:
    """A program of messages and operations, in an order and with times at random."""
    draw = random.Random(seed)
    clocks_s = [draw.random() * 1e-3 for _ in range(ranks)]
    rows: list[dict[str, Any]] = []

    def take(name: str, kind: str, rank: int, partner: int, size_bytes: int = 0) -> None:
        begin_s = clocks_s[rank] + draw.expovariate(1e3)
        clocks_s[rank] = begin_s + draw.expovariate(1e4)
        span = (begin_s, clocks_s[rank])
        rows.append(call(name, kind, rank, partner, span, size_bytes=size_bytes))

    for _ in range(rounds):
        if draw.random() < 0.4:
            name, root = draw.choice(CALLED), draw.randrange(ranks)
            for rank in range(ranks):
                take(name, "collective", rank, root, draw.choice((0, 8, 1000)))
        elif draw.random() < 0.5:
            source, target = draw.sample(range(ranks), 2)
            size_bytes = draw.choice((0, 100, 20000))
            take("MPI_Send", "sent", source, target, size_bytes)
            clocks_s[target] = max(clocks_s[source], clocks_s[target])
            take("MPI_Recv", "received", target, source, size_bytes)
        else:
            target = draw.randrange(ranks)
            sources = [rank for rank in range(ranks) if rank != target and draw.random() < 0.7]
            begin_s = clocks_s[target]
            for source in sources:
                take("MPI_Isend", "sent", source, target, 100 * source)
                take("MPI_Wait", "waiting", source, -2)
            clocks_s[target] = max(clocks_s)
            take("MPI_Waitall", "waiting", target, -2)
            span = (begin_s, clocks_s[target])
            rows += [
                call("MPI_Irecv", "received", target, source, span, size_bytes=100 * source)
                for source in sources
            ]
    return with_counts(rows, ranks, max(clocks_s))


def variants(made: Program) -> list[Variant]:
    """Costs of all kinds."""
    on = Messages(machine(2.0, PATTERNS))
    return [
        (IdealCosts(), 1.0),
        (TracedCosts(made), 0.5),
        (MachineCosts(on, made.hosts), 1.0),
        (MachineCosts(on, tuple("aabb"), guess_ratio=2.0), 3.0),
    ]


def step_by_step(of: Script, some: Sequence[Variant]) -> list[list[Spent]]:
    return [Replay(of, costs, computing).run() for costs, computing in some]


def assert_same(at_once: Sequence[Sequence[Spent]], each: Sequence[Sequence[Spent]]) -> None:
    for actors, expected in zip(at_once, each, strict=True):
        whole_s = max(actor.end_s for actor in expected)
        for actor, other in zip(actors, expected, strict=True):
            for name in ("end_s", "computing_s", "messages_s", "collectives_s", "waiting_s"):
                difference_s = getattr(actor, name) - getattr(other, name)
                assert abs(difference_s) <= 1e-12 * whole_s, name


@pytest.mark.parametrize("seed", range(6))
def test_times_are_those_of_a_replay_step_by_step(seed: int) -> None:
    made = drawn(seed, ranks=4, rounds=60)
    graph, some = event_graph(script(made)), variants(made)
    assert graph is not None
    assert len({batch.count for batch in graph.batches}) > 2
    assert_same(LevelReplay(script(made), graph, some).run(), step_by_step(script(made), some))


def test_each_level_comes_after_what_it_needs() -> None:
    graph = event_graph(script(drawn(1)))
    assert graph is not None
    for batch in graph.batches:
        needed = graph.needs[batch.needs : batch.needs + batch.count * (batch.end - batch.begin)]
        assert max(needed) < batch.begin
        assert max(graph.before[batch.begin : batch.end]) < batch.begin
    assert len({batch.begin for batch in graph.batches}) >= levels_min(script(drawn(1)))


def test_ranks_without_calls_only_compute() -> None:
    made = with_counts([call("MPI_Bcast", "collective", 0, 0, (0.5, 0.6))], 3, 1.0)
    graph, some = event_graph(script(made)), [(IdealCosts(), 2.0)]
    assert graph is not None
    (spent,) = LevelReplay(script(made), graph, some).run()
    assert_same([spent], step_by_step(script(made), some))
    assert spent[2].end_s == pytest.approx(2.0)


def test_many_messages_at_once_are_received_in_the_order_in_which_they_come() -> None:
    """Ranks 1 to 3 send after 1 ms, 3 ms and 2 ms what takes 1, 5 and 3 ms to receive."""
    rows = [
        call("MPI_Isend", "sent", rank, 0, (after_s, after_s), size_bytes=size_bytes)
        for rank, after_s, size_bytes in ((1, 1e-3, 1000), (2, 3e-3, 9000), (3, 2e-3, 5000))
    ]
    rows += [
        call("MPI_Irecv", "received", 0, row["rank"], (0.0, 0.02), size_bytes=row["size_bytes"])
        for row in rows
    ]
    rows.append(call("MPI_Waitall", "waiting", 0, -2, (1e-3, 0.02)))
    made = with_counts(rows, 4, 0.02)
    graph, some = event_graph(script(made)), [(MachineCosts(Messages(machine()), made.hosts), 1.0)]
    assert graph is not None
    (spent,) = LevelReplay(script(made), graph, some).run()
    # The messages are there after 3, 8 and 13 ms; the last one takes 5 ms of the receiver.
    assert spent[0].messages_s == pytest.approx(1e-3 + 3e-3 + 5e-3)
    assert spent[0].end_s == pytest.approx(13e-3)
    assert_same([spent], step_by_step(script(made), some))


def test_what_depends_on_times_is_replayed_step_by_step() -> None:
    begun = [call("MPI_Ibarrier", "collective", rank, -2, (0.0, 0.1)) for rank in (0, 1)]
    begun += [call("MPI_Wait", "waiting", rank, -2, (0.2, 0.3)) for rank in (0, 1)]
    stuck = [call("MPI_Recv", "received", rank, 1 - rank, (0.0, 0.1)) for rank in (0, 1)]
    stuck += [call("MPI_Send", "sent", rank, 1 - rank, (0.2, 0.3)) for rank in (0, 1)]
    for rows in (begun, stuck):
        made = with_counts(rows, 2, 0.5)
        assert event_graph(script(made)) is None
        some = [(MachineCosts(Messages(machine()), made.hosts), 1.0)] * 10
        assert_same([spent for spent, _ in replays(made, some)], step_by_step(script(made), some))


def test_a_send_that_waits_for_its_receive_is_replayed_step_by_step() -> None:
    rows = [
        call("MPI_Send", "sent", 0, 1, (0.0, 0.1), size_bytes=RENDEZVOUS_BYTES),
        call("MPI_Recv", "received", 1, 0, (1.0, 1.1), size_bytes=RENDEZVOUS_BYTES),
    ]
    made = with_counts(rows, 2, 1.1)
    costs = MachineCosts(Messages(machine()), made.hosts)
    some = [(costs, 1.0)] * 10
    assert_same([spent for spent, _ in replays(made, some)], step_by_step(script(made), some))


def test_others_that_had_a_processor_count_neither_way() -> None:
    made = drawn(3)
    longer = [replace(actor, before_s=[2 * one for one in actor.before_s], after_s=1.0)
              for actor in script(made).actors]  # fmt: skip
    slower = replace(script(made), actors=longer)
    graph, some = event_graph(slower), variants(made)
    assert graph is not None
    assert_same(LevelReplay(slower, graph, some).run(), step_by_step(slower, some))
