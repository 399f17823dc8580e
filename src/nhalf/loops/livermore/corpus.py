"""The Livermore kernels as C source: where they are, and what bounds them.

F. H. McMahon, The Livermore Fortran Kernels: A Computer Test of the Numerical Performance Range,
UCRL-53745, 1986.
"""

from dataclasses import dataclass
from pathlib import Path

from nhalf.base import native_files
from nhalf.base.errors import MissingError
from nhalf.loops.builds import Build
from nhalf.loops.livermore.titles import TITLES, TUNED
from nhalf.loops.source.ma_bounds import Bound, bound
from nhalf.loops.source.program import read_program
from nhalf.machines.processor import Processor

FOLDER = "node/livermore"


@dataclass(frozen=True)
class KernelBound:
    """The bounds of a kernel's innermost loops, which all run equally often.

    With several loops, an iteration is one of each. `reason` is why there is no bound.
    """

    number: int
    loops: tuple[Bound, ...]
    reason: str = ""

    @property
    def title(self) -> str:
        """The computation of the kernel."""
        return TITLES[self.number - 1]

    @property
    def cycles(self) -> float | None:
        """Cycles per iteration; None if a loop could not be read."""
        return sum(loop.cycles for loop in self.loops) if self.loops else None

    @property
    def flops(self) -> int:
        """Floating-point operations per iteration."""
        return sum(loop.counts.flops for loop in self.loops)

    @property
    def limits(self) -> tuple[str, ...]:
        """The units that limit the loop that takes longest."""
        longest = max(self.loops, key=lambda loop: loop.cycles, default=None)
        return longest.limits if longest else ()


def sources() -> list[Path]:
    """The C files of all kernels, by number; raises MissingError if they are not installed."""
    folder = native_files.include_folder() / FOLDER
    paths = sorted(folder.glob("kernel_*.c"))
    if len(paths) != len(TITLES):
        raise MissingError(f"the Livermore kernels are not at {folder}", native_files.REMEDY)
    return paths


def sources_of(build: Build) -> dict[int, Path]:
    """The C file of each kernel in a build; a tuned build has the transformed ones."""
    plain = dict(enumerate(sources(), 1))
    if not build.is_tuned:
        return plain
    return plain | {number: plain[number].with_name(f"tuned_{number:02d}.c") for number in TUNED}


def kernel_bounds(processor: Processor | None) -> list[KernelBound]:
    """The bound of each kernel on a processor, or the reason why there is none."""
    if processor is None:
        reason = "the processor here was not measured: run `nhalf node`"
        return [KernelBound(number, (), reason) for number in range(1, len(TITLES) + 1)]
    return [kernel_bound(number, processor) for number in range(1, len(TITLES) + 1)]


def kernel_bound(number: int, processor: Processor) -> KernelBound:
    """The bound of one kernel on a processor, or the reason why there is none."""
    path = sources()[number - 1]
    program = read_program(path)
    if program.refusals:
        refusal = program.refusals[0]
        return KernelBound(number, (), f"line {refusal.line}: {refusal.message}")
    return KernelBound(number, tuple(bound(loop, processor) for loop in program.loops))
