# SPDX-License-Identifier: Apache-2.0
"""How loops are compiled here: each compiler at each level of optimisation."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from nhalf.base.errors import MissingError

COMPILERS = ("gcc", "clang")
LEVELS = (("-O0",), ("-O2",), ("-O3", "-march=native"))


@dataclass(frozen=True)
class Build:
    """How loops are compiled."""

    compiler: str
    level: tuple[str, ...]

    @property
    def title(self) -> str:
        """As a table calls it."""
        return f"{self.compiler} {' '.join(self.level)}"

    @property
    def is_optimised(self) -> bool:
        """Whether values are kept in registers."""
        return "-O0" not in self.level


def builds() -> list[Build]:
    """What can be compiled here; raises MissingError if there is no compiler."""
    found = [Build(one, level) for one in COMPILERS if shutil.which(one) for level in LEVELS]
    if not found:
        raise MissingError("there is no C compiler", f"install one of {', '.join(COMPILERS)}")
    return found
