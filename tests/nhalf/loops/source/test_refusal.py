"""What cannot be decided is refused with its line and the reason, and never guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.loops.source.program import ReadingOptions, read_program
from nhalf.loops.source.refusal import RefusedSource
from tests.nhalf.loops.source.reading import loop, program

FILES = {
    "nothing": ("", 0, "empty"),
    "a comment": ("/* for (;;) */\n", 0, "empty"),
    "no C": ("void f( {\n", 1, "syntax error before `{`"),
    "no C further down": ("int n;\nvoid f(void) {\n  for (;;\n}\n", 4, "not valid C"),
    "an end in a loop": ("void f(void) { for (;;) {", 0, "not valid C: at end of input"),
    "an expression that is none": ("void f(int n) { n = ; }", 0, "invalid expression"),
    "an error of the preprocessor": ("int n;\n#error stop\n", 2, "stop"),
    "a header that is not there": ('#include "not_there.h"\n', 1, "not_there.h"),
    "no function": ("int n;\n", 0, "no loop"),
    "no loop": ("void f(void) {}\n", 0, "no loop"),
    "a declaration only": ("void f(void);\n", 0, "no loop"),
}
LOOPS = {
    "while (1) { s += x[m]; }": "counts no iterations",
    "for (;;) { s += 1.0; }": "has no condition",
    "while (s > 0.0) { s = s * 0.5; }": "counts no iterations",
    "for (int k = 0; x[k] > 0.0; k++) y[k] = 1.0;": "counts no iterations",
    "for (int k = 0; k < n; k *= 2) x[k] = 1.0;": "counts no iterations",
    "for (int k = 0; k < n; ) x[k] = 1.0;": "counts no iterations",
    "for (int k = 0; k < n; k++) { if (x[k] > s) break; y[k] = s; }": "break",
    "for (int k = 0; k < n; k++) { if (x[k] > s) continue; y[k] = s; }": "continue",
    "for (int k = 0; k < n; k++) { if (x[k] > s) return; y[k] = s; }": "return",
    "for (int k = 0; k < n; k++) { if (x[k] > s) goto out; y[k] = s; } out: ;": "goto",
    "for (int k = 0; k < n; k++) { switch (k) { case 1: y[k] = s; } }": "switch",
    "for (int k = 0; k < n; k++) x[k] = exp(y[k]);": "exp is called",
    "for (int k = 0; k < n; k++) work(k, k);": "work is called",
    "for (int k = 0; k < n; k++) x[k] = unheard[k];": "unheard is not declared",
    "for (int k = 0; k < n; k++) x[k] = x[k - m];": "--set",
    "for (int k = 0; k < n; k++) x[ix[k]] = x[k];": "may be the same element",
    "for (int k = 0; k < n; k++) { double *p = s > 1.0 ? x : y; p[k] = s; }": "one array or",
    "double *p = m ? x : y; for (int k = 0; k < n; k++) p[k] = x[k + 1];": "may overlap x",
    "for (int k = 0; k < n; k++) a[k] = x;": "a row of a",
    "for (int k = 0; k < n; k++) x[k % 8] += y[k];": "may come to the same element again",
    "for (int k = 0; k < n; k++) s += x[k >> 1];": "may come to the same element again",
    "for (int k = 0; k < n; k++) s += x[(k & 7) + 1];": "may come to the same element again",
    "for (int k = 0; k < 0; k++) x[k] = s;": "this loop never runs",
    "for (int k = 9; k < 5; k++) x[k] = s;": "this loop never runs",
    "for (int k = 0; k < n; k--) x[k] = s;": "moves away from the limit",
    "for (unsigned k = n - 1; k < n; k--) x[k] = s;": "moves away from the limit",
    "for (unsigned k = n; k >= 0; k--) x[k] = s;": "never ends: k is always >= 0",
    "for (unsigned char k = 0; k < 300; k++) x[k] = s;": "never ends: k is always < 300",
    'for (int k = 0; k < n; k++) { __asm__ volatile("nop" : "+r"(k)); }': "inline_assembly is",
    "for (int k = 0; k < n; k++) { volatile double v = x[k]; s += v; }": "of type volatile double",
    "for (int k = 0; k < n; k++) { long double v = x[k]; s += v; }": "of type long double",
}
POINTERS = """void f(double *p, double *q, int n) {
  for (int k = 1; k < n; k++)
    p[k] = q[k - 1] + q[k];
}
"""


@pytest.mark.parametrize("content", FILES)
def test_a_file_without_a_loop_that_can_be_read_is_refused(content: str) -> None:
    text, line, reason = FILES[content]
    with pytest.raises(RefusedSource) as caught:
        program(text)
    assert reason in str(caught.value)
    assert caught.value.line == line
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("body", LOOPS)
def test_a_loop_that_cannot_be_decided_is_refused(body: str) -> None:
    with pytest.raises(RefusedSource) as caught:
        loop(body)
    assert LOOPS[body] in str(caught.value)
    assert caught.value.line == 3


def test_pointers_that_may_overlap_are_refused_until_somebody_says_that_they_do_not() -> None:
    (refusal,) = program(POINTERS).refusals
    assert refusal.line == 3
    assert "p is written here, and may overlap q" in str(refusal)
    for text in (
        POINTERS.replace("*p", "*restrict p"),
        POINTERS.replace("*q", "*restrict q"),
        POINTERS.replace("*p", "p[]").replace("*q", "q[]"),
        POINTERS.replace("double *q", "float *q"),
    ):
        assert program(text).refusals == []
    assert len(program(POINTERS, ReadingOptions(no_alias=True)).loops) == 1


def test_a_pointer_may_point_into_a_global_array() -> None:
    text = "double x[9]; void f(double *p, int n) { for (int k = 1; k < n; k++) p[k] = x[k]; }"
    assert "may overlap x" in str(program(text).refusals[0])


def test_pointers_that_are_only_read_may_overlap() -> None:
    text = POINTERS.replace("p[k] =", "s +=").replace("int n)", "int n, double s)")
    assert program(text).refusals == []


def test_a_pointer_to_pointers_is_refused() -> None:
    text = "void f(double **a, int n) { for (int k = 1; k < n; k++) a[k][0] = 1.0; }"
    assert "pointer to pointers" in str(program(text).refusals[0])


def test_a_structure_is_refused() -> None:
    text = "struct p { double x; } a[9]; void f(int n) { for (int k = 1; k < n; k++) a[k].x = 1; }"
    assert "structures" in str(program(text).refusals[0])


def test_one_refused_loop_keeps_no_other_from_being_read() -> None:
    text = POINTERS + "void g(int n, double s) { for (int k = 0; k < n; k++) s += k; }"
    source = program(text)
    assert [counts.function for counts in source.loops] == ["g"]
    assert [refusal.line for refusal in source.refusals] == [3]


def test_an_unknown_function_is_refused_with_the_closest_one() -> None:
    with pytest.raises(InputError, match="did you mean work"):
        program("void work(int n) { while (n--) ; }", ReadingOptions(function="worker"))


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"\x00" * 100, b"\xff\xfe(" * 9])
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "binary.c"
    path.write_bytes(content)
    with pytest.raises(RefusedSource):
        read_program(path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedSource, match="cannot be read"):
        read_program(tmp_path / "none.c")
    with pytest.raises(RefusedSource, match="cannot be read"):
        read_program(tmp_path)


def test_deep_nesting_is_refused_or_read_and_never_an_accident() -> None:
    deep = "(" * 3000 + "1.0" + ")" * 3000
    text = f"double s; void f(int n) {{ for (int k = 0; k < n; k++) s = {deep}; }}"
    with pytest.raises(RefusedSource, match="nested"):
        program(text)


def test_a_sum_of_many_terms_is_refused_or_read_and_never_an_accident() -> None:
    text = " + ".join(["x[k] * 1.5"] * 3000)
    with pytest.raises(RefusedSource, match="nested"):
        loop(f"for (int k = 0; k < n; k++) y[k] = {text};")


def test_comments_may_be_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "latin1.c"
    path.write_bytes(b"/* \xe9\xe8 */ void f(int n, double *x) { for (; n > 0; n--) x[n] = 1.0; }")
    assert len(read_program(path).loops) == 1


def test_names_in_assembly_are_names_only() -> None:
    text = 'double g(double) __asm__("g_name"); double s; void f(int n) { while (n--) s += 1.0; }'
    assert len(program(text).loops) == 1
