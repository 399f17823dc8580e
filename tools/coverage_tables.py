"""What other suites measure and how nhalf does, as tables, from the program's own.

`python tools/coverage_tables.py` prints them; the documentation contains them by `docs_hooks.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from nhalf.exchange.coverage import SUITES
from nhalf.exchange.coverage.suite import Suite, Test


def tables() -> str:
    """Every suite with its tests, as Markdown."""
    return "\n\n".join(_suite(suite) for suite in SUITES)


def _suite(suite: Suite) -> str:
    named = [test for test in suite.tests if test.name.isidentifier()]
    count = sum(test.is_covered for test in named)
    on_gpu = sum(test.takes_gpu_memory for test in named)
    head = (
        f"## {suite.title}\n\n{count} of {len(named)} tests, {on_gpu} of them in GPU memory, too."
    )
    return "\n\n".join([head, *(_part(*part) for part in suite.parts.items())])


def _part(title: str, tests: Sequence[Test]) -> str:
    head = [f"### {title}", "", "| test | here | GPU memory | |", "|---|---|---|---|"]
    return "\n".join([*head, *(_row(test) for test in tests)])


def _row(test: Test) -> str:
    if not test.is_covered:
        return f"| `{test.name}` | not measured | | {test.why_not} |"
    words = f"`{test.pattern}`"
    if test.axes:
        words += f", `{test.axes}`"
    if test.transport != "mpi":
        words += f" over `{test.transport}`"
    memory = "yes" if test.takes_gpu_memory else ""
    return f"| `{test.name}` | {words} | {memory} | {test.note} |"


if __name__ == "__main__":
    print(tables())
