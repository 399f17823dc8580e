"""What loads and stores that do not wait for each other cost, by size and stride."""

import polars as pl

from nhalf.base.rows import Row
from nhalf.base.units import format_size
from nhalf.node.reading import LOAD, STORE, SWEEP_STRIDES, readings, subject_of
from nhalf.results import Column, Result, cycles_text

KINDS = {LOAD: "load", STORE: "store"}


class Sweeps(Result):
    """One row per size of the array; all columns are cycles of an access."""

    title = "Sweeps, cycles per access"
    patterns = frozenset(KINDS)
    parts = frozenset(KINDS)
    columns = (
        Column("size_bytes", "array", format_size),
        *(
            Column(f"{kind}_{stride}_cycles", f"{kind} every {stride} B", cycles_text)
            for kind in KINDS.values()
            for stride in SWEEP_STRIDES
        ),
    )

    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        """Cycles of an access by array: of several trials the least disturbed."""
        rows: dict[tuple[str, int], Row] = {}
        for run, run_readings in readings(measurements).items():
            for reading in run_readings:
                if reading.pattern in KINDS:
                    start = {**subject_of(run), "size_bytes": reading.size_bytes}
                    row = rows.setdefault((run, reading.size_bytes), start)
                    name = f"{KINDS[reading.pattern]}_{reading.stride_bytes}_cycles"
                    row[name] = min(reading.cycles, row.get(name, reading.cycles))
        return [rows[key] for key in sorted(rows)]
