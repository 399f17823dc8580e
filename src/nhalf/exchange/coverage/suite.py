"""A suite of benchmarks, test by test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

HOST_ALONE = frozenset(
    {
        *("barrier", "ibarrier", "barrier-persistent", "startup", "rma-window"),
        *(f"{name}-threads" for name in ("barrier", "bcast", "reduce", "allreduce")),
    }
)
"""Patterns of these suites without the axis `memory`: without messages of a size, or made for the
host."""
WITH_MEMORY = ("mpi", "rma")


@dataclass(frozen=True)
class Test:
    """One test of a suite.

    `pattern` and `axes` (as in the column `axes`) are those of nhalf, over `transport`; `why_not`
    is the reason why there are none. `note` says what differs, or how to request it.
    """

    name: str
    pattern: str = ""
    axes: str = ""
    transport: str = "mpi"
    note: str = ""
    why_not: str = ""

    @property
    def point(self) -> str:
        """The pattern of nhalf, with its axes if it has any, as in a style's `benchmarks`."""
        return f"{self.pattern} {self.axes}".strip()

    @property
    def is_covered(self) -> bool:
        """Whether nhalf measures the test."""
        return not self.why_not

    @property
    def takes_gpu_memory(self) -> bool:
        """Whether nhalf measures it with buffers in GPU memory, too."""
        is_measured = self.is_covered and self.transport in WITH_MEMORY
        return is_measured and self.pattern not in HOST_ALONE


@dataclass(frozen=True)
class Suite:
    """A suite of benchmarks; `name` is that of its style, `parts` are what it keeps together."""

    name: str
    title: str
    parts: Mapping[str, Sequence[Test]]

    @property
    def tests(self) -> list[Test]:
        """Every test of all parts."""
        return [test for tests in self.parts.values() for test in tests]

    def benchmarks(self) -> dict[str, str]:
        """The point of each test that nhalf measures, by name."""
        return {test.name: test.point for test in self.tests if test.is_covered}

    def transports(self) -> dict[str, str]:
        """The transport of each test that nhalf measures, by name."""
        return {test.name: test.transport for test in self.tests if test.is_covered}
