"""Models of patterns: what was put in comes out, what cannot be fitted is refused."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nhalf.base.errors import InputError
from nhalf.models.heldout import Heldout, fit_judged, heldout
from nhalf.models.pattern import Pattern
from nhalf.models.term_choice import VOCABULARY, Cells, choose, term_values

RANKS = (2, 3, 4, 6, 8, 12, 16, 24, 32)
SIZES = (0, 1, 16, 64, 256, 1024, 4096, 16384, 65536)


def cells(
    time_s: Callable[[int, int], float],
    ranks: tuple[int, ...] = RANKS,
    sizes: tuple[int, ...] = SIZES,
    noise: float = 0.0,
) -> Cells:
    """A cell for every size and number of ranks, with a relative error of its time."""
    places = [(n, p) for n in sizes for p in ranks]
    errors = np.random.default_rng(1).normal(0, noise, len(places)) if noise else np.zeros(81)
    times = [time_s(n, p) * math.exp(e) for (n, p), e in zip(places, errors, strict=False)]
    return Cells(
        np.array([float(n) for n, _ in places]),
        np.array([p for _, p in places], dtype=np.int64),
        np.array(times),
        np.full(len(places), noise),
    )


def tree(n: int, p: int) -> float:
    """A binomial tree of messages."""
    return math.ceil(math.log2(p)) * (2e-6 + 1e-9 * n)


def test_a_tree_is_found_with_its_coefficients() -> None:
    model, errors, by_ranks = fit_judged(cells(tree))
    (region,) = model.regions
    assert region.chosen.startup_s == {"ceil(log2(p))": pytest.approx(2e-6, rel=1e-6)}
    assert region.chosen.per_byte_s == {"ceil(log2(p))": pytest.approx(1e-9, rel=1e-6)}
    assert region.correction is None
    assert errors is not None and errors.p95 < 1e-6 and errors.count == 9 * 9 - 4
    assert by_ranks is not None and by_ranks.p95 < 1e-6 and by_ranks.count == 9 * 7


def test_a_change_of_algorithm_is_a_region_of_its_own() -> None:
    def time_s(n: int, p: int) -> float:
        return (
            tree(n, p) if n <= 1024 else (p - 1) * 1e-5 + math.log2(p) * 1e-6 + n * (p - 1) * 3e-9
        )

    model = Pattern.fit(cells(time_s))
    small, large = model.regions
    assert small.to_bytes + 1 == large.from_bytes and 1024 < large.from_bytes <= 4096
    assert large.chosen.per_byte_s == {"p-1": pytest.approx(3e-9, rel=1e-3)}
    assert np.allclose(
        model.predict_s(np.array([512.0, 9000.0]), np.array([5, 20])),
        [time_s(512, 5), time_s(9000, 20)],
        rtol=2e-3,
    )


def test_what_few_terms_cannot_say_is_corrected_where_that_helps() -> None:
    def time_s(n: int, p: int) -> float:
        return tree(n, p) * (1 + 0.2 * math.sin(math.log2(n + 1) / 3) * math.log2(p) / 5)

    exact = cells(time_s)
    plain, corrected, _ = heldout(exact)
    assert corrected.mean() < 0.5 * plain.mean()
    model, errors, _ = fit_judged(exact)
    assert model.smooth or any(region.correction is not None for region in model.regions)
    assert errors is not None and errors.median < 0.01
    again = model.predict_s(exact.size_bytes, exact.ranks)
    assert np.abs(again / exact.time_s - 1).max() < 0.02


def test_noise_is_not_corrected_and_stays_inside_the_stated_error() -> None:
    model, errors, _ = fit_judged(cells(tree, noise=0.05))
    assert errors is not None
    assert 0.02 < errors.median < 0.06
    truth = np.array([tree(n, p) for n in SIZES for p in RANKS])
    found = model.predict_s(cells(tree).size_bytes, cells(tree).ranks)
    assert np.median(np.abs(found / truth - 1)) < 0.03


def test_no_sum_has_terms_that_are_mere_noise() -> None:
    # Two ranks with a core each, then more that wait for turns: launches differ by factors.
    times_us = {
        2: (0.31, 0.33),
        3: (8354, 4754),
        4: (13848, 6929),
        5: (16228, 19514),
        6: (10744, 24704),
    }
    few = Cells(
        np.array([8.0, 256.0] * 5),
        np.repeat(list(times_us), 2),
        np.array([1e-6 * time for both in times_us.values() for time in both]),
        np.full(10, 0.5),
    )
    found = choose(few)
    values = [*found.startup_s.values(), *found.per_byte_s.values()]
    spreads = [*found.spread_startup_s.values(), *found.spread_per_byte_s.values()]
    assert len(values) > 1
    assert all(abs(v) > 2 * s for v, s in zip(values, spreads, strict=True))


def test_times_that_are_all_the_same_are_one_constant() -> None:
    model, errors, _ = fit_judged(cells(lambda n, p: 3e-6))
    (region,) = model.regions
    assert region.chosen.startup_s == {"1": pytest.approx(3e-6)}
    assert region.chosen.per_byte_s == {}
    assert errors == Heldout(pytest.approx(0, abs=1e-9), pytest.approx(0, abs=1e-9), 77)


def test_a_pattern_without_sizes_has_terms_of_ranks_only() -> None:
    barrier = cells(lambda n, p: 3e-6 * math.ceil(math.log2(p)) + 1e-6, sizes=(0,))
    (region,) = Pattern.fit(barrier).regions
    assert region.chosen.per_byte_s == {}
    times = Pattern.fit(barrier).predict_s(np.zeros(2), np.array([5, 31]))
    assert times == pytest.approx([10e-6, 16e-6], rel=1e-6)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_few_numbers_of_ranks_are_refused(count: int) -> None:
    with pytest.raises(InputError, match=f"needs 4 numbers of ranks, there are {count}"):
        Pattern.fit(cells(tree, ranks=RANKS[:count]))


@pytest.mark.parametrize("bad", [0.0, -1e-6, math.nan, math.inf])
def test_times_that_are_none_are_refused(bad: float) -> None:
    with pytest.raises(InputError, match="times must be positive"):
        Pattern.fit(cells(lambda n, p: bad if (n, p) == (64, 8) else tree(n, p)))


def test_a_cell_that_is_there_twice_is_refused() -> None:
    with pytest.raises(InputError, match="there twice"):
        Pattern.fit(cells(tree, sizes=(1, 1, 2)))


def test_nothing_is_said_beyond_what_was_measured_unless_asked() -> None:
    model = Pattern.fit(cells(tree))
    for size, ranks in ((65537.0, 8), (8.0, 33), (8.0, 1)):
        place = np.array([size]), np.array([ranks])
        with pytest.raises(InputError, match="covers 0 to 65536 bytes of 2 to 32 ranks only"):
            model.predict_s(*place)
        assert np.isfinite(model.predict_s(*place, extrapolate=True)).all()


def test_millions_of_ranks_are_fitted() -> None:
    ranks = (2, 16, 1024, 65536, 1048576)
    model = Pattern.fit(cells(lambda n, p: 1e-6 * math.log2(p) + 1e-9 * n, ranks=ranks))
    assert model.predict_s(np.array([100.0]), np.array([32768])) == pytest.approx(15.1e-6, rel=1e-3)


def test_a_cell_that_is_missing_is_no_harm() -> None:
    whole = cells(tree)
    some = whole.take(np.arange(whole.ranks.size) % 4 < 3)
    model = Pattern.fit(some)
    assert model.predict_s(whole.size_bytes, whole.ranks) == pytest.approx(whole.time_s, rel=1e-5)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
@example(seed=71765)
def test_no_time_is_negative_within_the_support(seed: int) -> None:
    draw = np.random.default_rng(seed)
    ranks = tuple(sorted(map(int, draw.choice(np.arange(2, 200), 5, replace=False))))
    wild = cells(lambda n, p: float(np.exp(draw.normal(-12, 2))), ranks=ranks, sizes=SIZES[::2])
    model = Pattern.fit(wild, corrected=True)
    every = np.arange(ranks[0], ranks[-1] + 1)
    for size in (0.0, 1.0, 300.0, 65536.0):
        assert (model.predict_s(np.full(every.size, size), every) > 0).all()


def test_the_same_cells_give_the_same_model() -> None:
    noisy = cells(tree, noise=0.1)
    order = np.random.default_rng(2).permutation(noisy.ranks.size)
    shuffled = Cells(*(values[order] for values in vars(noisy).values()))
    place = np.array([100.0, 5000.0]), np.array([5, 7])
    assert Pattern.fit(noisy).predict_s(*place) == pytest.approx(
        Pattern.fit(shuffled).predict_s(*place)
    )
    assert heldout(noisy)[0] == pytest.approx(heldout(noisy)[0])


def test_intervals_of_coefficients_hold_what_was_put_in() -> None:
    inside = 0
    for seed in range(40):
        draw = np.random.default_rng(seed)
        noisy = cells(lambda n, p: tree(n, p) * math.exp(draw.normal(0, 0.03)))  # noqa: B023
        chosen = choose(noisy)
        if list(chosen.startup_s) == ["ceil(log2(p))"]:
            spread = chosen.spread_startup_s["ceil(log2(p))"]
            inside += abs(chosen.startup_s["ceil(log2(p))"] - 2e-6) < 2 * spread
    assert inside >= 32


def test_terms_are_those_of_machine_files() -> None:
    row = term_values(np.array([8, 3]))[0]
    assert dict(zip(VOCABULARY, row, strict=True))["p*log2(p)"] == 24
