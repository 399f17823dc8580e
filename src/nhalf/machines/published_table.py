"""A table of a publication: a pattern at many sizes, as machine files write it down."""

import math
from itertools import pairwise
from typing import Annotated, Literal

import msgspec

HowRead = Literal["A", "B", "C", "D", "E", "P"]
"""How a number was read: A in a table or text of a record that was published; B a statistic of raw
samples that were published; C posted by a user or a centre; D the reference value of a centre's
acceptance test; E specified by a vendor or a centre; P a parameter that its authors fitted."""
Sizes = tuple[Annotated[int, msgspec.Meta(ge=0)], ...]
Values = Annotated[tuple[Annotated[float, msgspec.Meta(gt=0)], ...], msgspec.Meta(min_length=1)]


class PublishedTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Times or rates of a pattern, one for each size; without sizes a single figure.

    A ping-pong without axes, other than a distance, is a curve of the machine, all else are points.
    `source` is a number of the machine's `sources`, from 1 on, `where` the place in it. `mpi` and
    `transport` are those of a curve; points name another library than the curve's in their axes.
    Raises ValueError for a table with times and rates, or none; one that has not as many as sizes;
    sizes that do not rise.
    """

    pattern: str
    source: Annotated[int, msgspec.Meta(ge=1)]
    where: str
    read: HowRead
    ranks: int = 2
    placement: str = ""
    axes: str = ""
    transport: str = "mpi"
    mpi: str = ""
    note: str = ""
    size_bytes: Sizes = ()
    time_s: Values | None = None
    rate_Bps: Values | None = None

    def __post_init__(self) -> None:
        if (self.time_s is None) == (self.rate_Bps is None):
            raise ValueError(f"a table of {self.pattern} has either time_s or rate_Bps")
        if len(self.values) != (len(self.size_bytes) or 1):
            raise ValueError(f"a table of {self.pattern} has not one value for each size")
        if any(later <= size for size, later in pairwise(self.size_bytes)):
            raise ValueError(f"the sizes of a table of {self.pattern} do not rise")
        if not all(map(math.isfinite, self.values)):
            raise ValueError(f"a value of a table of {self.pattern} is not finite")

    @property
    def values(self) -> tuple[float, ...]:
        """Its times in seconds, or its rates in bytes per second."""
        return self.time_s or self.rate_Bps or ()

    @property
    def place(self) -> str:
        """Where its numbers are from: the number of the source, the place, and how it was read."""
        return f"[{self.source}] {self.where} ({self.read})"
