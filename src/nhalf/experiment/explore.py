"""The fastest algorithm on a simulated machine, from models and a few simulated cells.

The requested cells are simulated in one run per batch, whose directory is removed afterwards.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from nhalf.base.errors import InputError
from nhalf.base.launch.survivor import Survivor
from nhalf.decide.choice import AlgorithmChoice, Cell, Grid, explore
from nhalf.decide.ways import parts_of_algorithms
from nhalf.facts.algorithms import PART
from nhalf.machines.algorithms import Algorithm
from nhalf.machines.layout import contrasting_layouts, parse_layout
from nhalf.machines.machine import Machine
from nhalf.machines.message import Messages
from nhalf.machines.parts import parts_of
from nhalf.measure.loop.progress import Progress
from nhalf.measure.loop.session import measure
from nhalf.measure.plan.axes import AXIS
from nhalf.measure.plan.plan import Block
from nhalf.measure.simulate.session import Simulation, begin
from nhalf.measure.simulate.subject import site_of
from nhalf.models.expression import PART_BYTES
from nhalf.statistics.summary import summarise
from nhalf.store.keys import axis


class SimulatedCells:
    """Measures cells of one operation on a machine, with ranks spread over all nodes."""

    def __init__(
        self,
        operation: str,
        machine: Machine,
        grid: Grid,
        progress: Progress,
        mpi: str = "",
        part_bytes: Mapping[Cell, int] | None = None,
    ) -> None:
        self.operation, self.machine, self.grid, self.progress = operation, machine, grid, progress
        self.part_bytes = part_bytes or {}
        self.simulation = Simulation(ranks=grid.ranks[-1], mpi=mpi)
        self.site = site_of(machine, grid.ranks[-1], mpi)
        ranks_max = len(self.site.hosts) * self.site.cores_per_host
        if grid.ranks[-1] > ranks_max:
            raise InputError(
                f"{machine.name} holds {ranks_max} ranks and not {grid.ranks[-1]}",
                "ask for fewer, or give it a larger network with --set network.topology=…",
            )

    def measure(self, cells: Sequence[Cell]) -> dict[Cell, float]:
        """Seconds of each cell; raises MissingError without the simulator."""
        with Survivor.own().holding(tempfile.TemporaryDirectory(prefix="nhalf-")) as folder:
            blocks = list(self._blocks(cells))
            prepared = begin(self.machine, self.simulation, "", blocks, Path(folder, "run"))
            run = measure(prepared, self.progress).run
            summary = summarise(run.measurements())
        rows = summary.select("algorithm", "ranks", "bytes", axis(PART), "median_s")
        times = {row[:-1]: row[-1] for row in rows.iter_rows()}
        ranks, sizes = self.grid.ranks, self.grid.size_bytes
        keys = {
            (name, i, j): (name, ranks[i], sizes[j], self._part(name, i, j)) for name, i, j in cells
        }
        return {cell: times[key] for cell, key in keys.items() if key in times}

    def _part(self, *cell: *Cell) -> str | None:
        """The size of a part as the axis has it; None for the usual one."""
        size_bytes = self.part_bytes.get(cell)
        return None if size_bytes in (None, PART_BYTES) else str(size_bytes)

    def _blocks(self, cells: Sequence[Cell]) -> list[Block]:
        """A block for each algorithm, number of ranks and size of parts, with its sizes."""
        rows = [(*cell, self._part(*cell)) for cell in cells]
        frame = pl.DataFrame(rows, schema=["algorithm", "row", "column", PART], orient="row")
        blocks = []
        for (name, row, part), group in frame.group_by(
            "algorithm", "row", PART, maintain_order=True
        ):
            ranks = self.grid.ranks[row]
            layout = contrasting_layouts(ranks, len(self.site.hosts), self.site.cores_per_host)[-1]
            sizes = sorted({self.grid.size_bytes[column] for column in group["column"]})
            blocks.append(
                Block(
                    patterns=[self.operation],
                    ranks=[ranks],
                    bytes=",".join(map(str, sizes)),
                    axes={AXIS: str(name), **({PART: str(part)} if part else {})},
                    placements=[layout],
                )
            )
        return blocks


def per_node(ranks: int, hosts: int, cores_per_host: int) -> int:
    """The number of ranks per node, spread over as many nodes as divide them evenly."""
    layout = parse_layout(contrasting_layouts(ranks, hosts, cores_per_host)[-1])
    return layout.per_host if layout else 1


def simulated_choice(
    operation: str,
    machine: Machine,
    grid: Grid,
    algorithms: Sequence[Algorithm],
    share: float,
    progress: Progress,
    mpi: str = "",
    part_bytes: int | None = None,
) -> AlgorithmChoice:
    """The choice on a grid after simulating a share of all cells (algorithm, ranks, size).

    Messages are cut into parts of `part_bytes`; None: of the size that composed times choose.
    """
    messages = Messages(machine, mpi)
    parts = parts_of(messages)
    cuts = {
        (name, i, j): size
        for name, part_of in parts_of_algorithms(
            operation, algorithms, messages, parts, part_bytes
        ).items()
        for i, p in enumerate(grid.ranks)
        for j, n in enumerate(grid.size_bytes)
        if (size := part_of(p, n)) is not None
    }
    simulated = SimulatedCells(operation, machine, grid, progress, mpi, cuts)
    hosts, cores = len(simulated.site.hosts), simulated.site.cores_per_host
    grid = replace(
        grid,
        rendezvous_bytes=parts.rendezvous_bytes,
        per_node=tuple(per_node(p, hosts, cores) for p in grid.ranks),
    )
    choice = AlgorithmChoice.of(operation, algorithms, parts, grid, cuts)
    cells = len(choice.prior_s) * len(grid.ranks) * len(grid.size_bytes)
    explore(choice, simulated.measure, round(share * cells))
    return choice
