"""Charts with an earlier run or a machine behind their curves, and n½ in the bandwidth's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.cli.verbs.report import Request, command
from nhalf.facts.facts import Facts
from nhalf.facts.overlay import of_machine, of_run
from nhalf.machines import catalogue
from nhalf.present.panels.messages import Bandwidth, Latency
from nhalf.present.report.sections import sections
from tests.nhalf.present.report.test_page import stored

Make = Callable[..., pl.LazyFrame]


def layer(spec: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The rows of the layers whose data have this name."""
    found = [one["data"] for one in spec["layer"] if one.get("data", {}).get("name") == name]
    return [row for data in found for row in data["values"]]


def test_n_half_is_marked_where_the_rate_is_half(make_measurements: Make) -> None:
    facts = Facts(make_measurements(noise=0.001, launch_noise=0.001))
    (chart,) = [Bandwidth().render(facts)]
    stem, _ = rows = layer(chart.to_dict(), "half-rates")  # type: ignore[union-attr]
    # T = t0 + n / r_inf reaches half of r_inf at t0 * r_inf = 5000 B (Hockney).
    assert {row["bytes"] for row in rows} == {stem["bytes"]}
    assert stem["bytes"] == pytest.approx(5000, rel=0.05)
    assert stem["median_rate"] == pytest.approx(2.5e9, rel=0.02)


def test_an_earlier_run_has_the_colours_of_its_libraries(make_measurements: Make) -> None:
    facts = Facts(make_measurements(libraries=("a", "b"), noise=0))
    before = Facts(make_measurements(libraries=("a",), slower={"a": 2.0}, noise=0))
    both = facts.with_known(overlay=of_run(facts, before, "before"))
    for panel in (Latency(), Bandwidth()):
        rows = layer(panel.render(both).to_dict(), "overlay")  # type: ignore[union-attr]
        assert {row["series"] for row in rows} == {"a"}
        assert {row["of"] for row in rows} == {"before"}
    latency = next(one for one in sections(both) if one.name == "latency")
    assert latency.spec is not None
    assert latency.spec["title"]["subtitle"] == ["dashed: before, for comparison"]


def test_a_machine_says_what_its_models_do(make_measurements: Make) -> None:
    facts = Facts(make_measurements(sizes=(0, 8, 1024, 4096)))
    found = of_machine(facts, catalogue.machine("sp2-mpl"))
    assert set(found.points["bytes"]) <= {0, 8, 1024, 4096}
    assert found.points["median_s"].min() > 1e-5  # type: ignore[operator]
    assert found.points.filter(pl.col("bytes") == 0)["rate_Bps"].null_count() > 0


def test_what_has_nothing_in_common_is_refused(make_measurements: Make) -> None:
    facts = Facts(make_measurements())
    with pytest.raises(InputError, match="no curve of a pattern"):
        of_run(facts, Facts(make_measurements(patterns=("stream",))), "before")


def test_the_verb_takes_runs_with_a_library_and_an_overlay(
    tmp_path: Path, make_measurements: Make
) -> None:
    run = stored(tmp_path / "run", make_measurements(libraries=("a-1.0", "b"), sizes=(0, 1, 1024)))
    stored(tmp_path / "before", make_measurements(libraries=("a-1.0",), sizes=(0, 1, 1024)))
    one = Path(f"{run.path}:a")
    command(Request(runs=(one,), overlay=str(tmp_path / "before")))
    html = (run.path / "report-a-1.0.html").read_text(encoding="utf-8")
    assert "dashed: before" in html
    assert "1 library" in html
    command(Request(runs=(run.path,), overlay="sp2-mpl"))
    assert "dashed: sp2-mpl" in (run.path / "report.html").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="unknown library"):
        command(Request(runs=(Path(f"{run.path}:c"),)))
