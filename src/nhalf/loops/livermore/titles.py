# SPDX-License-Identifier: Apache-2.0
"""The names of the Livermore kernels in reports and in the store."""

from __future__ import annotations

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
