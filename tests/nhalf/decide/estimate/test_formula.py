"""The time of a program as a formula in its numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from nhalf.decide.estimate.evaluation import Evaluation
from nhalf.decide.estimate.formula import Formula, Sample, formula
from nhalf.exchange.program.written import ScheduleRows

LOOP, SEND = ("computing", 3), ("MPI_Send", 7)
BASE = {"n": 1000, "ranks": 8}
Part = Callable[[float, float], tuple[float, float, float]]
"""Count, bytes and seconds of a part for n and ranks."""


def samples(parts: Mapping[tuple[str, int], Part]) -> Iterator[Sample]:
    program = ScheduleRows().program(Path("none"), [0.0], [])
    for n, ranks in [(1, 1), (0.5, 1), (2, 1), (2, 2), (0.5, 2), (1, 0.5), (1, 2)]:
        point = {"n": int(BASE["n"] * n), "ranks": int(BASE["ranks"] * ranks)}
        own = {label: part(*point.values()) for label, part in parts.items()}
        yield (
            point,
            Evaluation(
                program,
                sum(time_s for *_, time_s in own.values()),
                0,
                0,
                True,
                0.0,
                {label: time_s for label, (*_, time_s) in own.items()},
                Counter({label: int(count) for label, (count, *_) in own.items()}),
                Counter({label: int(size) for label, (_, size, _) in own.items()}),
            ),
        )


def found(parts: Mapping[tuple[str, int], Part], half_bytes: float = 1000.0) -> Formula:
    answer = formula(list(samples(parts)), half_bytes)
    assert answer is not None
    return answer


def by_kind(answer: Formula) -> dict[str, list[tuple[float, dict[str, tuple[float, int]]]]]:
    kinds: dict[str, list[tuple[float, dict[str, tuple[float, int]]]]] = {}
    for term in answer.terms:
        kinds.setdefault(term.kind, []).append((term.factor_s, dict(term.powers)))
    return kinds


def test_loops_and_messages_have_the_powers_of_their_counts() -> None:
    answer = found({
        LOOP: lambda n, p: (n * n / p, 0, 2e-9 * n * n / p),
        SEND: lambda n, p: (50, 400 * n, 50 * 1e-6 + 400 * n * 1e-9),
    })  # fmt: skip
    kinds = by_kind(answer)
    assert kinds["computing"] == [(pytest.approx(2e-9), {"n": (2, 0), "ranks": (-1, 0)})]
    assert kinds["bandwidth"] == [(pytest.approx(400e-9), {"n": (1, 0)})]
    assert kinds["latency"] == [(pytest.approx(50e-6), {})]
    assert answer.error < 1e-6
    assert answer.points == 7
    for point in ({"n": 5e4, "ranks": 64}, {"n": 10, "ranks": 2}):
        n, p = point.values()
        expected_s = 2e-9 * n * n / p + 50e-6 + 400e-9 * n
        assert answer.time_s(point) == pytest.approx(expected_s)


def test_stages_among_ranks_are_found() -> None:
    answer = found({SEND: lambda _, p: (20, 160, 20 * 5e-6 * math.log2(p))})
    assert by_kind(answer) == {"latency": [(pytest.approx(100e-6), {"ranks": (0, 1)})]}
    assert (answer.decides, answer.beyond) == ("latency", ())


def test_messages_of_one_size_count_as_what_takes_most_of_it() -> None:
    parts: dict[tuple[str, int], Part] = {SEND: lambda _, __: (20, 20 * 5000, 1e-3)}
    assert found(parts, half_bytes=1000).decides == "bandwidth"
    assert found(parts, half_bytes=10_000).decides == "latency"


def test_it_says_from_which_number_on_something_else_decides() -> None:
    answer = found({
        LOOP: lambda n, p: (n / p, 0, 1e-6 * n / p),
        SEND: lambda _, __: (10, 80, 1e-3),
    })  # fmt: skip
    assert answer.decides == "latency"
    ((name, number, is_above, kind),) = answer.beyond
    assert (name, is_above, kind) == ("n", True, "computing")
    assert number == pytest.approx(8000, rel=0.1)
    assert answer.as_json()["beyond"][0]["decides"] == "computing"


def test_points_where_iterations_take_longer_are_left_out() -> None:
    answer = found({LOOP: lambda n, p: (n, 0, (1e-9 if n / p < 200 else 9e-9) * n)})
    assert (answer.points, answer.error) == (5, pytest.approx(0))


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {SEND: lambda *_: (1, 8, 0.0)},
        {SEND: lambda n, p: (1, 8, 1e-6 * (1 + (n * 7919 + p * 104729) % 13))},
    ],
)
def test_what_is_no_sum_of_few_terms_has_no_formula(parts: dict[tuple[str, int], Part]) -> None:
    assert formula(list(samples(parts)), 1000.0) is None


def test_one_point_has_no_formula() -> None:
    assert formula(list(samples({SEND: lambda *_: (1, 8, 1e-6)}))[:1], 1000.0) is None
