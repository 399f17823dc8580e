"""Kernels that also exist in a tuned version, transformed as the remedies of the plain ones say."""

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
