"""b_eff of simulated machines is what its own script computes."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from nhalf.base.errors import MissingError
from nhalf.base.native_files import executable
from nhalf.results.b_eff import b_eff, rates
from tests.nhalf.results.b_eff.made_up import frame
from tests.nhalf.results.b_eff.script import (
    LENGTHS,
    LONGEST,
    METHODS,
    own_b_eff,
    own_rates,
)
from tests.patience import patience_s

USUAL = {"o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "L": 5e-6, "G": 1e-10}

GAPS = {"o_s": 1e-6, "o_r": 3e-6, "g": 40e-6, "L": 2e-6, "G": 2e-9}

SLOW_BYTES = {"o_s": 4e-6, "o_r": 0.5e-6, "g": 7e-6, "L": 1e-6, "G": 3e-8}


def has_model() -> bool:
    try:
        executable("probe-model")
    except MissingError:
        return False
    return True


def measured(ranks: int, parameters: dict[str, float]) -> pl.LazyFrame:
    """Every point, measured by the probe in one launch of the model."""
    points = list(itertools.product(range(1, 37), METHODS, LENGTHS))
    lines = [
        f"id={number} pattern=ring bytes={size} slice_s=0.01 axis.ring={ring} axis.method={method}"
        for number, (ring, method, size) in enumerate(points)
    ]
    options = ",".join(f"{name}={value}" for name, value in parameters.items())
    output = subprocess.run(
        [str(executable("probe-model")), "--ranks", str(ranks), "--options", options],
        input="\n".join([*lines, "end", ""]),
        capture_output=True,
        text=True,
        check=True,
        timeout=patience_s(300),
    ).stdout
    records = [json.loads(line) for line in output.splitlines()]
    answers = [record for record in records if record["nhalf"] == "point"]
    assert [int(record["id"]) for record in answers] == list(range(len(points)))
    assert all(record["verified"] for record in answers)
    return frame(
        [
            {
                "ranks": ranks,
                "axes": f"method={method},ring={ring}",
                "bytes": size,
                "bytes_per_time": record["bytes_per_time"],
                "samples_s": record["samples_s"],
            }
            for (ring, method, size), record in zip(points, answers, strict=True)
        ]
    )


@pytest.mark.sampled(2)
@pytest.mark.skipif(not has_model(), reason="probe-model is not built")
@pytest.mark.parametrize(
    ("ranks", "parameters"),
    [
        (2, USUAL),
        (5, GAPS),
        (4, SLOW_BYTES),
        *(pytest.param(ranks, USUAL, marks=pytest.mark.full) for ranks in (4, 5, 7, 8)),
        *(pytest.param(ranks, GAPS, marks=pytest.mark.full) for ranks in (2, 8)),
        pytest.param(7, SLOW_BYTES, marks=pytest.mark.full),
    ],
)
def test_b_eff_of_the_model_is_what_the_script_computes(
    ranks: int, parameters: dict[str, float]
) -> None:
    found = own_rates(ranks, parameters)
    points = measured(ranks, parameters)
    for row in rates(points).iter_rows(named=True):
        wanted = found[row["ring"], row["method"], row["bytes"]]
        assert row["rate_Bps"] == pytest.approx(wanted, rel=1e-9), row
    (row,) = b_eff(points)
    whole, rings, random = own_b_eff(found)
    assert row["missing"] == ""
    assert row["b_eff_Bps"] == pytest.approx(whole, rel=1e-9)
    assert row["rings_Bps"] == pytest.approx(rings, rel=1e-9)
    assert row["random_Bps"] == pytest.approx(random, rel=1e-9)
    assert row["b_eff_per_process_Bps"] == pytest.approx(whole / ranks, rel=1e-9)


def test_the_script_knows_a_round_in_closed_form() -> None:
    o_s, o_r, latency, per_byte = 1e-6, 1e-6, 5e-6, 1e-10
    one_way = o_s + latency + o_r
    found = own_rates(8, USUAL)
    for size in LENGTHS:
        times_s = {method: 16 * size / found[6, method, size] for method in METHODS}
        assert times_s["sendrecv"] == pytest.approx(2 * (one_way + size * per_byte), rel=1e-12)
        second = max(o_s, USUAL["g"] + size * per_byte)
        assert times_s["nonblocking"] == pytest.approx(
            second + one_way + size * per_byte, rel=1e-12
        )
        # Rings of two: one message each way.
        assert 8 * size / found[1, "sendrecv", size] == pytest.approx(
            one_way + size * per_byte, rel=1e-12
        )


@pytest.mark.full
@pytest.mark.skipif(not has_model(), reason="probe-model is not built")
@pytest.mark.slow
def test_the_whole_chain_gives_the_value_of_the_script(tmp_path: Path) -> None:
    options = ",".join(f"{name}={value}" for name, value in GAPS.items())
    arguments = ["run", "beff", "--transport", "model", "--model", options, "--ranks", "5"]
    arguments += ["--bytes", "b_eff:16K", "--launches", "1", "--out", str(tmp_path / "r"), "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "nhalf", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    [row] = json.loads(done.stdout)["results"]["b_eff"]["rows"]
    whole, rings, random = own_b_eff(own_rates(5, GAPS))
    assert row["missing"] == ""
    assert (row["ranks"], row["longest_bytes"]) == (5, LONGEST)
    assert row["b_eff_Bps"] == pytest.approx(whole, rel=1e-9)
    assert row["rings_Bps"] == pytest.approx(rings, rel=1e-9)
    assert row["random_Bps"] == pytest.approx(random, rel=1e-9)
