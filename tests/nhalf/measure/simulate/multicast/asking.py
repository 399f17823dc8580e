"""Asking the simulator of multicasts."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from tests.patience import patience_s

O_S, O_R, SEND, RECEIVE, FORWARD, LINK = 2e-6, 3e-6, 0.5e-6, 0.7e-6, 0.4e-6, 0.1e-6

RATE = 1e9

COSTS = (
    f"o_s={O_S},o_r={O_R},nic_send={SEND},nic_receive={RECEIVE},nic_forward={FORWARD},"
    f"link_latency={LINK},link_bandwidth={RATE:g}"
)

ALGORITHMS = (
    *("separate", "serial", "binary", "binomial", "u-torus", "s-torus", "md-torus", "mu-torus"),
)

FORWARDINGS = ("host", "nic-assisted", "nic")

Ask = Callable[..., dict[str, Any]]


def answers(program: str, options: str, lines: list[str]) -> list[dict[str, Any]]:
    done = subprocess.run(
        [program, "--options", options],
        input="\n".join([*lines, "end", ""]),
        capture_output=True,
        text=True,
        check=True,
        timeout=patience_s(60),
    )
    records = [msgspec.json.decode(line) for line in done.stdout.splitlines()]
    assert records[0]["nhalf"] == "launch"
    assert records[-1] == {"nhalf": "end"}
    return records[1:-1]


def exactly(value: float) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-15)


def time_s(record: dict[str, Any]) -> float:
    assert record["nhalf"] == "point", record
    (sample_s,) = record["samples_s"]
    return float(sample_s)
