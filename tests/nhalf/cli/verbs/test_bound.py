"""`nhalf bound`: bounds of the loops of a C file, as a table and as JSON."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from nhalf.loops.rungs import READABLE
from nhalf.machines.processor_file import processor, write
from nhalf.node.described import path_of_here

Call = Callable[..., Any]
KEYS = [
    *("function", "line", "f_add", "f_mul", "f_fma", "f_div", "f_sqrt", "loads", "stores"),
    *("t_fp", "t_mem", "t_issue", "t_dep", "cycles", "cpf", "mflops", "limit", "in_order"),
]
SOURCE = """#include <stdio.h>
#define N 1000
double x[N + 1], y[N + 1];
void difference(void) {
  for (int k = 0; k < N; k++)
    x[k] = y[k + 1] - y[k];
}
int main(void) {
  for (int k = 0; k < N; k++)
    printf("%g", x[k]);
  return 0;
}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.c"
    path.write_text(SOURCE, "utf-8")
    return path


def test_doubtful_rates_are_named_beside_the_bounds(
    call: Call, source: Path, tmp_path: Path
) -> None:
    assert json.loads(call("bound", str(source), "--json").out)["doubts"] == []
    power = processor("power2")
    add = replace(power.operations[0], doubt="launches disagree", per_cycle_ci=(1.0, 4.0))
    write(replace(power, operations=(add, *power.operations[1:])), tmp_path / "odd.toml")
    ended = call("bound", str(source), "--machine", str(tmp_path / "odd.toml"))
    assert "doubtful: add, scalar: launches disagree; bounds reckon with up to 4.00" in ended.out


def test_each_loop_has_its_bound_and_each_refused_one_its_reason(call: Call, source: Path) -> None:
    ended = call("bound", str(source), "--machine", "power2", "--json")
    assert (ended.code, ended.err) == (0, "")
    found = json.loads(ended.out)
    (loop,) = found["loops"]
    assert list(loop) == KEYS
    assert loop == {
        **{"function": "difference", "line": 5, "f_add": 1, "f_mul": 0, "f_fma": 0, "f_div": 0},
        **{"f_sqrt": 0, "loads": 1, "stores": 1, "t_fp": 0.5, "t_mem": 1.0, "t_issue": 0.75},
        **{"t_dep": 0.0, "cycles": 1.0, "cpf": 1.0, "mflops": pytest.approx(66.7), "limit": "mem"},
        "in_order": None,
    }
    (refused,) = found["refused"]
    assert refused["line"] == 10
    assert "printf" in refused["reason"]


def test_the_table_has_a_line_for_each_loop(call: Call, source: Path) -> None:
    ended = call("bound", str(source), "--machine", "power2")
    assert ended.code == 0
    (line,) = [line for line in ended.out.splitlines() if line.startswith("difference:5")]
    cells = "1 1 1 0.50 1.00 0.75 0.00 1.00 1.000 67 memory"
    assert " ".join(line.split()[1:]) == cells
    assert f"{source}:10: not read: printf is called" in ended.err


def test_a_sum_has_two_bounds_and_says_what_the_smaller_one_needs(
    call: Call, tmp_path: Path
) -> None:
    path = tmp_path / "sum.c"
    path.write_text(
        "double f(int n, double x[], double z[]) {\n  double q = 0;\n"
        "  for (int k = 0; k < n; k++) q += z[k] * x[k];\n  return q;\n}\n"
    )
    (loop,) = json.loads(call("bound", str(path), "--json").out)["loops"]
    assert (loop["t_dep"], loop["cycles"], loop["limit"]) == (0.0, 1.0, "fp")
    in_order = loop["in_order"]
    assert (in_order["t_dep"], in_order["cycles"], in_order["limit"]) == (2.0, 2.0, "dep")
    assert (loop["cpf"], in_order["cpf"]) == (0.5, 1.0)
    *_, note = call("bound", str(path)).out.strip().splitlines()
    assert note.startswith("f:3: 1.00 cycles need partial results that do not wait for each other")
    assert "-ffast-math" in note
    assert note.endswith("In the order of the source: t_dep 2.00, 2.00 cycles, 67 MFLOPS.")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--function", "main"], "source.c:10: printf is called"),
        (["--function", "differ"], "did you mean difference?"),
        (["--machine", "power"], "did you mean power2?"),
        (["--run"], "--machine here"),
        (["--set", "n"], "NAME=VALUE"),
        (["--set", "n=many"], "NAME=VALUE"),
        (["--set", "=3"], "NAME=VALUE"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    call: Call, source: Path, words: list[str], said: str
) -> None:
    ended = call("bound", str(source), *words)
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.strip().splitlines()) == 1
    assert said in ended.err


def test_pairs_of_numbers_count_half(call: Call, source: Path) -> None:
    words = ("--machine", "power2", "--quad-word", "--function", "difference", "--json")
    (loop,) = json.loads(call("bound", str(source), *words).out)["loops"]
    assert (loop["loads"], loop["t_mem"], loop["t_issue"]) == (1, 0.5, 0.5)


@pytest.mark.skipif(platform.machine() not in READABLE, reason="listings of x86-64")
def test_the_processor_here_has_a_ladder_of_each_loop(
    call: Call, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    path_of_here().parent.mkdir(parents=True)
    write(processor("power2"), path_of_here())
    (loop,) = json.loads(call("bound", str(source), "--machine", "here", "--json").out)["loops"]
    titles = [one["build"] for one in loop["ladder"]]
    assert titles[:3] == ["gcc -O0", "gcc -O2", "gcc -O3 -march=native"]
    assert all(one["macs_cycles"] >= one["mac_cycles"] > 0 for one in loop["ladder"])
    ended = call("bound", str(source), "--machine", "here")
    (line, *_) = [line for line in ended.out.splitlines() if line.startswith("difference:5  gcc")]
    assert line.split()[1:4] == ["gcc", "-O0", "1.00"]


@pytest.mark.parametrize("line", [100, 3])
def test_a_place_is_printed_as_it_is(call: Call, tmp_path: Path, line: int) -> None:
    path = tmp_path / "sum.c"
    head = "double sum(int n, const double *x)\n{ double s = 0;" + "\n" * (line - 2)
    path.write_text(f"{head}for (int i = 0; i < n; i++) s += x[i];\nreturn s; }}\n", "utf-8")
    ended = call("bound", str(path))
    assert f"\nsum:{line}: " in ended.out


def test_folders_and_macros_are_given_as_to_a_compiler(call: Call, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/real.h").write_text("typedef double real;\n", "utf-8")
    path = tmp_path / "loop.c"
    path.write_text(
        '#include "real.h"\nreal x[N];\n'
        "void f(void) { for (int i = 0; i < N; i++) x[i] = 2.0 * x[i]; }\n",
        "utf-8",
    )
    call("bound", str(path), "-D", "N=9").is_error(2, "give the folder of its headers with -I")
    ended = call("bound", str(path), "-I", str(tmp_path / "own"), "-D", "N=9", "--json")
    (loop,) = json.loads(ended.out)["loops"]
    assert (loop["function"], loop["f_mul"]) == ("f", 1)
