# SPDX-License-Identifier: Apache-2.0
"""Tables on narrow terminals: columns are left out and names wrap before a value is cut."""

from __future__ import annotations

import pytest

from nhalf.present.terminal.tables import show_table

COLUMNS = ["curve", "at", "baseline", "now", "change", "interval", "verdict"]
ROW = ["pingpong, openmpi", "all sizes", "12.5 µs", "13 µs", "+4.0 %", "+2.0 to +7.5 %", "slower"]


@pytest.mark.parametrize(
    ("width", "left_out"),
    [
        (120, ""),
        (88, ""),
        (75, "baseline"),
        (70, "baseline, now"),
        (60, "baseline, now"),
        (52, "baseline, now, interval"),
    ],
)
def test_no_value_is_cut_and_what_is_left_out_is_named(
    width: int, left_out: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    show_table(COLUMNS, [ROW])
    out = capsys.readouterr().out
    lines = [line for line in out.splitlines() if line.strip()]
    assert "…" not in out
    assert max(map(len, lines)) <= width
    named = " ".join(out.split()).partition("left out, as the terminal is narrow: ")[2]
    assert named == left_out
    shown = [cell for name, cell in zip(COLUMNS, ROW, strict=True) if name not in left_out]
    assert all(cell in out for cell in shown[1:])
    assert all(word in out for word in shown[0].split())
