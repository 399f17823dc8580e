# SPDX-License-Identifier: Apache-2.0
"""A suite of benchmarks, test by test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Test:
    """One test of a suite.

    `pattern` and `axes` (as the column `axes` has them) are ours, over `transport`; `why_not` is
    the reason where there are none. `said` is what differs, or how it is asked for.
    """

    name: str
    pattern: str = ""
    axes: str = ""
    transport: str = "mpi"
    said: str = ""
    why_not: str = ""

    @property
    def point(self) -> str:
        """Our pattern, with its axes where it has any, as a style knows it."""
        return f"{self.pattern} {self.axes}".strip()

    @property
    def is_covered(self) -> bool:
        """Whether nhalf measures it."""
        return not self.why_not


@dataclass(frozen=True)
class Part:
    """Tests that a suite keeps together."""

    title: str
    tests: Sequence[Test]


@dataclass(frozen=True)
class Suite:
    """A suite of benchmarks; `name` is that of its style."""

    name: str
    title: str
    parts: Sequence[Part]

    @property
    def tests(self) -> list[Test]:
        """Every test."""
        return [test for part in self.parts for test in part.tests]

    def benchmarks(self) -> dict[str, str]:
        """The points of a style: that of each test that nhalf measures, by name."""
        return {test.name: test.point for test in self.tests if test.is_covered}

    def transports(self) -> dict[str, str]:
        """Over which transport each test is measured, by its name."""
        return {test.name: test.transport for test in self.tests if test.is_covered}
