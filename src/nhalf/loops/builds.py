"""Builds of loops: each compiler at each level of optimisation."""

import shutil
from dataclasses import dataclass, replace

from nhalf.base.errors import MissingError

COMPILERS = ("gcc", "clang")
LEVELS = (("-O0",), ("-O2",), ("-O3", "-march=native"))


@dataclass(frozen=True)
class Build:
    """A compiler and its options; `is_tuned` says that the source was transformed before."""

    compiler: str
    level: tuple[str, ...]
    is_tuned: bool = False

    @property
    def title(self) -> str:
        """Its name in tables."""
        tuned = " tuned" if self.is_tuned else ""
        return f"{self.compiler} {' '.join(self.level)}{tuned}"

    @property
    def is_optimised(self) -> bool:
        """Whether values are kept in registers."""
        return "-O0" not in self.level


def builds() -> list[Build]:
    """All builds that can be made here; raises MissingError if there is no compiler."""
    possible = [
        Build(compiler, level)
        for compiler in COMPILERS
        if shutil.which(compiler)
        for level in LEVELS
    ]
    if not possible:
        raise MissingError("there is no C compiler", f"install one of {', '.join(COMPILERS)}")
    return possible


def tuned_builds() -> list[Build]:
    """The last level of each compiler, for sources that were transformed."""
    return [replace(build, is_tuned=True) for build in builds() if build.level == LEVELS[-1]]
