"""Packets that were put into the simulated machine are found and told."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow

MACHINE = "o_s=1e-6,o_r=1e-6,g=2e-6,L=5e-6,G=1e-9"
PACKETS = ",packet_offset_bytes=217,packet_bytes=232,packet_s=2e-6"


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("options", "lengths"), [(PACKETS, [232]), ("", [])])
def test_the_length_of_packets_comes_out(
    options: str, lengths: list[int], call: Callable[..., Any]
) -> None:
    model = ["--transport", "model", "--model", MACHINE + options]
    measured = call(
        "run", *model, "--bytes", "0:2000:8", "--launches", "2", "--budget", "20s", "--quiet",
        "--out", "run",
    )  # fmt: skip
    assert measured.code == 0, measured.err
    findings = json.loads(call("report", "run", "--json").out)["findings"]
    found = [finding["value"] for finding in findings if finding["kind"] == "packet-steps"]
    assert found == lengths
