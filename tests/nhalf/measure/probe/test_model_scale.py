# SPDX-License-Identifier: Apache-2.0
"""The model machine with thousands of ranks: the memory of its probe, and what it answers."""

from __future__ import annotations

import os
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


def asked(ranks: int, lines: list[str], folder: Path) -> tuple[list[dict[str, Any]], int]:
    """The answers of a probe of so many ranks, and the bytes that it had at most.

    Linux counts what the process was before it became the probe, too: this one's size.
    """
    questions = folder / "questions"
    questions.write_text("\n".join(f"id={place} {line}" for place, line in enumerate(lines)) + "\n")
    answers = folder / "answers"
    with questions.open() as given, answers.open("w") as said:
        probe = subprocess.Popen(
            [executable("probe-model"), "--ranks", str(ranks)], stdin=given, stdout=said
        )
        killer = threading.Timer(patience_s(TIMEOUT_S), probe.kill)
        killer.start()
        _, status, used = os.wait4(probe.pid, 0)
        killer.cancel()
    probe.returncode = os.waitstatus_to_exitcode(status)
    assert probe.returncode == 0
    records = [msgspec.json.decode(line) for line in answers.read_text().splitlines()]
    return records, used.ru_maxrss * 1024


def test_a_rank_takes_at_most_48_KiB_also_where_ranks_are_many(tmp_path: Path) -> None:
    ranks = 8192
    lines = [
        "pattern=barrier axis.algorithm=dissemination samples_max=1",
        "pattern=bcast axis.algorithm=binomial bytes=8",
    ]
    (launch, barrier, broadcast, _), peak_bytes = asked(ranks, lines, tmp_path)
    assert len(launch["placement"]) == launch["ranks"] == ranks
    steps = ranks.bit_length() - 1
    for point in (barrier, broadcast):
        assert point["verified"]
        assert len(point["rank_s"]) == ranks
    assert barrier["samples_s"][0] == pytest.approx(steps * ONE_WAY_S)
    time_s = steps * (ONE_WAY_S + 8 * 1e-10)
    assert broadcast["samples_s"][0] == pytest.approx(time_s)
    assert peak_bytes <= ranks * 48 * 1024
