"""All rungs of a loop in one build, and why each takes longer than the one above it.

MA, MAC and MACS after Boyd and Davidson, Hierarchical performance modeling with MACS, 1993.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple, Self

GAP_RATIO = 1.2
"""A gap is explained where a rung takes at least this many times as long as the one above it."""


class Gap(NamedTuple):
    """A gap between two rungs: by which factor time grows, why, and what helps."""

    rungs: str
    ratio: float
    cause: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.cause}: {self.remedy}"


@dataclass(frozen=True, kw_only=True)
class Climb:
    """Cycles per iteration on each rung; None if one is unknown.

    `loads_ratio` are loads that were emitted for each essential one; `spills_per_iteration` are
    accesses to the stack. `is_fused` says that fused multiply-adds were emitted wherever they are
    possible; `is_in_cache` that all data stays in the nearest caches.
    """

    essential_cycles: float | None = None
    emitted_cycles: float | None = None
    scheduled_cycles: float | None = None
    measured_cycles: float | None = None
    is_optimised: bool = True
    is_vector: bool = True
    is_fused: bool = True
    is_in_cache: bool = True
    loads_ratio: float = 1.0
    spills_per_iteration: float = 0.0

    def as_values(self) -> dict[str, float | None]:
        """The fields by name, as a store has them."""
        return {name: None if x is None else float(x) for name, x in asdict(self).items()}

    @classmethod
    def of_values(cls, values: Mapping[str, float | None]) -> Self:
        """Read the fields of a store; those that an older store lacks have their defaults."""
        names = {field.name for field in fields(cls)}
        present = {name: value for name, value in values.items() if name in names}
        typed: dict[str, Any] = {
            name: bool(value) if name.startswith("is_") else value
            for name, value in present.items()
        }
        return cls(**typed)

    @property
    def share(self) -> float | None:
        """The share of the bounding rate that is reached, 1 at the bound; None if unknown."""
        if not self.essential_cycles or not self.measured_cycles:
            return None
        return self.essential_cycles / self.measured_cycles

    def gaps(self) -> list[Gap]:
        """Every gap that is too large, with its cause, from the top."""
        steps = (
            ("MA to MAC", self.essential_cycles, self.emitted_cycles, self._emission_cause),
            ("MAC to MACS", self.emitted_cycles, self.scheduled_cycles, self._wait_cause),
            (
                "MACS to measured",
                self.scheduled_cycles,
                self.measured_cycles,
                self._remaining_cause,
            ),
        )
        return [
            Gap(rungs, below / above, *why())
            for rungs, above, below, why in steps
            if above and below and below > GAP_RATIO * above
        ]

    def _emission_cause(self) -> tuple[str, str]:
        """The cause of operations beyond the essential ones, and a remedy."""
        if not self.is_optimised:
            return "values are kept in memory and not in registers", "compile with -O2"
        if self.spills_per_iteration:
            return "registers spill", "split the loop, or unroll it less"
        if not self.is_vector:
            return (
                "not vectorised",
                "vectorise (-O3 -march=native); else interchange to strides of one, or split off "
                "scalar parts",
            )
        if self.loads_ratio > GAP_RATIO:
            return "redundant loads", "unroll or block, and keep elements in registers"
        if not self.is_fused:
            return "multiply-adds are not fused", "-march=native -ffp-contract=fast"
        return "vectors narrower than the widest, or instructions around them", "unroll"

    def _wait_cause(self) -> tuple[str, str]:
        if not self.is_optimised:
            return "each iteration waits for a value that goes through memory", "compile with -O2"
        return (
            "each iteration waits for the one before",
            "unroll with partial results, substitute one iteration into the next, or interchange "
            "with a loop that does not wait",
        )

    def _remaining_cause(self) -> tuple[str, str]:
        """The cause of time that neither units nor dependency chains explain, and a remedy."""
        if not self.is_in_cache:
            return "misses", "block, interchange or merge loops; prefetch where none is possible"
        return (
            "neither units nor chains explain the rest: short loops, conflicts or branches",
            "merge or interchange loops so that the innermost is long",
        )
