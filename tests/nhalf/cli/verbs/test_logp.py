"""LogP from the command line to the machine file, on a machine whose parameters are known."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from nhalf.base import native_files
from nhalf.base.errors import MissingError


def probe_is_built() -> bool:
    try:
        return bool(native_files.executable("probe-model"))
    except MissingError:
        return False


@pytest.mark.skipif(not probe_is_built(), reason="the model probe was not built")
def test_what_the_study_measures_is_shown_and_fitted(call: Callable[..., Any]) -> None:
    machine = "o_s=1e-6,o_r=2e-6,g=4e-6,L=5e-6,G=1e-9"
    ended = call(
        "run", "logp", "--transport", "model", "--model", machine, "--bytes", "0,1,4096,16384",
        "--launches", "2", "--out", "r", "--json",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    (row,) = json.loads(ended.out)["results"]["logp"]["rows"]
    assert row["missing"] == ""
    assert row["doubts"] == []
    assert row["half_round_trip_s"] == pytest.approx(8e-6, rel=1e-9)
    assert row["latency_s"] == pytest.approx(5e-6 + 1e-9, rel=1e-9)
    assert row["gap_per_byte_s"] == pytest.approx(1e-9, rel=1e-9)
    shown = call("show", "r")
    assert "LogP" in shown.out
    assert "o_s" in shown.out
    (found,) = json.loads(call("fit", "r", "--json").out)["loggp"]
    assert found["recv_overhead_s"] == pytest.approx(2e-6, rel=1e-9)
