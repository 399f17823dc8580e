# SPDX-License-Identifier: Apache-2.0
"""How loops are compiled here: each compiler at each level of optimisation."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace

from nhalf.base.errors import MissingError

COMPILERS = ("gcc", "clang")
LEVELS = (("-O0",), ("-O2",), ("-O3", "-march=native"))


@dataclass(frozen=True)
class Build:
    """How loops are compiled; `is_tuned` says that the source was transformed before."""

    compiler: str
    level: tuple[str, ...]
    is_tuned: bool = False

    @property
    def title(self) -> str:
        """As a table calls it."""
        tuned = " tuned" if self.is_tuned else ""
        return f"{self.compiler} {' '.join(self.level)}{tuned}"

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


def tuned_builds() -> list[Build]:
    """The last level of each compiler, for sources that were transformed."""
    return [replace(one, is_tuned=True) for one in builds() if one.level == LEVELS[-1]]
