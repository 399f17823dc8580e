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


@pytest.mark.parametrize("width", [40, 30, 20, 12])
def test_a_row_that_has_no_room_is_a_line_for_each_column(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    show_table(COLUMNS, [ROW])
    out = capsys.readouterr().out
    words = " ".join(out.split())
    assert "curve: pingpong, openmpi at: all sizes change: +4.0 % verdict: slower" in words
    assert max(map(len, out.splitlines())) <= width


def test_a_long_table_has_no_number_cut_either(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    show_table(COLUMNS, [ROW] * 50)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 60
    assert out.count("+4.0 %") == 50
