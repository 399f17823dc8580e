# SPDX-License-Identifier: Apache-2.0
"""What a run ends with is computed once, however many tell it."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from nhalf.base import native_files
from nhalf.base.errors import NhalfError
from nhalf.cli.group import command_line
from nhalf.facts.fit import fit_summary
from nhalf.present.findings import findings
from nhalf.statistics.summary import summarise

COUNTED: tuple[Callable[..., Any], ...] = (summarise, fit_summary, findings)
RUN = ["run", "--transport", "model", "--bytes", "0:64K", "--launches", "2", "--report"]


def calls_of(words: list[str]) -> Counter[str]:
    """How often each of COUNTED is called, by whatever name somebody imported it."""
    codes = {inspect.unwrap(one).__code__: one.__name__ for one in COUNTED}
    counted: Counter[str] = Counter()

    def count(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code in codes:
            counted[codes[frame.f_code]] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        command_line().main(words, standalone_mode=False)
    finally:
        sys.setprofile(before)
    return counted


def counted_in(tmp_path: Path, output: list[str]) -> Counter[str]:
    """The calls of a run with a report; skips where the probes are not built."""
    try:
        native_files.executable("probe-model")
    except NhalfError:
        pytest.skip("the probes are not built")
    counted = calls_of([*RUN, "--out", str(tmp_path / "r"), *output])
    assert (tmp_path / "r" / "report.html").exists()
    return counted


@pytest.mark.parametrize("output", [[], ["--json"]], ids=["tables", "json"])
def test_everything_is_computed_once(output: list[str], tmp_path: Path) -> None:
    counted = counted_in(tmp_path, output)
    assert counted == {"summarise": 1, "fit_summary": 1, "findings": 1}
