"""Names of addresses, with a program that finds lines and without one."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from nhalf.base.processes import run
from nhalf.measure.traced.symbols import Name, Names, functions_at
from tests.patience import patience_s

COMPILER = shutil.which("gcc") or shutil.which("cc")
SOURCE = """\
int first(int x) {
  return x + 1;
}
int second(int x) {
  return x * 2;
}
int main(void) { return 0; }
"""
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("symbols")
    (folder / "source.c").write_text(SOURCE)
    words = [str(COMPILER), "-g", "-O0", "-shared", "-fPIC", str(folder / "source.c")]
    outcome = run([*words, "-o", str(folder / "library.so")], patience_s(60.0))
    assert outcome.succeeded, outcome.stderr
    return folder / "library.so"


CASES = """\
__attribute__((visibility("default"))) int exported(int x) { return x + 1; }
__attribute__((noinline)) static int hidden(int x) { return x * 3 + exported(x); }
__attribute__((noinline)) static int outer(int x) {
  __asm__ volatile(".type label, @function\\nlabel: nop\\nnop\\n");
  return hidden(x) + 1;
}
extern "C" __attribute__((visibility("default"))) int versioned(int x) { return x - 1; }
extern "C" __attribute__((weak)) int elsewhere(int);
namespace grid { __attribute__((noinline)) static int sweep(int x) { return outer(x) * 7; } }
int all(int x) { return grid::sweep(x) + versioned(x) + (elsewhere ? elsewhere(x) : 0); }
"""
"""An exported function before local ones, one of which has a label without a size in it."""
WRITTEN = {
    "_Z8exportedi": "exported(int)",
    "_ZL6hiddeni": "hidden(int)",
    "_ZL5outeri": "outer(int)",
    "versioned": "versioned",
    "_ZN4gridL5sweepEi": "grid::sweep(int)",
    "_Z3alli": "all(int)",
}
"""Functions as they are in the symbol table and in the source."""
EXPORTED = ("_Z8exportedi", "versioned")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of CASES without lines."""
    folder = tmp_path_factory.mktemp("cases")
    (folder / "cases.cpp").write_text(CASES)
    (folder / "versions").write_text("V1 { global: versioned; _Z8exportedi; local: *; };\n")
    words = [str(COMPILER), "-O1", "-fno-toplevel-reorder", "-fvisibility=hidden", "-shared"]
    words += ["-fPIC", f"-Wl,--version-script={folder / 'versions'}", str(folder / "cases.cpp")]
    outcome = run([*words, "-o", str(folder / "whole.so")], patience_s(60.0))
    assert outcome.succeeded, outcome.stderr
    return folder / "whole.so"


WAYS = [
    pytest.param(
        Names(),
        id="addr2line",
        marks=pytest.mark.skipif(shutil.which("addr2line") is None, reason="is not installed"),
    ),
    pytest.param(Names(lambda _: None), id="symbol table"),
]


def held(library: Path) -> dict[str, list[int]]:
    """The addresses that each function holds, by nm."""
    outcome = run(["nm", "-S", "--defined-only", str(library)], patience_s(60.0))
    rows = [line.split() for line in outcome.stdout.splitlines()]
    return {
        row[3].partition("@")[0]: list(range(int(row[0], 16), int(row[0], 16) + int(row[1], 16)))
        for row in rows
        if len(row) == 4 and row[2] in "tTwW"
    }


@pytest.mark.parametrize("names", WAYS)
def test_only_a_function_that_holds_the_address_names_it(
    names: Names, whole: Path, tmp_path: Path
) -> None:
    stripped = tmp_path / "stripped.so"
    assert run(["strip", "-o", str(stripped), str(whole)], patience_s(60.0)).succeeded
    functions = held(whole)
    assert set(WRITTEN) <= set(functions)
    for function, written in WRITTEN.items():
        name = written if names is WAYS[0].values[0] else function
        # The address that a call returns to is one further.
        places = [(str(whole), address + 1) for address in functions[function]]
        assert set(names.of(places)) == {Name(name)}
        places = [(str(stripped), address) for _, address in places]
        assert set(names.of(places)) == {Name(name if function in EXPORTED else "")}


def test_an_address_beyond_all_functions_has_no_name(whole: Path) -> None:
    last = max(addresses[-1] for addresses in held(whole).values())
    first = min(addresses[0] for addresses in held(whole).values())
    for names in (Names(), Names(none)):
        assert names.of([(str(whole), last + 2), (str(whole), first)]) == [Name()] * 2


def address_of(library: Path, name: str) -> int:
    """The address of a function: the one at which functions_at begins to name it."""
    size_bytes = library.stat().st_size
    return next(
        address
        for address, found in enumerate(functions_at(library, range(size_bytes)))
        if found == name
    )


def none(_: str) -> None:
    """No program is installed."""


def test_functions_from_the_symbol_table(library: Path) -> None:
    first, second = (address_of(library, name) for name in ("first", "second"))
    assert functions_at(library, [first, second, second + 1]) == ["first", "second", "second"]
    assert functions_at(library, [1 << 40, 0]) == ["", ""]


def test_the_address_after_a_call_belongs_to_the_call(library: Path) -> None:
    second = address_of(library, "second")
    assert Names(none).of([(str(library), second)]) == [Name("first")]
    assert Names(none).of([(str(library), second + 1)]) == [Name("second")]


@pytest.mark.skipif(shutil.which("addr2line") is None, reason="there is no addr2line")
def test_lines(library: Path) -> None:
    places = [(str(library), address_of(library, name) + 1) for name in ("second", "first")]
    names = Names().of(places)
    assert [(name.function, Path(name.file).name, name.line) for name in names] == [
        ("second", "source.c", 4),
        ("first", "source.c", 1),
    ]


@pytest.mark.parametrize("answer", ["exit 1", "echo nonsense", "exec cat /dev/null"])
def test_a_program_that_fails_leaves_functions(library: Path, tmp_path: Path, answer: str) -> None:
    program = tmp_path / "addr2line"
    program.write_text(f"#!/bin/sh\n{answer}\n")
    program.chmod(0o755)
    names = Names(lambda _: str(program)).of([(str(library), address_of(library, "second") + 1)])
    assert names == [Name("second")]


def test_names_of_the_program_need_no_symbol_table(tmp_path: Path) -> None:
    program = tmp_path / "addr2line"
    program.write_text("#!/bin/sh\necho second\necho source.c:4\n")
    program.chmod(0o755)
    (tmp_path / "file").write_bytes(b"no program")
    names = Names(lambda _: str(program)).of([(str(tmp_path / "file"), 100)])
    assert names == [Name("second", "source.c", 4)]


def test_a_damaged_program_has_the_names_that_are_left(library: Path, tmp_path: Path) -> None:
    whole = library.read_bytes()
    address = address_of(library, "second")
    chosen = random.Random(1)
    found = set()
    for _ in range(30):
        content = bytearray(whole)
        content[chosen.randrange(4, 64)] = chosen.randrange(256)
        (tmp_path / "file").write_bytes(content)
        found.update(functions_at(tmp_path / "file", [address]))
    assert found == {"", "second"}


OTHER_BYTE_ORDER = b"\x7fELF\x02\x02\x01" + bytes(90)


@pytest.mark.parametrize(
    "content", [b"", b"no program", b"\x7fELF\x02\x01" + b"\xff" * 90, OTHER_BYTE_ORDER]
)
def test_files_that_are_no_programs_have_no_names(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    assert functions_at(tmp_path / "file", [0, 100]) == ["", ""]
    places = [(str(tmp_path / "file"), 100), (str(tmp_path / "absent"), 100), ("", 100)]
    assert Names().of(places) == [Name()] * 3
    assert Names().of([]) == []
