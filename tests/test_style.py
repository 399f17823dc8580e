"""The style test: the tree has no complaint, and every rule complains about what it is for."""

from __future__ import annotations

from pathlib import Path

import pytest

import style
import style_prose
from style_classes import class_names_stand_once
from style_names import BUDGET, bindings_say_what_they_hold
from style_native_names import declarations, declarations_say_what_they_hold
from style_prose import plain_words
from style_source import Source

LICENCE = "# SPDX-License-Identifier: Apache-2.0\n"


def rules_broken(path: str, text: str) -> list[str]:
    source = style.Source(path, text)
    return [complaint.rule for rule in style.RULES for complaint in rule(source)]


def pattern(body: str, registered: str = 'NHALF_PATTERN("x", X);') -> str:
    return f"struct X {{ void run(std::uint64_t rounds) {{ {body} }} }};\n{registered}\n"


BAD = [
    ("licence", "src/nhalf/a.py", f"{LICENCE}x = 1\n"),
    ("licence", "tools/a", f"#!/bin/sh\n{LICENCE}echo\n"),
    ("line", "src/nhalf/a.py", f"x = '{'x' * 100}'\n"),
    ("file", "native/timing/a.hpp", "int a;\n" * 601),
    ("function", "src/nhalf/a.py", "def f():\n" + "    g()\n" * 70),
    ("function", "native/timing/a.hpp", "void f() {\n" + "  g();\n" * 69 + "}\n"),
    ("clock", "native/patterns/pairs/a.hpp", pattern("auto t = std::chrono::steady_clock::now();")),
    (
        "parameters",
        "src/nhalf/a.py",
        "def f(a, b, c, d, e, f, g, *, h, i):\n    g()\n",
    ),
    ("parameters", "native/timing/a.hpp", f"void f({', '.join(['int'] * 9)}) {{}}\n"),
    ("clock", "native/probe/a.hpp", "double t = MPI_Wtime();\n"),
    ("clock", "native/probe/a.hpp", "auto t = __rdtsc();\n"),
    ("clock", "src/nhalf/a.py", "start = time.perf_counter()\n"),
    ("exact-name", "src/nhalf/a.py", "rows = pl.scan_parquet(path)\n"),
    ("exact-name", "src/nhalf/a.py", "kinds = pl.read_parquet_schema(path)\n"),
    ("exact-name", "src/nhalf/a.py", 'files = folder.glob(f"{name}-*")\n'),
    ("one-idea", "native/patterns/pairs/a.hpp", pattern("", registered="")),
    ("one-idea", "native/patterns/pairs/a.hpp", pattern("", 'NHALF_PATTERN("a", X);\n' * 2)),
    ("one-idea", "native/patterns/pairs/a.hpp", pattern("", "NHALF_FORMS(a, X, a);\n" * 2)),
    ("one-idea", "native/patterns/a.hpp", pattern("")),
    ("leftover", "docs/a.md", "FIX" + "ME\n"),
    ("leftover", "native/timing/a.hpp", "// TO" + "DO later\n"),
    ("issue", "src/nhalf/a.py", "# see #" + "12\n"),
    ("issue", "docs/a.md", "as in issue" + " 12\n"),
    ("place", "tests/a.py", "p = '/ho" + "me/me/x'\n"),
    ("place", "docs/a.md", "look into /ro" + "ot/x\n"),
    ("registry", "docs/a.md", "https://pypi" + ".org/simple\n"),
    ("unit", "native/timing/a.hpp", "struct A {\n  double latency;\n};\n"),
    (
        "unit",
        "native/timing/a.hpp",
        "struct A {\n  int f() { double t; }\n  double w = 1;\n};\n",
    ),
    ("unit", "native/timing/a.hpp", "struct A {\n  double a_s, wait, c_s = 1;\n};\n"),
    ("unit", "src/nhalf/a.py", "class A:\n    latency: float\n"),
    ("unit", "src/nhalf/a.py", "class A:\n    rate: float | None = None\n"),
    ("leaning", "src/nhalf/a.py", '"""The same for files."""\n'),
    ("leaning", "src/nhalf/a.py", 'def f():\n    """Those of a run."""\n'),
    ("leaning", "src/nhalf/a.py", 'LIMIT = 3\n"""Of lines."""\n'),
    ("leaning", "src/nhalf/a.py", 'class A:\n    """As above."""\n'),
]


@pytest.mark.parametrize(("rule", "path", "text"), BAD, ids=[f"{r}-{p}" for r, p, _ in BAD])
def test_each_rule_complains(rule: str, path: str, text: str) -> None:
    assert set(rules_broken(path, text)) == {rule}


GOOD = [
    ("native/timing/a.hpp", "auto t = std::chrono::steady_clock::now();\n"),
    ("native/patterns/pairs/a.hpp", pattern("send();  // no steady_clock\n")),
    (
        "native/patterns/pairs/ring_ways.hpp",
        pattern("", "NHALF_PATTERN(a, RingA);\nNHALF_PATTERN(b, RingB);\n"),
    ),
    ("native/timing/a.hpp", "struct A {\n  double latency_s;\n  double rate_Bps = 0;\n};\n"),
    ("native/timing/a.hpp", "struct A {\n  double f() {\n    double t = 1;\n  }\n};\n"),
    ("src/nhalf/a.py", "def f():\n" + "    g()\n" * 59),
    ("src/nhalf/a.py", "class A:\n    t0_s: float\n    n_half_bytes: float\n"),
    ("src/nhalf/a.py", 'def f():\n    """Often the same."""\n    g("As is")\n'),
    ("tools/a.py", 'def f():\n    """The same for files."""\n'),
    ("native/timing/a.hpp", "/// Time of one byte.\nint a;\n"),
    ("docs/a.md", "a colour #" + "123456, a list [1](#1-first), C#\n"),
    ("src/nhalf/empty.py", ""),
]


@pytest.mark.parametrize(("path", "text"), GOOD)
def test_good_text_is_left_alone(path: str, text: str) -> None:
    assert rules_broken(path, text) == []


def test_a_module_that_nothing_imports_is_dead() -> None:
    alive = style.Source("src/nhalf/a.py", "def f():\n    from nhalf.study import b\n")
    imported = style.Source("src/nhalf/study/b.py", "import nhalf.a\n")
    plugin = style.Source("src/nhalf/present/panels/c.py", "x = 1\n")
    dead = style.Source("src/nhalf/study/d.py", "import nhalf.a\n")
    found = list(style.no_dead_module([alive, imported, plugin, dead]))
    assert [complaint.path for complaint in found] == ["src/nhalf/study/d.py"]


def test_a_header_that_nothing_includes_is_dead() -> None:
    used = style.Source("native/timing/a.hpp", "int a;\n")
    user = style.Source("native/patterns/p.hpp", '#include "timing/a.hpp"\n')
    dead = style.Source("native/timing/b.hpp", '#include "timing/b.hpp"\n')
    found = list(style.no_dead_header([used, user, dead]))
    assert [complaint.path for complaint in found] == ["native/timing/b.hpp"]


def test_a_few_files_may_be_long() -> None:
    sources = [
        style.Source(f"src/nhalf/{name}.py", "x = 1\n" * (style.LONG_FILE_LINES + 1))
        for name in "abcdef"
    ]
    assert list(style.few_long_files(sources[:5])) == []
    assert len(list(style.few_long_files(sources))) == 6


def test_comments_of_native_stand_alone() -> None:
    text = "/// The time.\n/// As above.\nint a;\n  /// Those of a rank.\nint b;\n"
    found = style_prose.docstrings_stand_alone(style.Source("native/timing/a.hpp", text))
    assert [complaint.line for complaint in found] == [4]


def test_a_folder_may_not_have_many_files() -> None:
    sources = [style.Source(f"src/nhalf/cli/a{number}.py", "") for number in range(46)]
    words = style.Source("src/nhalf/cli/README.md", "")
    assert list(style.no_full_folder([words, *sources[1:]])) == []
    assert [str(complaint) for complaint in style.no_full_folder(sources)] == [
        "src/nhalf/cli:1: folder: 46 files, 45 at most: divide it by subject"
    ]


def test_words_on_patterns_are_no_pattern() -> None:
    assert list(style.one_idea_per_file(style.Source("native/patterns/README.md", ""))) == []
    assert list(style.one_idea_per_file(style.Source("native/patterns/a.hpp", ""))) != []


def test_a_folder_that_was_divided_is_no_exception_anymore(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = "native/patterns"
    monkeypatch.setattr(style, "FULL_FOLDERS", (folder,))
    sources = [style.Source(f"{folder}/a{number}.hpp", "") for number in range(46)]
    assert list(style.no_full_folder(sources)) == []
    assert [one.rule for one in style.no_full_folder(sources[1:])] == ["folder"]


def vague_complaints(budget: str, **files: str) -> list[str]:
    padding = style.Source("src/nhalf/cli/names.py", "latency_s = 1\n" * 400)
    sources = [style.Source(f"src/nhalf/cli/{name}.py", text) for name, text in files.items()]
    found = bindings_say_what_they_hold([*sources, padding, style.Source(BUDGET, budget)])
    return [f"{complaint.path}:{complaint.line}: {complaint.rule}" for complaint in found]


@pytest.mark.parametrize(
    ("budget", "text", "complaints"),
    [
        ("", "size_bytes = 1\n", []),
        ("", "x = 1\nknown = 1\n", ["src/nhalf/cli/a.py:2: vague"]),
        ("", "def f(self, found): ...\n", ["src/nhalf/cli/a.py:1: vague"]),
        ("1 src/nhalf/cli/a.py\n", "self.what = 1\n", []),
        ("1 src/nhalf/cli/a.py\n", "what = 1\n" * 2, ["src/nhalf/cli/a.py:1: vague",
                                                      "src/nhalf/cli/a.py:2: vague"]),
        ("# files\n2 src/nhalf/cli/a.py\n", "what = 1\n", [f"{BUDGET}:2: vague"]),
        ("1 src/nhalf/cli/b.py\n", "", [f"{BUDGET}:1: vague"]),
        ("20 src/nhalf/cli/a.py\n", "what = 1\n" * 20, ["src/nhalf:1: vague-share"] * 2),
    ],
)  # fmt: skip
def test_vague_bindings_have_a_budget_that_shrinks(
    budget: str, text: str, complaints: list[str]
) -> None:
    assert vague_complaints(budget, a=text) == complaints


@pytest.mark.parametrize(
    ("text", "vague"),
    [
        ("const auto found = names.find(name);\n", "found"),
        ("void f(const std::string& known, int other) {}\n", "known other"),
        ("for (auto& [key, kept] : entries) use(key);\n", "kept"),
        ("struct A {\n  std::vector<int> seen_;\n  bool done = false;\n};\n", "seen done"),
        (
            "const Part here(place);\nint* left{};\nauto f = [](Handler&&... given) {};\n",
            "here left given",
        ),
        ("int found();\nreturn found;\nuse(known, size * left, done && both);\n", ""),
        ("Part(Part&& other) noexcept;\nbool operator==(const Part& other) const;\n", ""),
        ("// Part found = none;\nauto size = words.found;\n", ""),
    ],
)
def test_vague_declarations_of_the_native_side_are_told_from_other_uses(
    text: str, vague: str
) -> None:
    declared = declarations(style.Source("native/timing/a.hpp", text))
    assert sorted(d.name for d in declared if d.is_vague) == sorted(vague.split())


def test_few_declarations_of_the_native_side_may_be_vague() -> None:
    padding = style.Source("native/timing/names.hpp", "int size = 1;\n" * 400)
    sources = [padding, style.Source("native/timing/a.hpp", "int found = 1;\n" * 2)]
    assert list(declarations_say_what_they_hold(sources)) == []
    sources.append(style.Source("native/host/b.hpp", "int size = 1;\nint left = 1;\n"))
    complaints = [str(complaint) for complaint in declarations_say_what_they_hold(sources)]
    assert [line.split(": ")[0] for line in complaints] == [
        *("native/timing/a.hpp:1", "native/timing/a.hpp:2", "native/host/b.hpp:2")
    ]


CLASS = "class Cell:\n    pass\n"


@pytest.mark.parametrize(
    ("paths", "complaints"),
    [
        (["src/nhalf/decide/a.py"], []),
        (["src/nhalf/studies/b.py", "src/nhalf/decide/a.py"], ["src/nhalf/studies/b.py:1"]),
        (["src/nhalf/decide/a.py", "src/nhalf/present/findings/__init__.py"],
         ["src/nhalf/present/findings/__init__.py:1"]),
        (["src/nhalf/decide/a.py", "src/nhalf/present/findings/a.py"], []),
        (["src/nhalf/decide/a.py", "src/nhalf/cli/verbs/a.py", "src/nhalf/mpi/vendors/a.py"], []),
        (["src/nhalf/decide/a.py", "tests/nhalf/decide/test_a.py", "tools/a.py"], []),
        (["src/nhalf/decide/a.py", "src/nhalf/studies/a.toml"], []),
    ],
)  # fmt: skip
def test_a_class_name_stands_once_beside_plug_ins(paths: list[str], complaints: list[str]) -> None:
    sources = [Source(path, CLASS) for path in paths]
    found = [f"{one.path}:{one.line}" for one in class_names_stand_once(sources)]
    assert found == complaints


def test_private_and_inner_classes_may_have_any_name() -> None:
    text = "class _Cell:\n    pass\n\n\ndef f():\n    class Cell:\n        pass\n"
    sources = [Source(f"src/nhalf/decide/{name}.py", text) for name in "ab"]
    assert list(class_names_stand_once(sources)) == []


def test_the_program_fails_on_a_bad_tree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "bad.py").write_text(f"{LICENCE}import os\n")
    assert style.main([str(tmp_path)]) == 1
    assert "src/bad.py:1: licence" in capsys.readouterr().out
    (tmp_path / "src" / "bad.py").write_text("import os\n")
    assert style.main([str(tmp_path)]) == 0


def test_what_was_clean_is_not_looked_at_again_until_it_or_a_rule_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "clean"
    good, bad = Source("src/good.py", "import os\n"), Source("src/bad.py", f"{LICENCE}import os\n")
    complaints = style.check([good, bad], kept)
    assert {one.path for one in complaints} == {"src/bad.py"}
    looked_at: list[str] = []
    monkeypatch.setattr(style, "RULES", (lambda source: looked_at.append(source.path) or (),))
    style.check([good, bad], kept)
    assert looked_at == ["src/bad.py"]
    style.check([Source("src/good.py", "x = 1\n")], kept)
    assert looked_at == ["src/bad.py", "src/good.py"]
    monkeypatch.setattr(style, "_rules_digest", lambda: b"other rules")
    style.check([good], kept)
    assert looked_at == ["src/bad.py", "src/good.py", "src/good.py"]


@pytest.mark.parametrize(
    ("path", "text", "rules"),
    [
        ("docs/page.md", "It heeds the file.", ["word"]),
        ("docs/page.md", "It applies the file, outside the loop.", []),
        ("src/nhalf/cli/verbs/run.py", '"""Runs inside of a job."""', ["word"]),
        ("docs/page.json", "inside of", []),
        ("src/nhalf/store/a.py", '"""The time, None where it is unknown."""', ["word"]),
        ("src/nhalf/store/a.py", '"""Raises InputError when it is damaged."""', ["word"]),
        ("tests/nhalf/test_a.py", "# So many ranks have a core of their own.", ["word"] * 2),
        ("src/nhalf/store/a.py", '"""Slower beyond doubt than the middle pair."""', ["word"] * 2),
        ("src/nhalf/store/a.py", "one is not known and there is no time", []),
        ("src/nhalf/store/a.py", '"""The place where it is unknown; Raises InputError if."""', []),
        ("native/a.hpp", "// None where it is unknown", []),
    ],
)
def test_pages_and_helps_have_the_words_of_the_field(
    path: str, text: str, rules: list[str]
) -> None:
    assert [one.rule for one in plain_words(Source(path, text))] == rules
