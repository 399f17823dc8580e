"""What other suites call their tests, as patterns, axes and transports of nhalf."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TableIdentity:
    """What a table measures, in nhalf's names.

    `ranks` is the number that the test always has, 0 if it is that of the program. `is_known` is
    False for a test that nhalf has no name for.
    """

    pattern: str
    axes: Mapping[str, str] = field(default_factory=dict)
    transport: str = "mpi"
    ranks: int = 0
    is_known: bool = True


def axes_of(text: str) -> dict[str, str]:
    """Axes by name, from `name=value,name=value`."""
    return dict(part.split("=") for part in text.split(",") if part)
