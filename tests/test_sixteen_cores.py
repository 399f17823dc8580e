"""The page of one machine with 16 cores says what its figures say."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "benchmarks"
PAGE = (FOLDER / "sixteen-cores.md").read_text(encoding="utf-8")
FIGURES: dict[str, Any] = json.loads((FOLDER / "sixteen-cores.json").read_text(encoding="utf-8"))
SLOWER = 1.08
TITLES = {
    "intel-2021.19.0": "Intel MPI 2021.19",
    "openmpi-5.0.11": "Open MPI 5.0.11",
    "mpich-5.0.2": "MPICH 5.0.2",
}


@pytest.mark.parametrize(
    ("library", "ranks"), sorted({(row["library"], row["ranks"]) for row in FIGURES["preloaded"]})
)
def test_the_table_of_preloaded_collectives_follows_from_the_figures(
    library: str, ranks: int
) -> None:
    rows = [
        row for row in FIGURES["preloaded"] if (row["library"], row["ranks"]) == (library, ranks)
    ]
    ratios = [row["preloaded_us"] / row["plain_us"] for row in rows]
    slower = sum(ratio >= SLOWER for ratio in ratios)
    figures = f"{min(ratios):.2f} | {median(ratios):.2f} | {max(ratios):.2f} | {slower} |"
    assert f"| {TITLES[library]} | {rows[0]['program']} | {ranks} | {len(rows)} | {figures}" in PAGE


@pytest.mark.parametrize(
    ("level", "title"),
    [
        ("L2", "from level 2"),
        ("memory", "from memory"),
        ("memory, streaming stores", "from memory, streaming stores"),
    ],
)
def test_the_rates_of_copies_follow_from_the_figures(level: str, title: str) -> None:
    rates = [
        f"{row['rate_Bps'] / 1e9:.3g}"
        for row in FIGURES["node"]["stream"]
        if (row["kernel"], row["level"]) == ("copy", level)
    ]
    (line,) = (line for line in PAGE.splitlines() if line.startswith(f"| {title} |"))
    assert [float(cell) for cell in line.split("|")[2:-1]] == [float(rate) for rate in rates]


def test_ten_runs_in_turns_are_as_far_apart_as_the_page_says() -> None:
    def apart(name: str) -> float:
        return median(row[name][2] / row[name][0] for row in FIGURES["ten_runs"])

    assert f"a factor of {apart('imb_us'):.2f} for IMB" in PAGE.replace("\n", " ")
    assert f"of {apart('nhalf_us'):.2f} for nhalf" in PAGE.replace("\n", " ")
