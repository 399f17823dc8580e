"""The rules of the C++ side: each complains about what it is for."""

from __future__ import annotations

import pytest

import style_native
from style import Source


def rules_broken(*files: tuple[str, str]) -> list[str]:
    sources = [Source(path, text) for path, text in files]
    rules = style_native.NATIVE_TREE_RULES
    return [complaint.rule for rule in rules for complaint in rule(sources)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("native/core/a.hpp", "int a;\n"),
        ("native/contract/a.hpp", '#include "timing/clock.hpp"\n'),
        ("native/algorithms/bcast/a.hpp", '#include "patterns/bases/a.hpp"\nvoid a() {}\n'),
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


@pytest.mark.parametrize(
    "file",
    [
        pattern("send();", "void stray() { transport.send(1); }"),
        ("native/patterns/bases/fan_loop.hpp", "struct Y { void loop() { next(); } };\n"),
        ("native/algorithms/bcast/a.hpp", "int a;\n"),
    ],
)
def test_traffic_that_no_timed_batch_is_seen_to_call(file: tuple[str, str]) -> None:
    assert rules_broken(file) == ["untimed"]


@pytest.mark.parametrize(
    "file",
    [
        pattern("round();", "void round() { transport.send(1); }"),
        pattern("send();", "void verify() { transport.recv(1); }"),
        ("native/algorithms/bcast/a.hpp", "template <class T> void a(T& t) { t.send(1); }\n"),
    ],
)
def test_traffic_that_one_calls(file: tuple[str, str]) -> None:
    assert rules_broken(file) == []
