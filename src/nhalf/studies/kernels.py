"""The Livermore kernels: their bounds on a processor, and how close compiled code comes."""

from functools import cache, partial

import polars as pl

from nhalf.base.errors import InputError
from nhalf.base.rows import Row
from nhalf.facts.facts import Facts
from nhalf.loops.livermore.corpus import KernelBound, kernel_bound
from nhalf.loops.livermore.titles import PATTERN, TITLES
from nhalf.machines.machine import Machine
from nhalf.machines.processor_file import processor
from nhalf.store.keys import axis, value
from nhalf.studies.caches import Figure, recorded_processor
from nhalf.studies.value import StudyValue

LEVELS = {"unoptimised": "O0", "basic": "O2", "full": "O3-native"}
"""Levels of optimisation, as points of kernels have them."""
FULL = "full"
COUNTED_ON = "power2"
"""Any processor does: what is counted of a loop is in its source."""


@cache
def _bound(number: int, name: str) -> KernelBound:
    """The bound of a kernel on a processor; raises InputError if there is none."""
    bound = kernel_bound(number, processor(name))
    if bound.cycles is None:
        raise InputError(f"kernel {number} has no bound: {bound.reason}")
    if not bound.flops:
        raise InputError(f"kernel {number} has no arithmetic")
    return bound


def _recorded_cpf(number: int, machine: Machine) -> StudyValue:
    """Fewest cycles per operation on the processor of a record."""
    bound = _bound(number, recorded_processor(machine).name)
    return StudyValue((bound.cycles or 0.0) / bound.flops)


def _recorded_rate(number: int, machine: Machine) -> StudyValue:
    return _recorded_cpf(number, machine).inverse(recorded_processor(machine).clock_hz)


def _point(facts: Facts, number: int, level: str) -> Row:
    """A kernel in the fastest build of a level; raises InputError if it was not run."""
    points = facts.sound.filter(
        pl.col("pattern") == PATTERN,
        axis("kernel") == f"{number:02d}",
        axis("level") == LEVELS[level],
        axis("tuned").is_null(),
    ).with_columns(essential=value("essential_cycles"), cycle_s=value("cycle_s"))
    if points.is_empty():
        raise InputError(f"kernel {number} was not run")
    row = points.sort("median_s").row(0, named=True)
    if not row["essential"]:
        raise InputError(f"the bound of kernel {number} is not known here")
    return row


def _measured_cpf(number: int, facts: Facts) -> StudyValue:
    """Fewest cycles per operation on the processor here: computed, so it has no spread."""
    cycles = _point(facts, number, FULL)["essential"] / _bound(number, COUNTED_ON).flops
    return StudyValue(cycles, (cycles, cycles))


def _measured_rate(number: int, facts: Facts) -> StudyValue:
    return _measured_cpf(number, facts).inverse(1 / _point(facts, number, FULL)["cycle_s"])


def _measured_share(number: int, level: str, facts: Facts) -> StudyValue:
    """The share of the bounding rate that compiled code reaches."""
    row = _point(facts, number, level)
    bound_s = row["essential"] * row["cycle_s"]
    ci = (row["low_s"], row["high_s"]) if row["launches"] > 1 else None
    return StudyValue(row["median_s"], ci, origin="measured").inverse(bound_s)


def _no_share(machine: Machine) -> StudyValue:
    raise InputError(f"no times of kernels are published of {machine.name}")


def _figures() -> dict[str, Figure]:
    figures: dict[str, Figure] = {}
    for number in range(1, len(TITLES) + 1):
        name = f"kernel-{number}"
        cpf = partial(_measured_cpf, number), partial(_recorded_cpf, number)
        rate = partial(_measured_rate, number), partial(_recorded_rate, number)
        figures |= {f"{name}-cpf": ("ratio", *cpf), f"{name}-rate": ("flop/s", *rate)}
        for level in LEVELS:
            measured = partial(_measured_share, number, level)
            figures[f"{name}-{level}"] = ("share", measured, _no_share)
    return figures


FIGURES = _figures()
"""By name: cycles per operation and the rate at the bound, and the share of it by level."""
