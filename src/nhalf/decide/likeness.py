"""A run beside a machine of record: the sizes at which it does not do what was published there."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from nhalf.decide.changes import CurveRatio, SizeRatio
from nhalf.decide.check.against import TOLERANCE, against_machine
from nhalf.facts.facts import Facts
from nhalf.machines.machine import Machine


@dataclass(frozen=True)
class UnlikeSizes:
    """Neighbouring sizes whose times differ for certain: the smallest and the largest ratio.

    Ratios are the run's times over the published ones, in the same direction at all these sizes.
    """

    from_bytes: int
    to_bytes: int
    least_ratio: float
    greatest_ratio: float


@dataclass(frozen=True)
class Likeness:
    """A curve of a run beside the published one: what sizes are unlike, and what is undecided.

    Sizes are alike or unlike by more than `tolerance_share`, or undecided where the interval of
    their ratio holds both; `from_bytes` and `to_bytes` are the first and the last size of both.
    """

    machine: str
    pattern: str
    mpi: str
    ranks: int
    placement: str
    from_bytes: int
    to_bytes: int
    tolerance_share: float
    compared: int
    undecided: int
    unlike_count: int
    unlike: tuple[UnlikeSizes, ...]

    def as_json(self) -> dict[str, Any]:
        """A row of `likeness` in `nhalf compare --json`."""
        return asdict(self)


def likenesses(
    facts: Facts, machine: Machine, tolerance: float = TOLERANCE, mpi: str = ""
) -> list[Likeness]:
    """The curves of a run, of one of its libraries if named, that a machine has as tables.

    Raises InputError for a machine without models.
    """
    comparison = against_machine(facts, machine, max(tolerance, TOLERANCE)).comparison
    curves = comparison.curves if comparison else []
    published = {
        (model.pattern, model.placement, model.axes) for model in machine.models if model.is_table
    }
    return [
        _likeness(curve, machine.name)
        for curve in curves
        if mpi in ("", curve.mpi_b) and curve.sizes
        if tuple(curve.point[name] for name in ("pattern", "placement", "axes")) in published
    ]


def _likeness(curve: CurveRatio, machine: str) -> Likeness:
    unlike = tuple(_unlike(curve.sizes))
    verdicts = [size.verdict for size in curve.sizes]
    sizes = [size.size_bytes for size in curve.sizes]
    return Likeness(
        machine=machine,
        pattern=curve.point["pattern"],
        mpi=curve.mpi_b,
        ranks=curve.point["ranks"],
        placement=curve.point["placement"],
        from_bytes=min(sizes),
        to_bytes=max(sizes),
        tolerance_share=curve.threshold - 1,
        compared=len(sizes),
        undecided=verdicts.count("unclear"),
        unlike_count=verdicts.count("slower") + verdicts.count("faster"),
        unlike=unlike,
    )


def _unlike(sizes: Sequence[SizeRatio]) -> Iterator[UnlikeSizes]:
    """Runs of neighbouring sizes that are all slower, or all faster."""
    ordered = sorted(sizes, key=lambda size: size.size_bytes)
    for verdict, group in groupby(ordered, key=lambda size: size.verdict):
        if verdict in ("slower", "faster"):
            members = list(group)
            ratios = [size.ratio.ratio for size in members]
            first, last = members[0].size_bytes, members[-1].size_bytes
            yield UnlikeSizes(first, last, min(ratios), max(ratios))
