"""Operations that are begun and waited for: what a trace and a machine say of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nhalf.decide.program.asked_operations import AskedOperations, question_of, works_of
from nhalf.decide.program.costs import MachineCosts
from nhalf.decide.program.predict import (
    ASKED_RATIO,
    AT_ONCE_RATIO,
    MESSAGES_DOUBT,
    OPERATIONS_DOUBT,
    predict_program,
)
from nhalf.decide.program.replay import replay
from nhalf.decide.program.target import Target
from nhalf.decide.program.traced_costs import TracedCosts
from nhalf.facts.program.program import Program
from nhalf.facts.program.script import WAITS_MAX, script
from nhalf.machines import catalogue
from nhalf.machines.message import Messages
from nhalf.measure.virtual.subject import BESIDE_IT, WITH_WORK, Question, Times
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


def asked(whole_s: float, left_s: float, together_s: float = 0.0) -> AskedOperations:
    """A library of which some is left of an operation of any size after as much work; two take
    `together_s`, of which as large a part is left.
    """

    def answered_s(pattern: str) -> float:
        time_s = together_s if BESIDE_IT in pattern else whole_s
        return time_s * left_s / whole_s if pattern.endswith(WITH_WORK) else time_s

    def answer(nodes: object, questions: object) -> dict[Question, Times]:
        return {
            question: (answered_s(question.pattern),)
            for question in questions  # type: ignore[attr-defined]
        }

    return AskedOperations("mpich-5.0.2", "MPICH 5.0.2", ON, answer)


@pytest.mark.parametrize(
    ("work_s", "hidden_s"),
    [
        (0.0, 0.0),
        (0.1, 0.2),  # the first one as long as there is work, then no time is left
        (0.3, 0.36 + 0.12),
        (1.0, 0.36 + 0.12),  # no more than goes on by itself
    ],
)
def test_what_goes_on_while_ranks_work_is_hidden(work_s: float, hidden_s: float) -> None:
    """Both take 1.6 s together, of which 0.3 goes on by itself: a share by their bytes of each."""
    made, library = overlapped(work_s, 0.4), asked(whole_s=1.0, left_s=0.7, together_s=1.6)
    library.prepare(works_of(made), (0, 1))
    costs = MachineCosts(ON, ["a", "b"])
    costs.asks(library.answer, library.left, library.crowd, where_measured=True)
    found = replay(script(made), costs)
    assert found.end_s == pytest.approx(2 * work_s + 1.6 - hidden_s)
    assert found.spent[0].collectives_s == pytest.approx(1.6 - hidden_s)
    predicted = predict_program(made, Target(ON, "2x1", answers=library))
    assert predicted.time_s == pytest.approx(2 * work_s + 1.6 - hidden_s)
    assert predicted.doubt_ratio[OPERATIONS_DOUBT] == pytest.approx(ASKED_RATIO)


def test_those_of_one_wait_are_asked_together() -> None:
    works = works_of(overlapped(0.1, 0.4))
    assert works == {("MPI_Iallreduce, beside 3000:1000", (0, 1), size) for size in SIZES_BYTES}
    asked_for = {question_of(call, len(ranks), size) for call, ranks, size in works}
    assert asked_for == {Question(f"iallreduce{BESIDE_IT}1000", 3000)}


@pytest.mark.parametrize("other", ["MPI_Ibcast", "MPI_Allreduce_init", "MPI_Allreduce"])
def test_others_are_asked_one_by_one(other: str) -> None:
    made = overlapped(0.1, 0.4)
    rows = made.timeline.rows(named=True)
    for row in rows[1::3]:
        row.update(call=other, partner=0 if other == "MPI_Ibcast" else -2)
    made = with_counts(rows, 2, made.elapsed_s)
    works, library = works_of(made), asked(whole_s=1.0, left_s=1.0)
    assert {call for call, _, _ in works} == {"MPI_Iallreduce", other}
    library.prepare(works, (0, 1))
    predicted = predict_program(made, Target(ON, "2x1", answers=library))
    # What is begun may take less than one after the other.
    ratio = ASKED_RATIO if other == "MPI_Allreduce" else AT_ONCE_RATIO
    assert predicted.doubt_ratio[OPERATIONS_DOUBT] == pytest.approx(ratio)


def test_kinds_of_waits_have_a_limit() -> None:
    """More would take the library too long: those of further kinds are asked one by one."""
    rows = []
    for number in range(WAITS_MAX + 2):
        began_s, ended_s = float(number), number + 0.5
        for rank in (0, 1):
            for size_bytes in (8, 8 * (number // 2 + number % 2 * WAITS_MAX + 1)):
                span = (began_s, began_s)
                begun = call("MPI_Iallreduce", "collective", rank, -2, span, size_bytes=size_bytes)
                rows.append(begun)
            rows.append(call("MPI_Waitall", "waiting", rank, -2, (began_s, ended_s)))
    works = works_of(with_counts(rows, 2, float(WAITS_MAX + 2)))
    assert len({name for name, _, _ in works if name != "MPI_Iallreduce"}) == WAITS_MAX
    assert sum(name == "MPI_Iallreduce" for name, _, _ in works) == 3  # 8 bytes, and two others


def test_barriers_at_once_have_no_bytes() -> None:
    made = overlapped(0.0, 0.4)
    rows = [dict(row, size_bytes=0) for row in made.timeline.rows(named=True)]
    for row in rows:
        row["call"] = row["call"].replace("Iallreduce", "Ibarrier")
    library = asked(whole_s=1.0, left_s=1.0, together_s=1.5)
    works = works_of(with_counts(rows, 2, made.elapsed_s))
    library.prepare(works, (0, 1))
    assert [library.answer(call, (0, 1), 0) for call, _, _ in works] == [(0.75, "its own")]


def test_begun_at_once_operations_go_on_one_after_the_other() -> None:
    made, library = overlapped(0.0, 0.4), asked(whole_s=1.0, left_s=0.7, together_s=1.6)
    rows = made.timeline.rows(named=True)
    for row in rows[2::3]:
        row.update(start_s=0.4, end_s=0.8)
    made = with_counts(rows, 2, 0.8)
    library.prepare(works_of(made), (0, 1))
    costs = MachineCosts(ON, ["a", "b"])
    costs.asks(library.answer, library.left, library.crowd, where_measured=True)
    # In 0.4 s the first one gets on by 0.36 s, the second one by what is left.
    assert replay(script(made), costs).end_s == pytest.approx(0.4 + 1.6 - 0.4)


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
