"""What is asked of a library for a program, and what its answers say of its algorithms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.decide.program.asked_operations import (
    OWN,
    PLACEMENTS_MAX,
    ROOTS_MAX,
    SHARES_MAX,
    SIZES_MAX,
    AskedOperations,
    Nodes,
    question_of,
    works_of,
)
from nhalf.decide.program.costs import THE_MACHINES, MachineCosts, UsedAlgorithm
from nhalf.decide.program.predict import ASKED_RATIO, OPERATIONS_DOUBT, predict_program
from nhalf.decide.program.replay import replay
from nhalf.decide.program.target import Target, hosts_on
from nhalf.decide.program.traced_costs import TracedCosts
from nhalf.facts.program.program import Program
from nhalf.facts.program.script import Work, script
from nhalf.machines import catalogue
from nhalf.machines.composed import Composer
from nhalf.machines.message import Messages
from nhalf.machines.parts import parts_of
from nhalf.measure.virtual.subject import Question, Times
from tests.nhalf.decide.program.known_programs import (
    call,
    machine,
    model_of,
    ping_pong,
    with_counts,
)
from tests.nhalf.decide.program.test_other_library import operations

APART = (0, 1, 2, 3)
MYRINET = Messages(catalogue.machine("myrinet-gm"))


class Library:
    """A library that answers by algorithms of nhalf, by size, and counts what it was asked."""

    def __init__(self, switch_bytes: int = 1 << 60) -> None:
        self.asked: list[tuple[Nodes, Question]] = []
        self.switch_bytes = switch_bytes
        self.composers: dict[Nodes, Composer] = {}

    def __call__(self, nodes: Nodes, questions: Iterable[Question]) -> Mapping[Question, Times]:
        """Seconds of recursive doubling, and beyond the switch of a ring."""
        composer = self.composers.setdefault(nodes, Composer(MYRINET, parts_of(MYRINET), nodes))
        times_s = {}
        for question in questions:
            self.asked.append((nodes, question))
            is_short = question.size_bytes <= self.switch_bytes
            algorithm = "recursive-doubling" if is_short else "ring"
            times_s[question] = composer.time_s(
                question.pattern, algorithm, len(nodes), question.size_bytes
            )
        return {question: (time_s,) for question, time_s in times_s.items() if time_s is not None}


def answers(library: Library) -> AskedOperations:
    return AskedOperations("mpich-5.0.2", "MPICH 5.0.2", MYRINET, library)


@pytest.mark.parametrize(
    ("call", "size_bytes", "question"),
    [
        ("MPI_Allreduce", 8, Question("allreduce", 8)),
        ("MPI_Allreduce", 9, Question("allreduce", 12)),
        ("MPI_Alltoall", 64, Question("alltoall", 16)),
        ("MPI_Alltoallv", 64, Question("alltoallv", 16)),
        ("MPI_Iallgather", 64, Question("iallgather", 64)),
        ("MPI_Bcast_init", 64, Question("bcast-persistent", 64)),
        ("MPI_Bcast, root 3", 64, Question("bcast axis.root=3", 64)),
        ("MPI_Igather, root 1, in place", 8, Question("igather axis.root=1 axis.place=in", 8)),
        ("MPI_Allreduce, in place", 9, Question("allreduce axis.place=in", 12)),
        ("MPI_Ialltoall, in place", 64, Question("ialltoall axis.place=in", 16)),
        (
            "MPI_Allgatherv, in place, shares 3:1",
            8,
            Question("allgatherv axis.place=in axis.shares=3:1", 8),
        ),
        ("MPI_Igatherv, root 2, shares 1", 8, Question("igatherv axis.root=2", 8)),
        ("MPI_Reduce_scatter_block", 64, Question("reduce-scatter", 64)),
        ("MPI_Reduce_scatter", 64, Question("reduce-scatterv", 64)),
        ("MPI_Barrier", 0, Question("barrier", 0)),
        ("MPI_Exscan", 8, Question("scan", 8)),
        ("MPI_Neighbor_allgather", 8, None),
        ("MPI_Comm_split", 8, None),
    ],
)
def test_the_pattern_of_a_call(call: str, size_bytes: int, question: Question | None) -> None:
    assert question_of(call, 4, size_bytes) == question
    assert question_of(call, 1, size_bytes) is None


def test_algorithms_are_named_by_what_they_take() -> None:
    library = Library(switch_bytes=4096)
    asked = answers(library)
    sizes = [8, 4096, 1 << 16, 1 << 20]
    asked.prepare([("MPI_Allreduce", APART, size) for size in sizes], APART)
    names = [asked.answer("MPI_Allreduce", APART, size) for size in sizes]
    assert [name for _, name in filter(None, names)] == [
        *("recursive-doubling", "recursive-doubling", "ring", "ring")
    ]
    assert len(library.asked) == len(sizes)
    slower = answers(
        lambda nodes, some: {key: (2.5 * s,) for key, (s, *_) in Library()(nodes, some).items()}
    )
    slower.prepare([("MPI_Allreduce", APART, 8)], APART)
    assert (slower.answer("MPI_Allreduce", APART, 8) or ("", ""))[1] == OWN


def test_an_operation_in_place_is_asked_as_such() -> None:
    """A library that takes as many tenths of a second as its question has letters."""
    rows = [
        call(name, "collective", rank, -2, (start_s, start_s + 0.1), size_bytes=64, tag=tag)
        for start_s, (name, tag) in enumerate([("MPI_Allreduce", 0), ("MPI_Iallreduce", 1)])
        for rank in range(4)
    ]
    rows += [call("MPI_Wait", "waiting", rank, -2, (1.5, 1.6)) for rank in range(4)]
    made = with_counts(rows, 4, 2.0)
    works = works_of(made)
    assert works == {("MPI_Allreduce", APART, 64), ("MPI_Iallreduce, in place", APART, 64)}
    asked = answers(lambda _, some: {key: (len(key.pattern) / 10,) for key in some})
    asked.prepare(works, APART)
    known = MachineCosts(MYRINET, list("abcd"))
    known.asks(asked.answer, asked.left, asked.crowd, where_measured=True)
    for work in works:
        (pattern, _) = question_of(work[0], 4, 64) or ("", 0)
        assert known.collective_s(*work) == pytest.approx(len(pattern) / 10)
    # The trace tells them apart as well.
    own = TracedCosts(made)
    assert [own.collective_s(*work) for work in works] == pytest.approx([0.1, 0.1])
    assert own.collective_s("MPI_Allreduce, in place", APART, 64) == 0.0


def rooted_at(roots: Sequence[int], name: str = "MPI_Bcast", ranks: int = 4) -> Program:
    """Blocking operations one after the other, each begun by all ranks at once."""
    rows = [
        call(name, "collective", rank, root, (number, number + 0.5), size_bytes=64, number=number)
        for number, root in enumerate(roots)
        for rank in range(ranks)
    ]
    return with_counts(rows, ranks, float(len(roots)))


def test_an_operation_is_asked_with_its_root() -> None:
    made = rooted_at([0, 3, 1])
    names = ["MPI_Bcast", "MPI_Bcast, root 1", "MPI_Bcast, root 3"]
    assert works_of(made) == {(name, APART, 64) for name in names}
    asked = answers(lambda _, some: {key: (len(key.pattern) + 0.5,) for key in some})
    asked.prepare(works_of(made), APART)
    known = MachineCosts(MYRINET, list("abcd"))
    known.asks(asked.answer, asked.left, asked.crowd, where_measured=True)
    times_s = [known.collective_s(name, APART, 64) for name in names]
    assert times_s == pytest.approx([5.5, 5.5 + 12, 5.5 + 12])
    # The trace's own cost is that of any root, and a rank that only sends has none.
    assert TracedCosts(made).collective_s(names[2], APART, 64) == pytest.approx(0.5)
    assert works_of(rooted_at([2], "MPI_Reduce")) == {("MPI_Reduce, root 2", APART, 64)}


def with_blocks(name: str, blocks: Sequence[int], own_bytes: Sequence[int] = ()) -> Program:
    """One operation in which ranks have blocks, and get a part of what they add up."""
    tags = [2 * size_bytes for size_bytes in own_bytes] or [0] * len(blocks)
    partner = 1 if "Scatterv" in name else -2
    rows = [
        call(name, "collective", rank, partner, (0, 0.5), size_bytes=size, tag=tag)
        for rank, (size, tag) in enumerate(zip(blocks, tags, strict=True))
    ]
    return with_counts(rows, len(blocks), 1.0)


@pytest.mark.parametrize(
    ("made", "work"),
    [
        (with_blocks("MPI_Allgatherv", [96, 32, 96, 32]),
         ("MPI_Allgatherv, shares 3:1", APART, 64)),
        (with_blocks("MPI_Allgatherv", [1000, 1001, 1000, 1000]),
         ("MPI_Allgatherv, shares 1", APART, 1000)),
        (with_blocks("MPI_Allgatherv", [0, 0, 0, 0]), ("MPI_Allgatherv", APART, 0)),
        # The root holds what all get, half of it for itself.
        (with_blocks("MPI_Scatterv", [8, 48, 8, 8]),
         ("MPI_Scatterv, root 1, shares 1:3:1", APART, 12)),
        (with_blocks("MPI_Reduce_scatter", [64] * 4, [16, 32, 16, 0]),
         ("MPI_Reduce_scatter, shares 1:2:1:0", APART, 64)),
        (with_blocks("MPI_Reduce_scatter", [64] * 4), ("MPI_Reduce_scatter", APART, 64)),
        (with_blocks("MPI_Allgather", [64] * 4), ("MPI_Allgather", APART, 64)),
    ],
)  # fmt: skip
def test_an_operation_is_asked_with_the_shares_of_its_ranks(made: Program, work: Work) -> None:
    assert works_of(made) == {work}


def test_known_shares_are_no_guess_but_those_of_pairs() -> None:
    asked = answers(lambda _, some: dict.fromkeys(some, (0.5,)))
    calls = ["MPI_Allgatherv, shares 3:1", "MPI_Allgatherv", "MPI_Alltoallv, shares 3:1"]
    asked.prepare([(own, APART, 64) for own in calls], APART)
    for own, guessed in zip(calls, [set(), {"allgatherv"}, {"alltoallv"}], strict=True):
        costs = MachineCosts(MYRINET, list("abcd"), guess_ratio=2.0)
        costs.asks(asked.answer, asked.left, asked.crowd, where_measured=True)
        assert costs.collective_s(own, APART, 64) == (1.0 if guessed else 0.5)
        assert costs.guessed == guessed


def test_of_many_shares_some_are_asked_and_the_others_as_if_equal() -> None:
    seen = set[Question]()

    def ask(_: Nodes, some: Iterable[Question]) -> Mapping[Question, Times]:
        seen.update(some)
        return {key: (2.0 if "shares" in key.pattern else 1.0,) for key in some}

    asked = answers(ask)
    works = [(f"MPI_Allgatherv, shares {2 * share + 1}:2", APART, 8) for share in range(40)]
    asked.prepare(works, APART)
    assert len(seen) <= SHARES_MAX + 1 and Question("allgatherv", 8) in seen
    assert {(asked.answer(work[0], APART, 8) or (0,))[0] for work in works} == {1.0, 2.0}
    assert asked.reasons == (f"blocks with more than {SHARES_MAX} kinds of shares",)


def test_of_many_roots_some_are_asked_and_stand_for_those_next_to_them() -> None:
    ranks, seen = tuple(range(40)), set[Question]()

    def ask(_: Nodes, some: Iterable[Question]) -> Mapping[Question, Times]:
        seen.update(some)
        return {key: (float(key.pattern.partition("root=")[2] or 0) + 1,) for key in some}

    asked = answers(ask)
    works = [(f"MPI_Bcast, root {root}" if root else "MPI_Bcast", ranks, 8) for root in ranks]
    asked.prepare(works, ranks)
    assert len(seen) == 14 <= ROOTS_MAX
    for root, work in enumerate(works):
        found = asked.answer(work[0], ranks, 8)
        assert found and abs(found[0] - 1 - root) <= 1
    assert asked.reasons == ()


def test_ranks_leave_a_broadcast_one_after_the_other() -> None:
    """A linear one: rank r is reached after a second for each rank before it."""

    def ask(_: Nodes, some: Iterable[Question]) -> Mapping[Question, Times]:
        leaves_s = {"bcast": (3, 1, 2, 3), "bcast axis.root=1": (1, 3, 2, 3)}
        return {key: (3.0, *map(float, leaves_s[key.pattern])) for key in some}

    made = rooted_at([0, 1])
    asked = answers(ask)
    asked.prepare(works_of(made), APART)
    known = MachineCosts(MYRINET, list("abcd"))
    known.asks(asked.answer, asked.left, asked.crowd, asked.leave, where_measured=True)
    found = replay(script(made), known, computing=0.0)
    # Rank 1 sends on after 1 s, to rank 0 from 3 s on, who comes then, and to 2 and 3 at 3 and 4 s.
    assert [actor.end_s for actor in found.spent] == pytest.approx([4, 4, 3, 4])
    known = MachineCosts(MYRINET, list("abcd"))
    known.asks(asked.answer, asked.left, asked.crowd, where_measured=True)
    assert replay(script(made), known, computing=0.0).end_s == pytest.approx(6)


def test_between_many_sizes_times_are_interpolated_unless_the_algorithm_changes() -> None:
    library = Library(switch_bytes=1 << 14)
    asked = answers(library)
    sizes = [round(64 * 1.09**step) * 4 for step in range(100)]
    asked.prepare([("MPI_Allreduce", APART, size) for size in sizes], APART)
    distinct = {question.size_bytes for _, question in library.asked}
    assert SIZES_MAX <= len(distinct) < 2 * SIZES_MAX
    exact = Library(switch_bytes=1 << 14)
    for size in sizes:
        answer = asked.answer("MPI_Allreduce", APART, size)
        assert answer is not None
        question = Question("allreduce", size)
        assert answer[0] == pytest.approx(exact(APART, [question])[question][0], rel=0.05)
    assert asked.answer("MPI_Allreduce", APART, 2 * sizes[-1]) is None
    assert asked.reasons == ("no answer for allreduce",)


def test_communicators_are_asked_for_by_their_nodes() -> None:
    library = Library()
    asked = answers(library)
    pairs = [(0, 1), (1, 2), (0, 2)]
    nodes = (0, 0, 1)
    asked.prepare([("MPI_Allreduce", pair, 8) for pair in pairs], nodes)
    # On a crossbar ranks 1 and 2 are as far from each other as 0 and 2.
    assert {places for places, _ in library.asked} == {(0, 0), (0, 1)}
    near, far = (asked.answer("MPI_Allreduce", places, 8) for places in ((0, 0), (0, 1)))
    assert near and far and near[0] < far[0]


def test_places_that_are_as_far_from_each_other_are_asked_once() -> None:
    """Of a tree of 8 nodes below a switch; the first such nodes are asked, whatever the order."""
    tree = Messages(catalogue.machine("altix-bx2"))
    pairs = [(0, 1), (2, 3), (9, 8), (0, 8), (9, 1), (4, 4)]
    answered_s = [1, 1, 1, 2, 2, 3]
    for ordered in (pairs, pairs[::-1]):
        seen: list[Nodes] = []

        def ask(nodes: Nodes, some: Iterable[Question], seen: list[Nodes] = seen) -> Any:
            seen.append(nodes)
            return dict.fromkeys(some, (float(len(seen)),))

        asked = AskedOperations("mpich-5.0.2", "MPICH 5.0.2", tree, ask)
        asked.prepare([("MPI_Allreduce", pair, 8) for pair in ordered], range(32))
        assert seen == [(0, 1), (0, 8), (4, 4)]
        times = [asked.answer("MPI_Allreduce", pair, 8) for pair in pairs]
        assert [answer and answer[0] for answer in times] == answered_s


def test_what_cannot_be_asked_is_told() -> None:
    def cannot(nodes: Nodes, questions: Iterable[Question]) -> Mapping[Question, Times]:
        raise MissingError("there is no probe", "install one")

    asked = AskedOperations("mpich-5.0.2", "MPICH 5.0.2", MYRINET, cannot)
    asked.prepare([("MPI_Allreduce", APART, 8)], APART)
    assert asked.answer("MPI_Allreduce", APART, 8) is None
    assert asked.reasons == ("there is no probe", "no answer for allreduce")
    several = answers(Library())
    counts = range(2, PLACEMENTS_MAX + 4)
    several.prepare(
        [("MPI_Allreduce", tuple(range(ranks)), 8) for ranks in counts], list(range(16))
    )
    assert len(several.curves) == PLACEMENTS_MAX
    assert several.reasons == (f"communicators on more than {PLACEMENTS_MAX} sets of nodes",)


def test_answers_come_before_guesses_and_after_what_was_measured_with_the_library() -> None:
    of_machine = Messages(machine(patterns=(model_of("alltoall", 0.02),)))
    for where_measured, time_s, algorithm in ((True, 0.5, "ring"), (False, 0.02, THE_MACHINES)):
        costs = MachineCosts(of_machine, ["a", "b"])
        costs.asks(
            lambda call, nodes, size: (0.5, "ring"),
            lambda call, nodes, size: 1.0,
            lambda call, nodes, size: (1.0, 1.0),
            where_measured=where_measured,
        )
        assert costs.collective_s("MPI_Alltoall", (0, 1), 64) == pytest.approx(time_s)
        assert costs.used == {UsedAlgorithm("alltoall", 2, 64, algorithm, where_measured)}
        assert not costs.guessed
        assert costs.collective_s("MPI_Alltoallv", (0, 1), 64) == 0.5
        assert costs.guessed == {"alltoallv"}, "it was asked with blocks of one size"


def test_asked_operations_narrow_the_interval() -> None:
    made = operations("MPI_Allreduce")
    library = Library()
    asked = answers(library)
    asked.prepare(works_of(made), APART)
    guess = predict_program(made, Target(MYRINET, "4x1"))
    known = predict_program(made, Target(MYRINET, "4x1", answers=asked))
    each_s = library(APART, [Question("allreduce", 64)])[Question("allreduce", 64)][0]
    assert known.time_s == pytest.approx(3 * each_s)
    assert guess.doubt_ratio[OPERATIONS_DOUBT] == pytest.approx(2.0)
    assert known.doubt_ratio[OPERATIONS_DOUBT] == pytest.approx(ASKED_RATIO)
    assert known.library_asked == "MPICH 5.0.2" and not guess.library_asked
    assert [row.algorithm for row in known.algorithms] == ["recursive-doubling"]


def test_nodes_are_filled_as_a_trial_fills_them() -> None:
    made = ping_pong(2, 1000)
    there = catalogue.machine("myrinet-gm")
    assert hosts_on(made, there, "") == ("0", "0")
    assert hosts_on(made, there, "2x1") == ("0", "1")
    assert hosts_on(made, there, "", "myrinet-gm") == made.hosts
    assert hosts_on(made, machine(), "") == made.hosts


@pytest.mark.parametrize(
    ("name", "placement", "reason"),
    [
        ("sunfire-link", "8x1", "sunfire-link has 4 nodes, not 8"),
        ("sunfire-link", "16x1", "sunfire-link has 4 nodes, not 8"),
        ("myrinet-gm", "1x8", "ranks per node of myrinet-gm: at most 2, not 8"),
        ("gige-pair", "", "gige-pair holds 2 ranks, not 8"),
    ],
)
def test_what_the_machine_has_no_room_for_is_refused(
    name: str, placement: str, reason: str
) -> None:
    rows = [call("MPI_Barrier", "collective", rank, -2, (0.0, 1.0)) for rank in range(8)]
    made = with_counts(rows, 8, 1.0)
    with pytest.raises(InputError, match=reason):
        hosts_on(made, catalogue.machine(name), placement)
    assert hosts_on(made, catalogue.machine("sunfire-link"), "2x4") == tuple("00001111")
