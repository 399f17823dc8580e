"""A node's load latency by size, cache levels, units, and its rooflines with kernels below them.

The traffic is the least that our programs have with arrays that no cache holds: each pass over an
array moves it once. Reads that a write causes are left out, so that a kernel can do no better.
"""

from dataclasses import dataclass
from statistics import median

from nhalf.base.errors import InputError
from nhalf.facts.applications import applications
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.machines.computing import Computing
from nhalf.machines.processor import ProcessorOperation
from nhalf.node.bandwidth import MEMORY
from nhalf.node.levels import Hierarchy, hierarchy
from nhalf.node.plateaus import LoadTime, curve
from nhalf.node.reading import UNIT, readings, warnings
from nhalf.node.units import operations

DOUBLE_BYTES = 8


@dataclass(frozen=True)
class NodeFacts:
    """One node: its curve of latencies, its levels, its operations, and its clock.

    `small_steps` are those in small pages. `doubts` are warnings about the whole run, in sentences.
    """

    run: str
    steps: list[LoadTime]
    small_steps: list[LoadTime]
    levels: Hierarchy
    operations: list[ProcessorOperation]
    clock_hz: float
    doubts: tuple[str, ...]

    @property
    def peak_per_s(self) -> float:
        """Floating-point operations a second of one core: a fused one counts twice; 0 unknown."""
        counts = {"fused_multiply_add": 2, "add": 1, "multiply": 1}
        rates = (
            counts[operation.name] * operation.lanes * operation.per_cycle
            for operation in self.operations
            if operation.name in counts
        )
        return self.clock_hz * max(rates, default=0.0)


@fact
def nodes(facts: Facts) -> list[NodeFacts]:
    """Every node measured by itself; none if only messages were measured."""
    node_facts = []
    for run, run_readings in readings(facts.measurements).items():
        levels = hierarchy(run_readings)
        hit_cycles = levels.levels[0].hit_cycles_median if levels.levels else None
        units = [reading for reading in run_readings if reading.pattern == UNIT]
        clock_hz = 1 / median(reading.cycle_s for reading in units or run_readings)
        disturbances = tuple(warnings(run_readings))
        core_operations = operations(units, hit_cycles)
        small = curve(run_readings, is_huge=False)
        measured = (curve(run_readings), small, levels, core_operations, clock_hz)
        node_facts.append(NodeFacts(run, *measured, disturbances))
    return node_facts


@fact
def computing(facts: Facts) -> Computing:
    """The capability of a core, for machine files; raises InputError if no node was measured.

    With several nodes, the first counts. The memory rate is that of the triad on one core.
    """
    measured = nodes(facts)
    if not measured:
        raise InputError("no node was measured in this run", "measure one with `nhalf node`")
    node = measured[0]
    rows = [
        row
        for row in facts.results.get("stream", [])
        if (row["run"], row["level"], row["ranks"]) == (node.run, MEMORY, 1)
    ]
    return Computing(
        clock_hz=node.clock_hz,
        flops_per_s=node.peak_per_s or None,
        memory_Bps=rows[0].get("triad_Bps") if rows else None,
        source=f"measured by nhalf, run {node.run}",
    )


KERNEL = "triad_Bps"


@dataclass(frozen=True)
class Roof:
    """One memory level of one core: its rate by STREAM's triad, and the peak of the units."""

    run: str
    level: str
    rate_Bps: float
    peak_per_s: float

    @property
    def ridge_per_byte(self) -> float:
        """From this many operations per byte on, the units are the limit."""
        return self.peak_per_s / self.rate_Bps

    def reached_per_s(self, operations_per_byte: float) -> float:
        """Upper bound of a loop's operations per second."""
        return min(self.peak_per_s, operations_per_byte * self.rate_Bps)


@fact
def roofs(facts: Facts) -> list[Roof]:
    """The levels of one core of every node; none if bandwidth or units were not measured."""
    peaks = {node.run: node.peak_per_s for node in nodes(facts)}
    return [
        Roof(row["run"], row["level"], row[KERNEL], peaks[row["run"]])
        for row in facts.results.get("stream", [])
        if row["ranks"] == 1 and row.get(KERNEL) and peaks.get(row["run"])
    ]


IN_MEMORY = ("A", "B", "C", "D")
"""Classes whose arrays caches do not hold as a rule."""
BYTES_PER_OPERATION = {
    "cg": 12 / 2,
    "mg": 12 * DOUBLE_BYTES * 8 / 7 / 58,
    "ft": 8 * DOUBLE_BYTES / 120,
    "is": 16.0,
    "bt": 30 * DOUBLE_BYTES / 3479,
    "sp": 30 * DOUBLE_BYTES / 881,
    "lu": 35 * DOUBLE_BYTES / 1985,
}
"""Bytes per operation by kernel, with operations as the reference counts them.

CG: a value and its column for an addition and a multiplication. MG: 12 passes of a V-cycle on the
finest grid, and an eighth of that on each next one. FT: two passes of complex numbers, read and
written. IS: a key is read, put into its bucket, read there and counted. BT and SP: u, the forcing
term and r, then u, r and u again; LU: these arrays in its lower sweep, and its changes, then these,
u and u again. EP has no arrays; it counts pairs and IS keys, which units do not limit in a known
way.
"""
FLOATING = frozenset(BYTES_PER_OPERATION) - {"is"}


@dataclass(frozen=True)
class Reached:
    """A kernel on ranks or threads: its rate, and the most that the node allows."""

    kernel: str
    series: str
    workers: int
    rate_per_s: float
    bound_per_s: float
    limit: str

    @property
    def share(self) -> float:
        """The rate as a share of the bound."""
        return self.rate_per_s / self.bound_per_s


@fact
def reached(facts: Facts) -> list[Reached]:
    """Kernels whose bound is known: on as many ranks as bandwidth was measured with.

    Applications and the node are taken for the same machine, whose first node counts.
    """
    ceilings = _ceilings(facts)
    reached_rates = []
    for row in applications(facts):
        workers = row["ranks"] * row["threads"]
        kernel = row["kernel"]
        if not row["mops"] or workers not in ceilings or kernel not in BYTES_PER_OPERATION:
            continue
        peak_per_s, rate_Bps = ceilings[workers]
        limits = {}
        if kernel in FLOATING:
            limits["units"] = peak_per_s
        if row["class"] in IN_MEMORY:
            limits[MEMORY] = rate_Bps / BYTES_PER_OPERATION[kernel]
        if limits:
            limit = min(limits, key=lambda name: limits[name])
            subject = (f"{kernel}.{row['class']}", row["series"], workers, row["mops"] * 1e6)
            reached_rates.append(Reached(*subject, limits[limit], limit))
    return reached_rates


@fact
def _ceilings(facts: Facts) -> dict[int, tuple[float, float]]:
    """By number of cores: operations a second of their units, and bytes a second of memory."""
    for roof in roofs(facts):
        if roof.level == MEMORY:
            return {
                row["ranks"]: (row["ranks"] * roof.peak_per_s, row[KERNEL])
                for row in facts.results["stream"]
                if (row["run"], row["level"]) == (roof.run, MEMORY) and row.get(KERNEL)
            }
    return {}
