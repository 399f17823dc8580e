"""The names of the Livermore kernels in reports and in the store; which have a tuned version."""

from typing import Literal

Transformation = Literal[
    "vectorise",
    "keep elements in registers",
    "partial results",
    "substitute one iteration into the next",
    "block",
]
TUNED: dict[int, tuple[Transformation, ...]] = {
    1: ("vectorise", "keep elements in registers"),
    3: ("partial results",),
    4: ("partial results",),
    5: ("substitute one iteration into the next",),
    6: ("partial results",),
    7: ("vectorise", "keep elements in registers"),
    11: ("partial results",),
    12: ("vectorise", "keep elements in registers"),
    19: ("substitute one iteration into the next",),
    21: ("block", "vectorise"),
    23: ("substitute one iteration into the next",),
    24: ("vectorise",),
}
"""Transformations of a kernel, by its number: native/node/livermore/tuned_*.c."""


PATTERN = "node-kernel"
"""One kernel in one build, as a point of a run: an iteration of its innermost loops."""
TITLES = (
    *("hydro fragment", "incomplete Cholesky", "inner product", "banded linear equations"),
    *("tri-diagonal elimination", "linear recurrence", "equation of state", "ADI integration"),
    *("integrate predictors", "difference predictors", "first sum", "first difference"),
    *("2-D particles in cells", "1-D particles in cells", "casual Fortran", "Monte Carlo search"),
    *("implicit conditions", "2-D explicit hydro", "there and back", "discrete ordinates"),
    *("matrix product", "Planck's distribution", "2-D implicit hydro", "first minimum"),
)
EXPLANATIONS = {
    10: "its 20 streams go through rows of 25 numbers, so that every access of an iteration is to "
    "another line; vectors have to be put together and taken apart, which MA does not count",
    13: "indices come from numbers: conversions to integers and masks, loads of which each address "
    "waits for a load, and counters in memory that may be the same element as just before",
    14: "indices come from numbers, as in 13: conversions and gathers; the last loop adds to "
    "elements that may be the same one, so that it is not vectorised",
    15: "each iteration takes branches by what it compares: MACS takes them for foreseen, and "
    "those that are not cost tens of cycles; a root and quotients are computed in some paths only",
}
"""Why kernels take longer than operations and chains say, beyond the causes of gaps."""
