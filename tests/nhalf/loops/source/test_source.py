"""Files as people have them: missing headers, fragments, and arrays of one dimension for two."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.loops.source.preprocessed import HeaderSearch
from nhalf.loops.source.program import ReadingOptions, read_program
from nhalf.loops.source.refusal import RefusedSource
from tests.nhalf.loops.source.reading import loop, memory, operations, program

SCALE = "void scale(int n, double *restrict x) { for (int i = 0; i < n; i++) x[i] *= 3.0; }\n"
MISSING = ("<sys/time.h>", "<omp.h>", "<a/b/c.h>", '"mine.h"', '"../up/mine.h"')
NEEDY = (
    "real y[9];\nvoid f(void) { for (int i = 0; i < 9; i++) y[i] = 1.0; }\n",
    "BODY(f) { for (int i = 0; i < 9; i++) z[i] = 1.0; }\n",
    "void f(int n, ARRAY_2D(y, 9)) { for (int i = 0; i < n; i++) y[i] = 1.0; }\n",
    'void f(void) { puts("v" VERSION " of"); }\n',
    "static void g(real a, other_t b) { for (int i = 0; i < COUNT; i++) h(i); }\n",
)
FRAGMENT = """double u[N][N];
double v[N][N];
double s;

for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
        v[i][j] = s * (u[i - 1][j] + u[i + 1][j]);
"""


@pytest.mark.parametrize("header", MISSING)
def test_a_header_that_is_not_there_is_empty(header: str) -> None:
    (counts,) = program(f"#include {header}\n{SCALE}").loops
    assert (counts.line, operations(counts)) == (2, (0, 1, 0, 0, 0))


@pytest.mark.parametrize("needy", NEEDY)
def test_only_what_needs_a_missing_header_is_refused(needy: str) -> None:
    for text in (f'#include "mine.h"\n{needy}{SCALE}', f'#include "mine.h"\n{SCALE}{needy}'):
        source = program(text)
        assert [counts.function for counts in source.loops] == ["scale"]
        assert all("mine.h" in refusal.remedy for refusal in source.refusals)
        assert source.refusals or "puts" in needy


def test_without_a_missing_header_a_mistake_refuses_the_file() -> None:
    with pytest.raises(RefusedSource, match="not valid C"):
        program(f"real y[9];\n{SCALE}")


def test_headers_and_macros_of_the_user_are_taken(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include/mine.h").write_text("typedef double real;\n")
    path = tmp_path / "loop.c"
    path.write_text(
        '#include "mine.h"\nreal x[N];\nvoid f(void) { for (int i = 0; i < N; i++) x[i] *= 3.0; }\n'
    )
    search = HeaderSearch((tmp_path / "include",), ("N=7",))
    (counts,) = read_program(path, ReadingOptions(search=search)).loops
    assert counts.trips == 7


@pytest.mark.parametrize("numbers", [{}, {"N": 100}])
def test_a_fragment_takes_names_without_a_value_from_the_user(numbers: dict[str, int]) -> None:
    (counts,) = program(FRAGMENT, ReadingOptions(numbers=numbers)).loops
    assert (counts.function, counts.line) == ("source", 6)
    assert counts.trips == (98 if numbers else None)
    assert (operations(counts), memory(counts)) == ((1, 1, 0, 0, 0), (2, 1))


@pytest.mark.parametrize(
    "statements",
    [
        "double x[N], y[N];\nfor (int i = 0; i < N; ++i)\n{ x[i] = y[i] * c; }\n",
        "double x[N], y[N];\nint i = 0;\nwhile (i < N) { x[i] = y[i] * 2.0; i++; }\n",
        "#define real double\nreal x[N], y[N];\nfor (int i = 0; i < N; ++i) x[i] = 2.0 * y[i];",
        "double x[N]; double y[N];\n{ int i; for (i = 0; i < N; i++) x[i] = y[i] * 2.0; }",
    ],
)
def test_fragments_of_any_form_are_read(statements: str) -> None:
    (counts,) = program(statements).loops
    assert (operations(counts), memory(counts)) == ((0, 1, 0, 0, 0), (1, 1))


@pytest.mark.parametrize("text", ["for (;;", "double x[N];\nfor (i = 0; i < N; i++) x[i] = ;", "{"])
def test_a_fragment_that_is_no_c_is_refused(text: str) -> None:
    with pytest.raises(RefusedSource, match="not valid C"):
        program(text)


ROWS = {
    "for (int j = 1; j < m - 1; j++) x[i * m + j] = x[(i - 1) * m + j] + s;": (1, 1),
    "for (int j = 0; j < m; j++) x[i * m + j] = x[(i + 2) * m + j] + s;": (1, 1),
    "for (int j = m - 1; j >= 0; j--) x[i * m + j] = x[(i - 1) * m + j] + s;": (1, 1),
    "for (int j = 0; j < m; j += 2) x[i * m + j] = x[(i - 1) * m + j] + s;": (1, 1),
    "for (int j = 1; j < 99; j++) x[i * 100 + j] = y[i * 100 + j] + y[(i + 1) * 100 + j];": (2, 1),
    # So few apart that an iteration comes to what another one read.
    "for (int j = 0; j < 101; j++) x[i * 100 + j] = y[i * 100 + j] + y[(i + 1) * 100 + j];": (1, 1),
}


@pytest.mark.parametrize("statement", ROWS)
def test_rows_of_a_linearised_array_do_not_meet(statement: str) -> None:
    counts = loop(f"for (int i = 1; i < n; i++) {{ {statement} }}")
    assert memory(counts) == ROWS[statement]


@pytest.mark.parametrize("end", ["m + 1", "n", "2 * m"])
def test_rows_that_may_meet_are_refused(end: str) -> None:
    with pytest.raises(RefusedSource, match="may be the same element"):
        loop(f"for (int j = 0; j < {end}; j++) x[ix[0] * m + j] = x[(ix[0] - 1) * m + j];")
