"""Operations that are begun and waited for: what a trace and a machine say of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nhalf.decide.program.asked_operations import AskedOperations
from nhalf.decide.program.costs import MachineCosts
from nhalf.decide.program.predict import (
    AT_ONCE_RATIO,
    MESSAGES_DOUBT,
    OPERATIONS_DOUBT,
    predict_program,
)
from nhalf.decide.program.replay import replay
from nhalf.decide.program.target import Target
from nhalf.decide.program.traced_costs import TracedCosts
from nhalf.facts.program.program import Program
from nhalf.facts.program.script import script
from nhalf.machines import catalogue
from nhalf.machines.message import Messages
from nhalf.measure.virtual.subject import WITH_WORK, Question, Times
from tests.nhalf.decide.program.known_programs import call, machine, with_counts

SIZES_BYTES = (3000, 1000)
ON = Messages(machine())


def overlapped(work_s: float, wait_s: float, late_s: float = 0.0) -> Program:
    """Two ranks begin two operations, work, and wait for both; rank 1 comes `late_s` later."""
    rows = []
    for rank in (0, 1):
        now_s = rank * late_s
        for size_bytes in SIZES_BYTES:
            span = (now_s, now_s)
            rows.append(call("MPI_Iallreduce", "collective", rank, -2, span, size_bytes=size_bytes))
            now_s += work_s
        rows.append(call("MPI_Waitall", "waiting", rank, -2, (now_s, now_s + wait_s)))
    return with_counts(rows, 2, late_s + 2 * work_s + wait_s)


def test_a_wait_is_divided_among_its_operations_by_their_bytes() -> None:
    costs = TracedCosts(overlapped(0.1, 0.4))
    assert costs.collective_s("MPI_Iallreduce", (0, 1), 3000) == pytest.approx(0.3)
    assert costs.collective_s("MPI_Iallreduce", (0, 1), 1000) == pytest.approx(0.1)


@pytest.mark.parametrize("late_s", [0.0, 0.25, 0.5])
def test_a_trace_is_its_own_replay(late_s: float) -> None:
    """Rank 0 waits for rank 1, too, and meanwhile no operation goes on."""
    made = overlapped(0.1, 0.4, late_s)
    rows = made.timeline.rows(named=True)
    rows[2]["end_s"] += late_s
    made = with_counts(rows, 2, made.elapsed_s)
    found = replay(script(made), TracedCosts(made))
    assert found.end_s == pytest.approx(made.elapsed_s)
    # Rank 0 waits from 0.2 s on, until rank 1 begins the first one.
    assert found.spent[0].waiting_s == pytest.approx(max(0.0, late_s - 0.2))


def asked(whole_s: float, left_s: float) -> AskedOperations:
    """A library of which some is left of an operation of any size after as much work."""

    def answer(nodes: object, questions: object) -> dict[Question, Times]:
        return {
            question: (left_s if question.pattern.endswith(WITH_WORK) else whole_s,)
            for question in questions  # type: ignore[attr-defined]
        }

    return AskedOperations("mpich-5.0.2", "MPICH 5.0.2", ON, answer)


@pytest.mark.parametrize(
    ("work_s", "hidden_s"),
    [
        (0.0, 0.0),
        (0.1, 0.1 + 0.1),  # each as long as there is work
        (0.3, 0.3 + 0.3),
        (1.0, 0.3 + 0.3),  # no more than goes on by itself
    ],
)
def test_what_goes_on_while_ranks_work_is_hidden(work_s: float, hidden_s: float) -> None:
    made, library = overlapped(work_s, 0.4), asked(whole_s=1.0, left_s=0.7)
    library.prepare([("MPI_Iallreduce", (0, 1), size) for size in SIZES_BYTES], (0, 1))
    costs = MachineCosts(ON, ["a", "b"])
    costs.asks(library.answer, library.left, library.crowd, where_measured=True)
    found = replay(script(made), costs)
    assert found.end_s == pytest.approx(2 * work_s + 2.0 - hidden_s)
    assert found.spent[0].collectives_s == pytest.approx(2.0 - hidden_s)
    predicted = predict_program(made, Target(ON, "2x1", answers=library))
    assert predicted.time_s == pytest.approx(2 * work_s + 2.0 - hidden_s)
    # They go on beside each other, so they may take less than one after the other.
    assert predicted.doubt_ratio[OPERATIONS_DOUBT] == pytest.approx(AT_ONCE_RATIO)


def test_begun_at_once_operations_go_on_one_after_the_other() -> None:
    made, library = overlapped(0.0, 0.4), asked(whole_s=1.0, left_s=0.7)
    rows = made.timeline.rows(named=True)
    for row in rows[2::3]:
        row.update(start_s=0.5, end_s=0.9)
    made = with_counts(rows, 2, 0.9)
    library.prepare([("MPI_Iallreduce", (0, 1), size) for size in SIZES_BYTES], (0, 1))
    costs = MachineCosts(ON, ["a", "b"])
    costs.asks(library.answer, library.left, library.crowd, where_measured=True)
    # In half a second the first one gets on by 0.3 s, the second one by the 0.2 s that are left.
    assert replay(script(made), costs).end_s == pytest.approx(0.5 + 2.0 - 0.5)


def test_messages_that_are_waited_for_on_most_of_their_way_tell_what_it_takes() -> None:
    """Both ranks send and receive, and wait after a while: nobody waits before a send begins."""
    rows = []
    for size_bytes, sent_s, waits_s, end_s in ((1000, 0.0, 0.2, 0.5), (2000, 1.0, 5.9, 6.0)):
        for rank in (0, 1):
            both = {"size_bytes": size_bytes}
            rows += [
                call("MPI_Isend", "sent", rank, 1 - rank, (sent_s, sent_s), **both),
                call("MPI_Irecv", "received", rank, 1 - rank, (sent_s, end_s), **both),
                call("MPI_Waitall", "waiting", rank, -2, (waits_s, end_s)),
            ]
    costs = TracedCosts(with_counts(rows, 2, 6.0))
    assert costs.message_s(0, 1, 1000) == 0.5
    # The other one had most of its way behind it, so it takes the time of the shorter one.
    assert costs.message_s(0, 1, 2000) == 0.5


def test_messages_at_once_may_share_what_a_rank_moves() -> None:
    """Each rank of a ring sends 1 MB to both neighbours, and waits for theirs: 4 MB pass it."""
    size_bytes, rows = 1_000_000, []
    for rank in range(4):
        for other in ((rank + 1) % 4, (rank - 1) % 4):
            both = {"size_bytes": size_bytes}
            rows.append(call("MPI_Irecv", "received", rank, other, (0.0, 0.1), **both))
            rows.append(call("MPI_Isend", "sent", rank, other, (0.0, 0.0), **both))
        rows.append(call("MPI_Waitall", "waiting", rank, -2, (0.0, 0.1)))
    made, there = with_counts(rows, 4, 0.1), Messages(catalogue.machine("myrinet-gm"))
    made = replace(made, calls=made.calls.with_columns(min_s=0.0))
    alone_s = MachineCosts(there, list("0123")).message_s(0, 1, size_bytes)
    found = predict_program(made, Target(there, "4x1"))
    assert found.time_s == pytest.approx(alone_s, rel=0.01)
    assert 4 * alone_s < found.high_s < 5.1 * alone_s
    assert found.doubt_ratio[MESSAGES_DOUBT] == pytest.approx(found.high_s / found.time_s)
    # Within a node nobody says so.
    found = predict_program(made, Target(ON, "1x4"))
    assert found.high_s == pytest.approx(found.time_s)


def test_a_blocking_operation_hides_nothing() -> None:
    library = asked(whole_s=1.0, left_s=0.7)
    works = [(name, (0, 1), 8) for name in ("MPI_Allreduce", "MPI_Iallreduce", "MPI_Bcast_init")]
    library.prepare(works, (0, 1))
    costs = MachineCosts(ON, ["a", "b"])
    costs.asks(library.answer, library.left, library.crowd, where_measured=True)
    assert costs.hidden_s(*works[1]) == 0.0, "nothing was answered so far"
    assert [costs.collective_s(*work) for work in works] == [1.0, 1.0, 1.0]
    assert [costs.hidden_s(*work) for work in works] == pytest.approx([0.0, 0.3, 0.3])
    assert library.left("MPI_Iallreduce", (0, 1), 1 << 20) == pytest.approx(0.7)
    assert library.left("MPI_Ibcast", (0, 1), 8) == 1.0
