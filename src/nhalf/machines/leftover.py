"""Residuals of the sums of a pattern, as machine files store them, and their interpolation.

Machine files are read often and interpolated seldom: NumPy is imported only when needed.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from nhalf.base.arrays import Floats
    from nhalf.models.smooth import Smooth
    from nhalf.statistics.gaussian_process import Correction

DIGITS = 6
"""Decimal places of logarithms of ratios: a millionth is far below what any clock resolves."""


class Leftover(msgspec.Struct, frozen=True, kw_only=True):
    """Residuals of the sums of a pattern: logarithms of measured over modelled times, by cell.

    Between the cells a process interpolates (statistics/gaussian_process.py) whose `scale`,
    `nugget` and `variance` these are. Where they are `whole`, the logarithms are of the times
    themselves, and the surface through them is that of models/smooth.py.
    """

    size_bytes: tuple[float, ...]
    ranks: tuple[int, ...]
    log_ratio: tuple[float, ...]
    scale: tuple[float, ...]
    nugget: float
    variance: float
    whole: bool = False

    def holds(self, size_bytes: float, ranks: int) -> bool:
        """Whether a place is between the cells."""
        sizes = min(self.size_bytes) <= size_bytes <= max(self.size_bytes)
        return sizes and min(self.ranks) <= ranks <= max(self.ranks)

    def time_s(self, size_bytes: float, ranks: int) -> float:
        """The time of a place, if the values are logarithms of times (`whole`)."""
        import numpy as np

        from nhalf.models.pattern import places

        surface, _ = surface_of(self)
        return float(surface.time_s(places(np.array([float(size_bytes)]), np.array([ranks])))[0])

    def factor(self, size_bytes: float, ranks: int) -> float:
        """The factor by which the sums are multiplied at a place."""
        import numpy as np

        from nhalf.models.pattern import DEVIATION_MAX, places

        process, weights = correction_of(self)
        place = places(np.array([float(size_bytes)]), np.array([ranks]))
        mean = float(process.mean(place, weights)[0])
        return math.exp(min(max(mean, -DEVIATION_MAX), DEVIATION_MAX))


def leftover_of_correction(correction: Correction) -> Leftover:
    """A fitted correction in the form of machine files."""
    import numpy as np

    sizes = np.exp2(correction.place[:, 0]) - 1
    return Leftover(
        size_bytes=tuple(map(float, sizes.round())),
        ranks=tuple(map(int, np.exp2(correction.place[:, 1]).round())),
        log_ratio=tuple(round(float(value), DIGITS) for value in correction.value),
        scale=tuple(map(float, correction.scale)),
        nugget=correction.nugget,
        variance=float(f"{correction.variance:.6g}"),
    )


def leftover_of_surface(surface: Smooth) -> Leftover:
    """A fitted surface in the form of machine files."""
    import numpy as np

    return Leftover(
        size_bytes=tuple(map(float, (np.exp2(surface.place[:, 0]) - 1).round())),
        ranks=tuple(map(int, np.exp2(surface.place[:, 1]).round())),
        log_ratio=tuple(round(float(value), DIGITS) for value in surface.value),
        scale=surface.scale,
        nugget=surface.nugget,
        variance=0.0,
        whole=True,
    )


@functools.lru_cache(maxsize=256)
def surface_of(stored: Leftover) -> tuple[Smooth, Floats]:
    """The surface of a machine file, and its weights."""
    import numpy as np

    from nhalf.models.pattern import places
    from nhalf.models.smooth import Smooth

    place = places(np.array(stored.size_bytes), np.array(stored.ranks, dtype=np.int64))
    surface = Smooth(place, np.array(stored.log_ratio), stored.scale, stored.nugget)
    return surface, surface.weights()


@functools.lru_cache(maxsize=256)
def correction_of(stored: Leftover) -> tuple[Correction, Floats]:
    """The process of a machine file, and its weights."""
    import numpy as np

    from nhalf.models.pattern import places
    from nhalf.statistics.gaussian_process import Correction

    place = places(np.array(stored.size_bytes), np.array(stored.ranks, dtype=np.int64))
    value = np.array(stored.log_ratio)
    process = Correction(place, value, stored.scale, stored.nugget, stored.variance)
    return process, process.weights()
