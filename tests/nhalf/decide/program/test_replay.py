"""A replay's answers repeat themselves, and are those of programs that are known by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nhalf.decide.program.basis import IdealCosts
from nhalf.decide.program.costs import MachineCosts
from nhalf.decide.program.replay import replay, replays
from nhalf.facts.program.script import script
from nhalf.machines.message import Messages
from tests.nhalf.decide.program.known_programs import (
    RENDEZVOUS_BYTES,
    call,
    machine,
    message_s,
    ping_pong,
    with_counts,
)


def test_ranks_without_calls_only_compute() -> None:
    made = with_counts([call("MPI_Bcast", "collective", 0, 0, (0.5, 0.6))], 3, 1.0)
    spent = replay(script(made), IdealCosts(), 2.0).spent
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
    spent = replay(script(made), MachineCosts(Messages(machine()), made.hosts)).spent
    # The messages are there after 3, 8 and 13 ms; the last one takes 5 ms of the receiver.
    assert spent[0].messages_s == pytest.approx(1e-3 + 3e-3 + 5e-3)
    assert spent[0].end_s == pytest.approx(13e-3)


def test_ranks_that_wait_for_each_other_go_on_after_the_measured_time() -> None:
    rows = [call("MPI_Recv", "received", rank, 1 - rank, (0.0, 0.1)) for rank in (0, 1)]
    rows += [call("MPI_Send", "sent", rank, 1 - rank, (0.2, 0.3)) for rank in (0, 1)]
    made = with_counts(rows, 2, 0.5)
    spent = replay(script(made), IdealCosts()).spent
    # Rank 0 skips its receive, computes for 0.1 s and sends: rank 1 has its message then.
    assert spent[0].end_s == pytest.approx(0.1 + 0.1 + 0.2)
    assert spent[1].end_s == pytest.approx(0.1 + 0.1 + 0.1 + 0.2)


def test_where_a_rank_lacks_an_operation_all_wait_for_all() -> None:
    """Its second broadcast, from itself, meets the first one of the others, from rank 1."""
    begins_s = {0: 0.3, 1: 0.1, 2: 0.0}
    roots = {0: 0, 1: 1, 2: 1}
    rows = [
        call("MPI_Bcast", "collective", rank, roots[rank], (begin_s, 0.3))
        for rank, begin_s in begins_s.items()
    ]
    spent = replay(script(with_counts(rows, 3, 0.3)), IdealCosts()).spent
    assert [actor.end_s for actor in spent] == pytest.approx([0.3, 0.3, 0.3])


def test_a_large_send_is_forced_where_all_ranks_wait() -> None:
    rows = [
        call(name, kind, rank, 1 - rank, span, size_bytes=RENDEZVOUS_BYTES)
        for rank in (0, 1)
        for name, kind, span in (
            ("MPI_Send", "sent", (0.0, 0.1)),
            ("MPI_Recv", "received", (0.1, 0.2)),
        )
    ]
    made = with_counts(rows, 2, 0.2)
    found = replay(script(made), MachineCosts(Messages(machine()), made.hosts))
    assert found.forced == 1
    assert found.end_s >= message_s(RENDEZVOUS_BYTES)


def test_answers_repeat_themselves_bit_by_bit() -> None:
    made = ping_pong(50, 1000, 1e-4)
    some = [(MachineCosts(Messages(machine(slower)), made.hosts), 1.1) for slower in (1.0, 3.0)]
    first, second = ([one.spent for one in replays(made, some)] for _ in range(2))
    assert first == second
    assert first[0] != first[1]


def test_columns_that_do_not_fit_are_refused() -> None:
    made = script(ping_pong(2, 1000))
    beyond = replace(made, subject=np.full_like(made.subject, 99))
    with pytest.raises(ValueError, match="subjects"):
        replay(beyond, IdealCosts())
    shorter = replace(made.actors[0], before_s=np.zeros(1))
    with pytest.raises(ValueError, match="times of steps"):
        replay(replace(made, actors=[shorter, *made.actors[1:]]), IdealCosts())
