"""Where to tune first: cells in which a run violates performance guidelines, and with what.

A violated guideline says that something faster exists: the mock-up. Algorithms that do the same as
it by name (facts/guidelines.py) are first candidates, which race however the screening turns out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nhalf.base.errors import FailedError
from nhalf.facts.facts import Facts
from nhalf.facts.guidelines import Verdict, violations
from nhalf.mpi.tuner import Tuner


@dataclass(frozen=True)
class ViolatedCells:
    """Operations, ranks and sizes with a violation, the worst operation first."""

    operations: tuple[str, ...]
    ranks: tuple[int, ...]
    sizes_bytes: tuple[int, ...]
    first: Mapping[str, tuple[str, ...]]
    """Algorithms by operation, as libraries call them, without the sizes of segments."""


def violated_cells(facts: Facts, tuner: Tuner) -> ViolatedCells:
    """The cells of a tuner's library that its own choice can be changed in.

    Raises FailedError if there is none, InputError if the run does not have the library.
    """
    name = tuner.library.name
    verdicts = [
        verdict
        for verdict in violations(facts.restricted(mpi=name))
        if verdict.mpi == name and tuner.algorithms(verdict.mock_up.operation)
    ]
    if not verdicts:
        raise FailedError(
            f"{name} violates no performance guideline there that its algorithms could fix",
            "leave out --violated to search everywhere",
        )
    operations = tuple(dict.fromkeys(verdict.mock_up.operation for verdict in verdicts))
    return ViolatedCells(
        operations,
        tuple(sorted({verdict.ranks for verdict in verdicts})),
        tuple(sorted({verdict.size_bytes for verdict in verdicts})),
        {operation: _first(verdicts, operation) for operation in operations},
    )


def _first(verdicts: Sequence[Verdict], operation: str) -> tuple[str, ...]:
    mock_ups = [verdict.mock_up for verdict in verdicts if verdict.mock_up.operation == operation]
    return tuple(dict.fromkeys(name for mock_up in mock_ups for name in mock_up.algorithms))


def is_first(first: Mapping[str, Sequence[str]], operation: str, algorithm: str) -> bool:
    """Whether an algorithm, with or without the size of its segments, is a first candidate."""
    return algorithm.partition(":")[0] in first.get(operation, ())
