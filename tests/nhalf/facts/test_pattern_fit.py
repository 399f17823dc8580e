"""From the points of a run to models of patterns over sizes and ranks."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.pattern_fit import fit_patterns, not_modelled
from nhalf.machines.machine import PatternModel
from nhalf.machines.machine_file import encode, read
from nhalf.statistics.summary import summarise
from nhalf.store.keys import MEASUREMENT_COLUMNS, VERSION
from nhalf.store.run import Run

RANKS = (2, 3, 4, 6, 8, 12, 16)
SIZES = (1, 8, 64, 512, 4096, 32768)


def tree(n: int, p: int) -> float:
    return math.ceil(math.log2(p)) * (2e-6 + 1e-9 * n)


def bent(n: int, p: int) -> float:
    """What no sum of terms says."""
    return tree(n, p) * (1 + 0.3 * math.sin(math.log2(n + 1) / 3) * math.log2(p) / 4)


def rows_of(
    time_s: Callable[[int, int], float] = tree,
    ranks: tuple[int, ...] = RANKS,
    sizes: tuple[int, ...] = SIZES,
    placed: Callable[[int], str] = lambda p: f"{p}x1",
    **further: Any,
) -> list[dict[str, Any]]:
    """A measurement of every size and number of ranks."""
    base = {
        **{"run": "r", "transport": "mpi", "mpi": "lib", "pattern": "bcast"},
        **{"algorithm": "native", "axes": "", "launch": 0, "position": 0, "started_s": 0.0},
        **{"batch": 1, "messages_per_round": 1, "bytes_per_time": 1, "stop": "precision"},
        **{"verified": True, "advice": [], **further},
    }
    return [
        {**base, "bytes": n, "ranks": p, "placement": placed(p), "samples_s": [time_s(n, p)] * 3}
        for n in sizes
        for p in ranks
    ]


def fitted(rows: list[dict[str, Any]]) -> list[PatternModel]:
    frame = pl.DataFrame(rows, schema=MEASUREMENT_COLUMNS, orient="row")
    return fit_patterns(summarise(frame.sample(fraction=1.0, shuffle=True, seed=1).lazy()))


def make_run(folder: Path, rows: list[dict[str, Any]]) -> Run:
    run = Run.create(folder, {"environment": {"host": "node1"}})
    columns = {name: kind for name, kind in MEASUREMENT_COLUMNS.items() if name != "run"}
    for row in rows:
        row.pop("run")
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    frame.write_parquet(folder / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)})
    return run


def test_a_pattern_of_many_ranks_has_a_model_with_intervals_and_error() -> None:
    (model,) = fitted(rows_of())
    assert (model.pattern, model.mpi, model.placement) == ("bcast", "lib", "any x 1")
    assert (model.from_bytes, model.to_bytes, model.from_ranks, model.to_ranks) == (1, 32768, 2, 16)
    assert model.startup_s == {"ceil(log2(p))": pytest.approx(2e-6)}
    low, high = model.startup_ci["ceil(log2(p))"]
    assert low <= 2e-6 * (1 + 1e-9) and high >= 2e-6 * (1 - 1e-9)
    assert model.heldout_median == pytest.approx(0, abs=1e-6)
    assert model.heldout_cells == len(RANKS) * len(SIZES) - 4
    assert model.heldout_ranks_p95 == pytest.approx(0, abs=1e-6)
    assert model.timing == "completion"


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_numbers_of_ranks_have_no_model_and_the_reason_says_so(
    count: int, tmp_path: Path
) -> None:
    rows = rows_of(ranks=RANKS[:count])
    assert fitted([dict(row) for row in rows]) == []
    (missing,) = not_modelled(Facts.of([make_run(tmp_path / "run", rows)]).summary, [])
    assert missing.pattern == "bcast"
    assert missing.reason == f"measured at {count} numbers of ranks, 4 are needed"


def test_what_failed_is_left_out() -> None:
    wrong = rows_of(lambda n, p: 1.0, ranks=(5,), verified=False)
    zero = rows_of(lambda n, p: 0.0, ranks=(7,))
    (model,) = fitted([*rows_of(), *wrong, *zero])
    assert model.startup_s == {"ceil(log2(p))": pytest.approx(2e-6)}
    assert fitted(zero) == []


def test_kinds_of_placement_have_models_of_their_own() -> None:
    def on_one(n: int, p: int) -> float:
        return tree(n, p) / 10

    spread = rows_of()
    packed = rows_of(on_one, placed=lambda p: f"1x{p}")
    found = {model.placement: model for model in fitted([*spread, *packed])}
    assert sorted(found) == ["1 x any", "any x 1"]
    assert found["1 x any"].time_s(64, 8) == pytest.approx(on_one(64, 8), rel=1e-6)
    assert found["any x 1"].time_s(64, 8) == pytest.approx(tree(64, 8), rel=1e-6)


def test_placements_that_are_no_layouts_go_by_their_name() -> None:
    assert {model.placement for model in fitted(rows_of(placed=lambda p: "cores"))} == {"cores"}


def test_layouts_of_no_one_kind_go_together_where_each_number_of_ranks_has_one() -> None:
    def placed(p: int) -> str:
        return {2: "2x1", 3: "3x1", 4: "2x2", 6: "3x2", 8: "2x4", 12: "3x4"}.get(p, "2x8")

    assert {model.placement for model in fitted(rows_of(placed=placed))} == {""}


def test_a_correction_goes_through_the_machine_file_unchanged(tmp_path: Path) -> None:
    rows = rows_of(bent, sizes=(1, 4, 16, 64, 256, 1024, 4096, 16384))
    machine = Facts.of([make_run(tmp_path / "run", rows)]).machine
    assert any(model.leftover for model in machine.patterns)
    path = tmp_path / "machine.toml"
    path.write_bytes(encode(machine))
    again = read(path)
    assert again.patterns == machine.patterns
    for n, p in ((1, 2), (64, 5), (100, 5), (16384, 16)):
        (model,) = (one for one in again.patterns if one.covers(n, p))
        # Between sizes it is a straight line, which this curve is not.
        between = 0.03 if n != 100 else 0.08
        assert model.time_s(n, p) == pytest.approx(bent(n, p), rel=between)
        assert model.sums_s(n, p) != model.time_s(n, p)


def test_a_queue_has_its_depth_in_place_of_the_ranks() -> None:
    """Half of the queue is passed in reverse order, nothing in that of arrival."""

    def queued_s(depth: int, order: str) -> float:
        return 1e-6 + (order == "reverse") * 1e-8 * (depth - 1) / 2

    point = rows_of(ranks=(3,), sizes=(8,), pattern="drain")[0]
    rows = [
        point
        | {
            "axes": f"depth={depth},order={order},queue=unexpected",
            "samples_s": [queued_s(depth, order)],
        }
        for depth in (1, 4, 16, 64, 256, 1024)
        for order in ("in-order", "reverse")
    ]
    in_order, reverse = fitted(rows)
    assert (in_order.axes, in_order.counts) == ("order=in-order,queue=unexpected,ranks=3", "depth")
    assert in_order.time_s(8, 100) == pytest.approx(1e-6)
    assert reverse.time_s(8, 100) == pytest.approx(queued_s(100, "reverse"))
    assert (reverse.from_ranks, reverse.to_ranks, reverse.letter) == (1, 1024, "d")
    frame = pl.DataFrame(rows, schema=MEASUREMENT_COLUMNS, orient="row")
    assert not_modelled(summarise(frame.lazy()), [in_order, reverse]) == []
    assert fitted(rows[:6]) == []  # three depths
