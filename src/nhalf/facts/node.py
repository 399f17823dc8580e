"""Facts about nodes: load latency by size, the cache levels behind it, and units."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from nhalf.base.errors import InputError
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.machines.computing import Computing
from nhalf.machines.processor import ProcessorOperation
from nhalf.node.bandwidth import MEMORY
from nhalf.node.levels import Hierarchy, hierarchy
from nhalf.node.neighbours import warnings
from nhalf.node.plateaus import LoadTime, curve
from nhalf.node.reading import UNIT, readings
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
