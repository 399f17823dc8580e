"""How far the iterations of a loop reach: `a[i*n + j]` and `a[(i-1)*n + j]` do not meet over j."""

from dataclasses import dataclass

from nhalf.loops.source.polynomial import Polynomial, integer

ROWS_MAX = 16
"""Distances of at most this many rows are tried."""


@dataclass(frozen=True)
class IterationBound:
    """The count of iterations is at most `extent` / `stride`; without an extent it is unknown."""

    extent: Polynomial | None = None
    stride: int = 1

    def is_beyond(self, distance: Polynomial, step: Polynomial) -> bool:
        """Whether elements so far apart are never accessed by two iterations of the loop.

        Where the extent has names in it, it is taken as at least 0, since the loop runs.
        """
        step_size = step.constant
        if self.extent is None or not step_size:
            return False
        row = self.extent * integer(abs(step_size))
        scaled = distance * integer(self.stride)
        if row.constant is not None:
            return scaled.constant is not None and abs(scaled.constant) >= row.constant
        return any(
            _is_no_less(candidate, row * integer(count))
            for candidate in (scaled, -scaled)
            for count in range(1, ROWS_MAX)
        )


def _is_no_less(first: Polynomial, second: Polynomial) -> bool:
    least = (first - second).constant
    return least is not None and least >= 0
