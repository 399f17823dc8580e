"""What each rank of a C program computes and sends, read from the source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.loops.program.communicators import balanced
from nhalf.loops.program.events import Called, Computed, RankEvents, WaitedFor
from nhalf.loops.program.ranks import MpiProgram
from nhalf.loops.source.counts import LoopCounts
from nhalf.loops.source.preprocessed import HeaderSearch
from nhalf.loops.source.refusal import RefusedSource

Run = Callable[..., list[RankEvents]]
PROGRAMS = Path(__file__).parents[3] / "data" / "estimate"
HEAD = """#include <mpi.h>
#include <stdlib.h>
#include <math.h>
double x[1000], y[1000];
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
"""
"""The statements that follow begin in line 10."""


@pytest.fixture
def ranks_of(tmp_path: Path) -> Run:
    def run(body: str, ranks: int, **numbers: int) -> list[RankEvents]:
        path = tmp_path / "program.c"
        path.write_text(f"{HEAD}{body}\n  MPI_Finalize();\n  return 0;\n}}\n", "utf-8")
        return MpiProgram(path, HeaderSearch(), list(numbers)).ranks(numbers, ranks)

    return run


def calls(own: RankEvents) -> list[tuple[str, str, int, int]]:
    return [
        (event.call, event.kind, event.partner, event.size_bytes)
        for event in own.events
        if isinstance(event, Called)
    ]


def iterations(own: RankEvents) -> dict[int, int]:
    count: dict[int, int] = {}
    for event in own.events:
        if isinstance(event, Computed):
            line = event.loop.counts.line
            count[line] = count.get(line, 0) + event.iterations
    return count


def test_a_halo_sends_both_ways_in_the_middle_and_one_way_at_the_ends() -> None:
    first, middle, last = MpiProgram(PROGRAMS / "halo.c", HeaderSearch(), ["n"]).ranks({"n": 70}, 3)
    assert calls(middle) == [
        ("MPI_Sendrecv", "sent", 2, 8), ("MPI_Sendrecv", "received", 0, 8),
        ("MPI_Sendrecv", "sent", 0, 8), ("MPI_Sendrecv", "received", 2, 8),
    ] * 50  # fmt: skip
    assert calls(first) == [("MPI_Send", "sent", 1, 8), ("MPI_Recv", "received", 1, 8)] * 50
    assert calls(last) == [("MPI_Recv", "received", 1, 8), ("MPI_Send", "sent", 1, 8)] * 50
    assert iterations(first) == {16: 72, 25: 50 * 70}


def test_loops_are_counted_where_one_depends_on_another(ranks_of: Run) -> None:
    body = """int n = 9;
    for (int k = 0; k < n; k++) {
      for (int i = k + 1; i < n; i++) x[i] = x[i] * y[k];
      MPI_Bcast(&x[k], n - k, MPI_DOUBLE, k % size, MPI_COMM_WORLD);
    }
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j += 2) y[j] = y[j] + 1.0;"""
    first, _ = ranks_of(body, 2, n=6)
    assert iterations(first) == {12: 5 + 4 + 3 + 2 + 1, 16: 1 + 1 + 2 + 2 + 3 + 3}
    sizes = [(partner, size) for _, _, partner, size in calls(first)]
    assert sizes == [(k % 2, 8 * (6 - k)) for k in range(6)]


def test_waits_name_the_calls_they_complete(ranks_of: Run) -> None:
    body = """MPI_Request r[2];
    for (int turn = 0; turn < 5; turn++) {
      MPI_Irecv(x, 3, MPI_INT, 1 - rank, turn * 0, MPI_COMM_WORLD, &r[0]);
      MPI_Isend(y, 3, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, r + 1);
      MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }"""
    own = ranks_of(body, 2)[0]
    assert [event.begun for event in own.events if isinstance(event, WaitedFor)] == [(2, 1)] * 5
    assert [name for name, *_ in calls(own)] == ["MPI_Irecv", "MPI_Isend"] * 5


def test_operations_move_what_a_rank_puts_in(ranks_of: Run) -> None:
    body = """int counts[4], shift[4], at = 0;
    for (int r = 0; r < size; r++) { counts[r] = 10 + r; shift[r] = at; at += counts[r]; }
    MPI_Alltoall(x, 5, MPI_DOUBLE, y, 5, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Scatter(x, 5, MPI_FLOAT, y, 5, MPI_FLOAT, 1, MPI_COMM_WORLD);
    MPI_Scatterv(x, counts, shift, MPI_INT, y, counts[rank], MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Reduce(x, y, at, MPI_CHAR, MPI_SUM, 2, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);"""
    first, second, *_ = ranks_of(body, 4)
    operations = [
        ("MPI_Alltoall", "collective", -2, 160), ("MPI_Scatter", "collective", 1, 20),
        ("MPI_Scatterv", "collective", 0, 4 * 46), ("MPI_Reduce", "collective", 2, 46),
        ("MPI_Barrier", "collective", -2, 0),
    ]  # fmt: skip
    assert calls(first) == operations
    assert [size for *_, size in calls(second)] == [160, 80, 44, 46, 0]


def test_functions_take_numbers_and_give_them_back(tmp_path: Path) -> None:
    path = tmp_path / "parts.c"
    path.write_text(
        """#include <mpi.h>
        #define N 40
        static void part(int n, int p, int r, int *first, int *count) {
          *count = n / p + (r < n % p ? 1 : 0);
          *first = r * (n / p) + (r < n % p ? r : n % p);
        }
        static int pass(double *a, int n, int to) {
          if (n == 0) return 0;
          MPI_Bcast(a, n, MPI_DOUBLE, to, MPI_COMM_WORLD);
          return n;
        }
        int main(void) {
          int r, p, first, count; double a[N];
          MPI_Init(0, 0);
          MPI_Comm_rank(MPI_COMM_WORLD, &r); MPI_Comm_size(MPI_COMM_WORLD, &p);
          part(N, p, p - 1, &first, &count);
          pass(a, 0, 0);
          int sent = pass(a, first + count, 0);
          pass(a, sent / 2, (int)sqrt((double)p) - 1);
          MPI_Finalize();
        }""",
        "utf-8",
    )
    source = MpiProgram(path, HeaderSearch(), [])
    assert calls(source.ranks({}, 4)[3]) == [
        ("MPI_Bcast", "collective", 0, 320), ("MPI_Bcast", "collective", 1, 160),
    ]  # fmt: skip


def partners(own: RankEvents) -> list[tuple[str, int, int]]:
    return [(event.call, event.partner, event.communicator)
            for event in own.events if isinstance(event, Called)]  # fmt: skip


def test_parts_of_the_ranks_are_numbered_by_their_keys(ranks_of: Run) -> None:
    body = """MPI_Comm part, twin, none; int own, count;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 3 ? MPI_UNDEFINED : 0, 0, &none);
    if (rank == 3 && none == MPI_COMM_NULL) MPI_Send(x, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(x, 1, MPI_INT, 3, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_dup(part, &twin);
    MPI_Comm_rank(twin, &own);
    MPI_Comm_size(twin, &count);
    if (own == 0) MPI_Send(x, count, MPI_INT, 1, 0, twin);
    if (own == 1) MPI_Recv(x, count, MPI_INT, 0, 0, twin, MPI_STATUS_IGNORE);
    MPI_Bcast(x, 1, MPI_INT, 1, part);
    MPI_Barrier(MPI_COMM_SELF);"""
    own = ranks_of(body, 5)
    even, odd = partners(own[4])[0][2], partners(own[1])[1][2]
    assert partners(own[4]) == [("MPI_Send", 2, even), ("MPI_Bcast", 2, partners(own[4])[1][2])]
    assert partners(own[2])[0] == ("MPI_Recv", 4, even)
    assert partners(own[3])[:2] == [("MPI_Send", 1, 0), ("MPI_Send", 1, odd)]
    assert calls(own[4])[0] == ("MPI_Send", "sent", 2, 12)
    assert len({even, odd, *(partners(one)[-1][2] for one in own)}) == 4


def test_grids_know_their_neighbours_and_their_lines(ranks_of: Run) -> None:
    body = """MPI_Comm grid, line; int extents[2] = {0}, around[2] = {1, 0}, keep[2] = {0, 1};
    int at[2], up, down, left, right, back;
    MPI_Dims_create(size, 2, extents);
    MPI_Cart_create(MPI_COMM_WORLD, 2, extents, around, 0, &grid);
    MPI_Cart_coords(grid, rank, 2, at);
    MPI_Cart_rank(grid, at, &back);
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    MPI_Sendrecv(x, extents[0], MPI_DOUBLE, down, 0, y, 3, MPI_DOUBLE, up, 0, grid, 0);
    MPI_Sendrecv(x, at[1] + 1, MPI_DOUBLE, right, 1, y, at[1], MPI_DOUBLE, left, 1, grid, 0);
    MPI_Cart_sub(grid, keep, &line);
    MPI_Bcast(x, back, MPI_INT, 1, line);"""
    own = ranks_of(body, 6)
    assert calls(own[4]) == [
        ("MPI_Sendrecv", "sent", 0, 24), ("MPI_Sendrecv", "received", 2, 24),
        ("MPI_Send", "sent", 5, 8), ("MPI_Bcast", "collective", 5, 16),
    ]  # fmt: skip
    assert [partners(one)[-1][1] for one in own] == [1, 1, 3, 3, 5, 5]


def test_types_have_the_size_of_their_elements(ranks_of: Run) -> None:
    body = """MPI_Datatype row, column, block; int from[2] = {9, 9}, part[2] = {2, 3};
    MPI_Type_contiguous(5, MPI_DOUBLE, &row);
    MPI_Type_vector(4, 2, 10, row, &column);
    MPI_Type_create_subarray(2, from, part, from, 0, MPI_INT, &block);
    MPI_Type_commit(&column);
    MPI_Bcast(x, 1, column, 0, MPI_COMM_WORLD);
    MPI_Bcast(x, 2, block, 0, MPI_COMM_WORLD);"""
    assert [size for *_, size in calls(ranks_of(body, 2)[0])] == [320, 48]


def test_numbers_of_structures_are_followed(tmp_path: Path) -> None:
    path = tmp_path / "structures.c"
    path.write_text(
        """#include <mpi.h>
        typedef struct { int count, extents[2]; double weight; } Grid;
        struct Box { Grid *grid; int near; };
        static void grow(Grid *g, int by) { g->count += by; g->extents[1] = g->count / 2; }
        static int sum(Grid g) { return g.count + g.extents[0] + g.extents[1]; }
        int main(int argc, char **argv) {
          Grid own, other;
          struct Box box;
          double x[100];
          MPI_Init(&argc, &argv);
          MPI_Comm_rank(MPI_COMM_WORLD, &box.near);
          own.count = 4; own.extents[0] = 3; other.count = 7;
          box.grid = &own;
          grow(box.grid, 6);
          MPI_Bcast(x, sum(own), MPI_DOUBLE, (box.near + 1) * 0, MPI_COMM_WORLD);
          MPI_Bcast(x, box.grid->extents[1] + other.count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
          MPI_Bcast(&own, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
          MPI_Bcast(x, LAST.count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        }""",
        "utf-8",
    )
    known = MpiProgram(path, HeaderSearch((), ("LAST=other",)), []).ranks({}, 2)[1]
    assert [size for *_, size in calls(known)] == [8 * 18, 8 * 12, 8, 8 * 7]
    with pytest.raises(RefusedSource, match="depends on count"):
        MpiProgram(path, HeaderSearch((), ("LAST=own",)), []).ranks({}, 2)


def counts_by_line(own: RankEvents) -> dict[int, LoopCounts]:
    return {event.loop.counts.line: event.loop.counts
            for event in own.events if isinstance(event, Computed)}  # fmt: skip


def test_members_of_structures_are_data_of_loops() -> None:
    source = MpiProgram(PROGRAMS / "bodies.c", HeaderSearch(), ["n", "steps"])
    own = source.ranks({"n": 80, "steps": 1}, 4)[1]
    assert not own.left_out
    attracted = counts_by_line(own)[37]
    assert iterations(own)[37] == 4 * 20 * 20
    assert (attracted.of("divide"), attracted.of("square_root")) == (1, 1)
    assert [stream.steps[-1].constant for stream in attracted.streams if stream.loads] == [4] * 4
    copied = counts_by_line(own)[32]
    assert (copied.loads, copied.stores) == (4, 4)
    assert counts_by_line(own)[54].written_per_iteration == {
        "integer": 0, "add": 3, "multiply": 3, "load": 6, "store": 3,
    }  # fmt: skip


def test_members_that_are_pointers_are_arrays_of_their_own() -> None:
    source = MpiProgram(PROGRAMS / "jacobi2d.c", HeaderSearch(), ["n", "steps"])
    own = source.ranks({"n": 60, "steps": 7}, 6)[0]
    assert not own.left_out
    assert iterations(own) == {32: 32, 46: 7 * 20 * 30}
    assert counts_by_line(own)[46].written_per_iteration == {
        "integer": 0, "add": 3, "multiply": 1, "load": 4, "store": 1,
    }  # fmt: skip


def test_what_a_function_returns_takes_the_place_of_its_call(tmp_path: Path) -> None:
    path = tmp_path / "inlined.c"
    path.write_text(
        """#include <mpi.h>
        struct Box { double side[2]; };
        struct Mixed { char kind; struct Box box; int *near; short count; };
        double x[99], y[99];
        static double square(double a) { return a * a; }
        static double norm(double a, double b) { double c = square(b); return square(a) + c; }
        int main(void) {
          struct Box boxes[9];
          MPI_Bcast(x, sizeof(struct Mixed), MPI_CHAR, 0, MPI_COMM_WORLD);
          for (int i = 0; i < 99; i++) x[i] = norm(x[i], y[i]);
          for (int i = 0; i < 9; i++) boxes[i].side[1] = 2.0 * boxes[i].side[0];
        }""",
        "utf-8",
    )
    own = MpiProgram(path, HeaderSearch(), []).ranks({}, 2)[0]
    assert not own.left_out
    assert calls(own) == [("MPI_Bcast", "collective", 0, 8 + 16 + 8 + 8)]
    plain, boxes = counts_by_line(own)[10], counts_by_line(own)[11]
    assert plain.written_per_iteration == {
        "integer": 0,
        "add": 1,
        "multiply": 2,
        "load": 2,
        "store": 1,
    }
    assert (boxes.loads, boxes.stores, boxes.of("multiply")) == (1, 1, 1)


@pytest.mark.parametrize(
    ("ranks", "extents", "expected"),
    [
        (1, [0, 0], [1, 1]), (12, [0, 0], [4, 3]), (24, [0, 0, 0], [4, 3, 2]),
        (7, [0, 0], [7, 1]), (36, [0, 0], [6, 6]), (12, [3, 0], [3, 4]), (16, [0, 2, 0], [4, 2, 2]),
    ],
)  # fmt: skip
def test_grids_are_as_square_as_can_be(ranks: int, extents: list[int], expected: list[int]) -> None:
    assert balanced(ranks, extents) == expected


def test_many_turns_are_not_run_through_one_by_one() -> None:
    source = MpiProgram(PROGRAMS / "pipeline.c", HeaderSearch(), ["n", "blocks"])
    own = source.ranks({"n": 10**9, "blocks": 3}, 2)[1]
    assert iterations(own) == {7: 3 * 10**9}


def test_mistakes_of_the_user_are_not_the_way_that_is_taken(ranks_of: Run) -> None:
    body = "if (argc != 3) { return 1; }\n if (x[0] > 1) { exit(2); } else MPI_Barrier(0);"
    assert len(calls(ranks_of(body, 2)[0])) == 1


REFUSED = {
    "int n = 3;\nMPI_Bcast(&n, 1, MPI_INT, 0, 0);\nMPI_Bcast(x, n, 8, 0, 0);": (12, "on n,", "n="),
    "while (x[0] > 1.0) MPI_Barrier(MPI_COMM_WORLD);": (10, "depends on x", "line10=100"),
    "int n = atoi(argv[1]); MPI_Bcast(x, n, MPI_INT, 0, MPI_COMM_WORLD);": (10, "on n,", "n=1000"),
    "int n = atoi(argv[1]);\nfor (int i = 0; i < n; i++) x[i] = 1.0;": (11, "on n,", "n=1000"),
    "if (x[0] > 1.0) MPI_Barrier(MPI_COMM_WORLD);": (10, "which way", "line10=0 or 1"),
    "MPI_Recv(x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, 0);": (10, "from any rank", ""),
    "MPI_Recv(x, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, 0);": (10, "of any tag", ""),
    "MPI_Send(x, 1, MPI_INT, size, 0, MPI_COMM_WORLD);": (10, "rank 0 of 2", ""),
    "MPI_Comm c; MPI_Comm_create(0, 0, &c);": (10, "MPI_Comm_create", "known are"),
    "MPI_Comm c; MPI_Barrier(c);": (10, "depends on c,", ""),
    "MPI_Barrier(7);": (10, "communicator of MPI_Barrier is not", "MPI_Comm_split"),
    "MPI_Comm c; MPI_Comm_split(0, x[0], 0, &c);": (10, "the colour", ""),
    "MPI_Comm c; if (rank) MPI_Comm_split(0, 0, 0, &c);": (0, "not called by all", ""),
    "int a; MPI_Cart_shift(0, 0, 1, &a, &a);": (10, "without a grid", ""),
    "MPI_Comm c; int d[1] = {3}; MPI_Cart_create(0, 1, d, d, 0, &c);": (10, "no room", ""),
    "MPI_Comm c; MPI_Comm_dup(0, &c); if (rank) MPI_Barrier(c);": (10, "rank 1 in 1", "all ranks"),
    "if (rank) MPI_Barrier(MPI_COMM_WORLD);": (10, "rank 1 in 1", "all ranks"),
    "if (rank) MPI_Barrier(0); else MPI_Bcast(x, 1, 4, 0, 0);": (10, "where rank 0", ""),
    "if (rank) MPI_Send(x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);": (10, "receives 0", "which ranks"),
    "x[0] = 1.0;": (0, "no rank sends anything", "calls MPI"),
    "int n = 3;\n;}}": (11, "not valid C", ""),
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_not_understood_is_refused_by_its_line(body: str, ranks_of: Run) -> None:
    line, reason, remedy = REFUSED[body]
    with pytest.raises(RefusedSource) as refusal:
        ranks_of(body, 2)
    assert reason in refusal.value.message
    assert remedy in refusal.value.remedy
    assert refusal.value.line == line


def test_lines_and_macros_take_numbers(ranks_of: Run) -> None:
    body = """#ifndef M
    #define M 2
    #endif
    while (x[0] > 1.0) MPI_Bcast(x, M, MPI_INT, 0, MPI_COMM_WORLD);"""
    assert calls(ranks_of(body, 2, line13=3, M=7)[0]) == [("MPI_Bcast", "collective", 0, 28)] * 3
    with pytest.raises(RefusedSource, match="nothing in it depends on m"):
        ranks_of(body, 2, line13=3, m=7)


def test_loops_that_never_run_and_single_ranks_are_no_mistake(ranks_of: Run) -> None:
    body = """int n = 0;
    for (int i = 0; i < n; i++) x[i] = 1.0;
    for (int s = 0; s < n; s++) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);"""
    (own,) = ranks_of(body, 1)
    assert (len(calls(own)), iterations(own)) == (1, {})
    assert ranks_of("x[0] = 1.0;", 1)[0].events == []


def test_loops_that_cannot_be_counted_are_named(ranks_of: Run) -> None:
    body = "for (int i = 0; i < 9; i++) x[i] = exp(y[i]);\n MPI_Barrier(MPI_COMM_WORLD);"
    own = ranks_of(body, 2)[0]
    assert [line for line, reason in own.left_out if "exp is called" in reason] == [10]


def test_rows_behind_pointers_are_taken_not_to_overlap(ranks_of: Run) -> None:
    body = """double **a = malloc(9 * sizeof *a), **b = malloc(9 * sizeof *b);
    for (int i = 1; i < 8; i++)
      for (int j = 0; j < 9; j++) a[i][j] = b[i - 1][j] + b[i + 1][j];
    MPI_Barrier(MPI_COMM_WORLD);"""
    own = ranks_of(body, 2)[0]
    assert (iterations(own), own.left_out) == ({12: 63}, {})
