# SPDX-License-Identifier: Apache-2.0
"""The rules of the C++ side: each complains about what it is for, in the real tree as well."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import style
import style_native
from style import Source

ROOT = Path(__file__).resolve().parent.parent
NATIVE = [source for source in style.read_tree(ROOT) if source.path.startswith("native/")]
HEAD = "// SPDX-License-Identifier: Apache-2.0\n"


def rules_broken(*files: tuple[str, str]) -> list[str]:
    sources = [Source(path, text) for path, text in files]
    rules = style_native.NATIVE_TREE_RULES
    return [complaint.rule for rule in rules for complaint in rule(sources)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("native/core/a.hpp", "int a;\n"),
        ("native/contract/a.hpp", '#include "timing/clock.hpp"\n'),
        ("native/algorithms/bcast/a.hpp", '#include "patterns/bases/a.hpp"\n'),
        ("native/patterns/bases/pairs/a.hpp", '#include "patterns/pairs/a.hpp"\n'),
        ("native/timing/a.hpp", '#  include "interposer/a.hpp"\n'),
    ],
)
def test_an_include_upward(path: str, text: str) -> None:
    assert rules_broken((path, text)) == ["room"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("native/patterns/bases/a.hpp", '#include "timing/a.hpp"\n#include "fmt/a.hpp"\n'),
        ("native/simulator/a.cpp", '#include "probe/record.hpp"\n'),
    ],
)
def test_an_include_that_is_right(path: str, text: str) -> None:
    assert rules_broken((path, text)) == []


def test_a_header_that_comes_round_to_itself() -> None:
    first = ("native/timing/a.hpp", '#include "timing/b.hpp"\n')
    second = ("native/timing/b.hpp", '#include "timing/a.hpp"\n')
    assert rules_broken(first, second) == ["circle"]
    assert rules_broken(first) == []


def test_a_test_that_does_not_include_its_header_first() -> None:
    header = ("native/timing/a.hpp", "int a;\n")
    test = "tests/native/timing/test_a.cpp"
    wrong = '#include <doctest/doctest.h>\n\n#include "timing/a.hpp"\n'
    assert rules_broken(header, (test, wrong)) == ["own-header"]
    assert rules_broken(header, (test, '#include "timing/a.hpp"\n')) == []
    assert rules_broken((test, wrong)) == []


def pattern(body: str, more: str = "", include: str = "") -> tuple[str, str]:
    text = f"{include}\nstruct X : Y {{ void run(std::uint64_t rounds) {{ {body} }} {more} }};\n"
    return ("native/patterns/pairs/a.hpp", text)


LOOP = ("native/patterns/bases/loop.hpp", "struct Y { void loop() { next(); std::string s; } };\n")


@pytest.mark.parametrize(
    "files",
    [
        [pattern("std::vector<int> v(3);")],
        [pattern("if (rounds) { auto p = new int; }")],
        [pattern('std::printf("round");')],
        [pattern("Buffer more(8);")],
        [pattern("t.now_s();")],
        [pattern("while (rounds--) round();", "void round() { list_.push_back(1); }")],
        [pattern("this->loop();", include='#include "patterns/bases/loop.hpp"'), LOOP],
        [
            pattern(
                "this->loop();",
                "void next() const override { all_.resize(2); }",
                '#include "patterns/bases/loop.hpp"',
            ),
            (LOOP[0], "struct Y { void loop() { next(); } };\n"),
        ],
        [("native/algorithms/bcast/a.hpp", "void helper() { std::vector<int> a; }\n")],
    ],
)
def test_what_runs_in_a_timed_batch(files: list[tuple[str, str]]) -> None:
    assert rules_broken(*files) == ["timed"]


@pytest.mark.parametrize(
    "files",
    [
        [pattern("send();  // no new, no printf(1)\n")],
        [pattern("send(1);", "void verify() { std::vector<int> v; t.now_s(); }")],
        [pattern("const std::vector<int>& known = list_; send(known);")],
        [pattern("send();", include='#include "patterns/bases/loop.hpp"'), LOOP],
    ],
)
def test_what_does_not(files: list[tuple[str, str]]) -> None:
    assert rules_broken(*files) == []


TRAFFIC = re.compile(
    r"\btransport_?\.(?:[bsr]?send|recv|exchange|isend|irecv|wait|wait_any|alltoallv)\b"
    r"|\b(?:send|wait_all|run_)\(transport\b"
)
UNTIMED = {"attach_buffer", "PingPongRsend", "open", "prepare", "settle", "verify"}
MUTATIONS = {
    "allocation": "auto mutated = std::make_unique<int>(1);",
    "vector": "std::vector<int> mutated(3);",
    "output": 'std::printf("mutated");',
    "clock": "auto mutated = std::chrono::steady_clock::now();",
    "reading": "const double mutated_s = transport.now_s();",
}


def with_traffic() -> list[tuple[Source, style_native.Body]]:
    """Every function of the tree that moves messages where the clock sees it, found by its text."""
    found = []
    for source in NATIVE:
        algorithm = source.path.startswith("native/algorithms/")
        if not algorithm and not source.path.startswith("native/patterns/"):
            continue
        for body in style_native._bodies(source.bare):
            moves = algorithm or body.name == "run" or TRAFFIC.search(body.text)
            if moves and body.name not in UNTIMED:
                found.append((source, body))
    return found


CARRIERS = with_traffic()


def test_loops_and_algorithms_are_found() -> None:
    files = {source.path for source, _ in CARRIERS}
    bases = {path for path in files if path.startswith("native/patterns/bases/")}
    shared = {
        *("collectives/chosen_algorithm", "collectives/forms", "collectives/overlapped"),
        *("pairs/pingpong_loop", "pairs/round_trip_loop", "pairs/stream_loop"),
        *("pairs/together_loop", "traffic/fan_loop", "traffic/phase_loop"),
        *("traffic/ring_exchange", "traffic/scheduled_traffic"),
    }
    assert bases >= {f"native/patterns/bases/{name}.hpp" for name in shared}
    algorithms = {s.path for s in NATIVE if s.path.startswith("native/algorithms/")}
    assert files >= algorithms
    assert len(algorithms) > 42


@pytest.mark.parametrize(
    ("source", "body"),
    CARRIERS,
    ids=[f"{s.path.removeprefix('native/')}:{b.name}" for s, b in CARRIERS],
)
def test_no_loop_gets_away(source: Source, body: style_native.Body) -> None:
    line = source.line_at(body.start)
    for kind, mutation in MUTATIONS.items():
        if kind == "reading" and source.path in style_native.TIMES_ITSELF:
            continue
        text = source.text[: body.start] + mutation + source.text[body.start :]
        mutated = Source(source.path, text)
        everything = [mutated if other is source else other for other in NATIVE]
        found = [
            *style.clocks_in_their_rooms(mutated),
            *style_native.nothing_in_timed_bodies(everything),
        ]
        assert {(complaint.path, complaint.line) for complaint in found} == {(source.path, line)}
