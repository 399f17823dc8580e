"""What `make bench` reads of OSACA and llvm-mca, and the shares that its page names."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))

from benchmarks import loop_bounds, loop_tools
from nhalf.loops.listing.listing import EmittedLoop, instruction

ANSWER = """Kernel:
- PortPressure: {'0': 9.0}
Summary:
  CriticalPath: 11
  LCD: 6.0
  PortPressure: {'0': 0.81, 0DV: 0.0, '1': 0.8, '10': 0.79,
    '2': 0.67, '9': 0.5}
Target:
  Name: SPR
"""
CPU = "processor\t: 0\nvendor_id\t: {}\ncpu family\t: {}\nmodel\t\t: {}\nmodel name\t: X\n"
LINES = ("addsd (%rsi,%rax,8), %xmm0", "addq $1, %rax", "cmpq %rax, %rdi", "jne .L3")
LOOP = EmittedLoop(tuple(instruction(line, 1) for line in LINES), Counter())


def test_a_summary_of_osaca_has_ports_and_the_chain() -> None:
    assert loop_tools.summary_of(ANSWER) == loop_tools.Analysed(0.81, 6.0)
    assert loop_tools.summary_of(ANSWER.replace("6.0", "0")) == loop_tools.Analysed(0.81, 0.81)
    for damaged in ("", "Summary:\n", ANSWER.replace("LCD", "X")):
        assert loop_tools.summary_of(damaged) is None


@pytest.mark.parametrize(
    ("vendor", "family", "model", "name"),
    [
        ("GenuineIntel", 6, 207, "SPR"),
        ("AuthenticAMD", 25, 1, "ZEN3"),
        ("AuthenticAMD", 25, 17, "ZEN4"),
        ("AuthenticAMD", 26, 2, ""),
        ("GenuineIntel", 6, 1, ""),
    ],
)
def test_processors_have_the_names_of_osaca(
    vendor: str, family: int, model: int, name: str
) -> None:
    assert loop_tools.processor_of(CPU.format(vendor, family, model)) == name
    assert loop_tools.processor_of("") == ""


def test_a_loop_is_assembly_again() -> None:
    text = loop_tools.assembly(LOOP)
    assert text.splitlines() == [
        ".Lpass:", "\taddsd (%rsi,%rax,8),%xmm0", "\taddq $1,%rax", "\tcmpq %rax,%rdi",
        "\tjne .Lpass",
    ]  # fmt: skip


def test_missing_tools_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NHALF_OSACA", raising=False)
    monkeypatch.setattr(loop_tools.shutil, "which", lambda name: None)
    assert [reason.split()[0] for reason in loop_tools.missing()] == ["OSACA", "llvm-mca"]
    assert loop_tools.by_osaca(LOOP) is None
    assert loop_tools.by_llvm_mca(LOOP) is None


def test_the_page_has_shares_of_what_was_predicted() -> None:
    names = (*loop_bounds.LIMITS, *loop_bounds.PREDICTIONS)
    rows = [
        {"kernel": "1 x", "build": "gcc -O2", "MA": 1.0, **dict.fromkeys(names), "measured": 2.0}
        | {"nhalf MACS": predicted}
        for predicted in (2.0, 1.7, 2.2, 1.0, None)
    ]
    share = loop_bounds.share_near(rows, "nhalf MACS")
    assert share == {"loops": 4, "near": 0.75, "above": 0.25}
    assert loop_bounds.share_near(rows, "OSACA") == {"loops": 0, "near": 0.0, "above": 0.0}
    shares = {name: loop_bounds.share_near(rows, name) for name in names}
    page = loop_bounds.page(rows, shares, ["OSACA is not here."])
    assert "| nhalf MACS | 4 | 75 % | 25 % |" in page
    assert "\n| OSACA |" not in page
    assert page.count("| 1 x | gcc -O2 | 1.00 | – |") == 5
    assert "OSACA is not here." in page
