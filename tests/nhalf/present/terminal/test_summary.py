"""The table that a run ends with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.overview import overview
from nhalf.present.terminal.summary import overview_table, show_outcome, show_points
from tests.nhalf.synthetic import build_pair_map


@pytest.mark.parametrize(("launches", "told"), [(1, False), (2, True), (5, True)])
def test_one_launch_shows_no_interval(
    make_measurements: Callable[..., pl.LazyFrame], launches: int, told: bool
) -> None:
    """However narrow its samples are: they do not show how much launches differ."""
    table = overview_table(overview(Facts(make_measurements(launches=launches), {}, {})))
    cells = list(table.columns[2].cells)
    assert cells
    assert all((cell != "–") == told for cell in cells)


def test_a_narrow_terminal_leaves_columns_out_and_cuts_no_value(
    make_measurements: Callable[..., pl.LazyFrame],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    facts = Facts(make_measurements(launches=5, advice=["imprecise", "bimodal"]), {}, {})
    for columns, left_out in ((60, "samples, launches"), (200, "")):
        monkeypatch.setenv("COLUMNS", str(columns))
        show_points(facts)
        out = capsys.readouterr().out
        assert "…" not in out
        assert max(map(len, out.splitlines()[:-1])) <= columns
        assert ("left out, as the terminal is narrow: " + left_out in out) == bool(left_out)
        assert ("samples" in out.splitlines()[3]) != bool(left_out)


def test_what_has_to_be_repaired_comes_before_any_result(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    slow = build_pair_map(["n1", "n2", "n3", "n4"], lambda a, b: 3.0 if "n3" in (a, b) else 1.0)
    outcome = Mock(failed={}, notes=[], unmeasured={})
    show_outcome(outcome, Facts(slow, {}, {"run": {}}), None)
    bullets = [line for line in capsys.readouterr().out.splitlines() if line.startswith("•")]
    assert bullets[0].startswith("• Suspect rank 2. ")
    assert any("Pair map" in line for line in bullets[1:])


@pytest.mark.parametrize(
    ("step", "rate"), [("put", 1e9), ("get", 1e9), ("signal", None), ("map", None)]
)
def test_only_steps_that_move_the_segment_have_a_rate(
    make_measurements: Callable[..., pl.LazyFrame], step: str, rate: float | None
) -> None:
    measured = make_measurements(
        patterns=("primitive",), sizes=(1000,), axes=f"step={step}", samples_s=[1e-6] * 3
    )
    assert Facts(measured, {}, {}).sound["rate_Bps"].to_list() == [rate]
