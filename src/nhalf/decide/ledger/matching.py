"""What was measured of the cells of the ledger, by runs and traces that began after the prediction.

Of several predictions of a cell the last one before the run counts. A cell is compared once with
each run.
"""

import math
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import msgspec
import polars as pl

from nhalf.base.carrier import carrier
from nhalf.base.dates import date_of, date_of_text
from nhalf.decide.b_eff import LONGEST_BYTES
from nhalf.decide.ledger.lines import B_EFF, Ledger, LedgerCell, Predicted, Scored
from nhalf.facts.facts import Facts
from nhalf.facts.program.program import Program
from nhalf.machines.curve import OTHER_NODE
from nhalf.machines.layout import parse_layout
from nhalf.mpi.vendors import libraries_in
from nhalf.store.run import Run

B_EFF_COLUMNS = {
    "b_eff": "b_eff_Bps",
    "at-longest": "at_longest_Bps",
    "rings-at-longest": "rings_at_longest_Bps",
}
Measured = tuple[LedgerCell, float]


def scores_of_run(ledger: Ledger, run: Run) -> list[Scored]:
    """The predictions of the ledger that a run measured and that it was not compared with yet.

    What was simulated was not measured, and when an imported log was measured is not known.
    """
    began = date_of_text(run.created)
    if run.simulation or run.environment.get("imported") or began is None:
        return []
    return _scores(ledger, run.name, began, measured_cells(run))


def scores_of_trace(ledger: Ledger, program: Program) -> list[Scored]:
    """The predictions of the ledger for a traced program on the machine that it ran on."""
    began = date_of(program.trace.start_s, UTC)
    if began is None:
        return []
    libraries = {line.cell.library for line in ledger.predictions}
    matches = libraries_in(program.library, libraries) if program.library else []
    cells = [
        (msgspec.structs.replace(program_cell(program), library=library), program.elapsed_s)
        for library in ("", *matches)
    ]
    return _scores(ledger, program.name, began, cells)


def program_cell(program: Program) -> LedgerCell:
    """The cell of a traced program where it ran, of no library."""
    hosts = program.hosts
    return LedgerCell(
        machine=hosts[0] if hosts else "",
        pattern=program.command,
        ranks=program.ranks,
        over_nodes=len(set(hosts)) > 1,
    )


def measured_cells(run: Run) -> Iterator[Measured]:
    """Every cell of a run with its median time, and the figures of b_eff."""
    facts = Facts.of([run])
    machine = str(run.environment.get("host", ""))
    plain = facts.sound.filter(pl.col("axes").fill_null("") == "")
    for row in plain.iter_rows(named=True):
        yield _cell(machine, row, row["pattern"], row["algorithm"], row["bytes"]), row["median_s"]
    for row in facts.results.get(B_EFF, []):
        if LONGEST_BYTES[0] <= (row.get("longest_bytes") or 0) <= LONGEST_BYTES[1]:
            for figure, column in B_EFF_COLUMNS.items():
                if row.get(column):
                    yield _cell(machine, row, B_EFF, figure, 0), row[column]


def _cell(
    machine: str, row: dict[str, object], pattern: str, algorithm: str | None, size_bytes: int
) -> LedgerCell:
    placement = str(row["placement"] or "")
    return LedgerCell(
        machine=machine,
        pattern=pattern,
        algorithm=algorithm or "native",
        library=carrier(str(row["mpi"] or ""), str(row["transport"])),
        ranks=int(str(row["ranks"])),
        over_nodes=is_over_nodes(placement),
        size_bytes=size_bytes,
    )


def is_over_nodes(placement: str) -> bool:
    """Whether the ranks of a placement are on several nodes."""
    layout = parse_layout(placement)
    return placement == OTHER_NODE or (layout is not None and layout.hosts > 1)


def _scores(ledger: Ledger, run: str, began: datetime, cells: Iterable[Measured]) -> list[Scored]:
    latest: dict[LedgerCell, Predicted] = {}
    for line in sorted(ledger.predictions, key=lambda line: line.at):
        if line.at < began:
            latest[line.cell] = line
    compared = {(score.cell, score.measured_at) for score in ledger.scores}
    return [
        _score(latest[cell], run, began, value)
        for cell, value in cells
        if cell in latest and (cell, began) not in compared and value > 0
    ]


def _score(line: Predicted, run: str, began: datetime, value: float) -> Scored:
    measured_ratio = value / line.value
    end = line.high if measured_ratio > 1 else line.low
    end_ratio = None
    if end is not None and 0 < end < math.inf:
        end_ratio = max(end / line.value, line.value / end)
    return Scored(
        predicted_at=line.at,
        measured_at=began,
        run=run,
        kind=line.kind,
        cell=line.cell,
        measured_ratio=measured_ratio,
        end_ratio=end_ratio,
    )
