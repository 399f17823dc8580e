"""Predictions as lines of the ledger, and intervals widened by what the ledger has."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.base.version import __version__
from nhalf.decide.b_eff import PredictedEffectiveBandwidth
from nhalf.decide.ledger.coverage import coverage_of
from nhalf.decide.ledger.lines import B_EFF, COMPOSED, MODEL, PROGRAM, Kind, LedgerCell, Predicted
from nhalf.decide.ledger.matching import B_EFF_COLUMNS, program_cell
from nhalf.decide.predict import Prediction
from nhalf.decide.program.predict import ProgramPrediction
from nhalf.decide.program.target import Target, hosts_on
from nhalf.decide.way import Way
from nhalf.facts.program.program import Program
from nhalf.machines.curve import is_between_nodes
from nhalf.machines.draws import PredictedRate
from nhalf.machines.message import Messages


def kind_of(way: Way) -> Kind:
    """Composed of messages, or a model of the pattern."""
    return COMPOSED if way.is_composed else MODEL


def lines_of_cells(prediction: Prediction, messages: Messages) -> Iterator[Predicted]:
    """Yield a line for each way in each cell with a time that is not an extrapolation."""
    try:
        library = messages.library
        over_nodes = any(is_between_nodes(curve.placement) for curve in messages.curves)
    except InputError:  # a machine with models of patterns only
        library, over_nodes = messages.mpi, False
    now = datetime.now(UTC)
    for k, way in enumerate(prediction.ways):
        for i, ranks in enumerate(prediction.ranks):
            for j, size_bytes in enumerate(prediction.size_bytes):
                time_s = float(prediction.time_s[k, i, j])
                if not math.isfinite(time_s) or prediction.extrapolated[k, i, j]:
                    continue
                cell = LedgerCell(
                    machine=prediction.machine,
                    pattern=prediction.pattern,
                    algorithm=way.algorithm,
                    library=library,
                    ranks=ranks,
                    over_nodes=over_nodes and ranks > 1,
                    size_bytes=size_bytes,
                )
                low, high = prediction.interval_s((k, i, j)) or (None, None)
                yield _line(now, kind_of(way), cell, time_s, low, high)


def lines_of_b_eff(prediction: PredictedEffectiveBandwidth, library: str) -> Iterator[Predicted]:
    """Yield a line for each figure; not of the ping-pong, which is measured as a pattern."""
    now = datetime.now(UTC)
    for figure, rate in prediction.figures.items():
        if figure not in B_EFF_COLUMNS:
            continue
        cell = LedgerCell(
            machine=prediction.machine,
            pattern=B_EFF,
            algorithm=figure,
            library=library,
            ranks=prediction.ranks,
            over_nodes=prediction.nodes > 1,
        )
        yield _line(now, B_EFF, cell, rate.middle_Bps, rate.low, rate.high)


def line_of_program(prediction: ProgramPrediction, program: Program, target: Target) -> Predicted:
    """The line of a program on its target, by the program's command."""
    hosts = hosts_on(program, target.messages.machine, target.placement, prediction.traced_on)
    traced = program_cell(program)
    cell = LedgerCell(
        machine=prediction.machine,
        pattern=traced.pattern,
        library=target.library,
        ranks=traced.ranks,
        over_nodes=len(set(hosts)) > 1,
    )
    ends = prediction.low_s, prediction.high_s
    return _line(datetime.now(UTC), PROGRAM, cell, prediction.time_s, *ends)


def _line(
    at: datetime, kind: Kind, cell: LedgerCell, value: float, low: float | None, high: float | None
) -> Predicted:
    return Predicted(
        at=at, kind=kind, cell=cell, value=value, low=low, high=high, nhalf=__version__
    )


def calibrated_cells(prediction: Prediction, path: Path | None = None) -> Prediction:
    """The prediction with intervals as wide as the ledger's errors of its kinds."""
    kinds = [kind_of(way) for way in prediction.ways]
    rows = {kind: coverage_of(kind, path) for kind in dict.fromkeys(kinds)}
    ratios = tuple(
        row.widened(ratio) if (row := rows[kind]) else ratio
        for kind, ratio in zip(kinds, prediction.ends_by_ratio, strict=True)
    )
    notes = tuple(row.note for row in rows.values() if row and row.note)
    return replace(prediction, ends_by_ratio=ratios, calibration=notes)


def calibrated_b_effs(
    predictions: Sequence[PredictedEffectiveBandwidth], path: Path | None = None
) -> list[PredictedEffectiveBandwidth]:
    """The predictions with intervals as wide as the ledger's errors of b_eff."""
    row = coverage_of(B_EFF, path)
    if row is None or row.stretch_ratio is None:
        return list(predictions)

    def stretched(rate: PredictedRate) -> PredictedRate:
        low, high = (
            rate.middle_Bps * (end / rate.middle_Bps) ** (row.stretch_ratio or 1.0)
            for end in (rate.low, rate.high)
        )
        return PredictedRate(rate.middle_Bps, low, high)

    return [
        replace(
            prediction,
            figures={name: stretched(rate) for name, rate in prediction.figures.items()},
            reasons=(row.note, *prediction.reasons),
        )
        for prediction in predictions
    ]


def calibrated_program(
    prediction: ProgramPrediction, path: Path | None = None
) -> ProgramPrediction:
    """The prediction with an interval as wide as the ledger's errors of programs."""
    row = coverage_of(PROGRAM, path)
    if row is None or row.stretch_ratio is None or not 0 < prediction.low_s <= prediction.time_s:
        return prediction
    time_s, stretch_ratio = prediction.time_s, row.stretch_ratio
    low_s = time_s * (prediction.low_s / time_s) ** stretch_ratio
    high_s = time_s * (prediction.high_s / time_s) ** stretch_ratio
    return replace(prediction, low_s=low_s, high_s=high_s, calibration=row.note)
