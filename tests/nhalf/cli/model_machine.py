"""`nhalf run` on the simulated machine, whose every number is known."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.probes import is_built

Call = Callable[..., Any]

O_S, O_R, GAP, LATENCY, PER_BYTE = 1.25e-6, 0.75e-6, 3e-6, 4.5e-6, 2.5e-10
MACHINE = f"o_s={O_S},o_r={O_R},g={GAP},L={LATENCY},G={PER_BYTE}"
T0_S = O_S + LATENCY + O_R
"""A message of no bytes: sent, under way, received."""
PAIRWISE = [
    *("pingpong", "pingpong-ssend", "pingpong-bsend", "pingpong-rsend", "pingpong-diffbuf"),
    *("pingping", "exchange"),
]
EXACT = 1e-6
"""Relative."""


needs_probes = pytest.mark.skipif(not is_built("probe-model"), reason="the probes are not built")


def model(out: Path | str, *words: str, parameters: str = MACHINE) -> list[str]:
    effort = () if "--launches" in words else ("--launches", "2")
    choices = ["--transport", "model", "--model", parameters]
    return ["run", *choices, "--out", str(out), *effort, *words]


def fitted(call: Call, folder: Path) -> list[dict[str, Any]]:
    ended = call("fit", folder, "--json")
    assert ended.code == 0, ended.err
    models: list[dict[str, Any]] = json.loads(ended.out)["models"]
    return models
