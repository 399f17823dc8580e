"""The model machine with thousands of ranks: the memory of its probe, and what it answers."""

from __future__ import annotations

import re
import subprocess
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nhalf.base.native_files import executable
from tests.patience import patience_s

ONE_WAY_S = 1e-6 + 5e-6 + 1e-6
"""o_s + L + o_r of the model machine as it is when nothing is said."""
TIMEOUT_S = 120


def asked(ranks: int, lines: list[str]) -> tuple[list[dict[str, Any]], int]:
    """The answers of a probe of this many ranks, and the most bytes of memory that it held."""
    probe = subprocess.Popen(
        [executable("probe-model"), "--ranks", str(ranks)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert probe.stdin
    assert probe.stdout
    killer = threading.Timer(patience_s(TIMEOUT_S), probe.kill)
    killer.start()
    with probe:
        for place, line in enumerate(lines):
            probe.stdin.write(f"id={place} {line}\n".encode())
        probe.stdin.flush()
        answers = [probe.stdout.readline() for _ in range(1 + len(lines))]
        peak_bytes = held_bytes(probe.pid)
        probe.stdin.close()
        probe.stdout.read()
    killer.cancel()
    assert probe.returncode == 0
    return [msgspec.json.decode(answer) for answer in answers], peak_bytes


def held_bytes(process: int) -> int:
    """The most memory that a process held since it became the program that it is."""
    status = Path(f"/proc/{process}/status").read_text()
    found = re.search(r"VmHWM:\s*(\d+) kB", status)
    assert found
    return int(found[1]) * 1024


def test_a_rank_takes_at_most_48_KiB_also_where_ranks_are_many() -> None:
    ranks = 8192
    lines = [
        "pattern=barrier axis.algorithm=dissemination samples_max=1",
        "pattern=bcast axis.algorithm=binomial bytes=8",
    ]
    (launch, barrier, broadcast), peak_bytes = asked(ranks, lines)
    assert len(launch["placement"]) == launch["ranks"] == ranks
    steps = ranks.bit_length() - 1
    for point in (barrier, broadcast):
        assert point["verified"]
        assert len(point["rank_s"]) == ranks
    assert barrier["samples_s"][0] == pytest.approx(steps * ONE_WAY_S)
    time_s = steps * (ONE_WAY_S + 8 * 1e-10)
    assert broadcast["samples_s"][0] == pytest.approx(time_s)
    assert peak_bytes <= ranks * 48 * 1024
