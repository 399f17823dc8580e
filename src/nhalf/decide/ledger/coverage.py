"""How good the predictions of each kind were, and by how much later intervals have to widen.

The widening is conformal: of the matched cells, the size of the error over the half-width of the
interval, both as logarithms, is below the quantile for COVERAGE of the next ones as well, if they
are like these (V. Vovk, A. Gammerman, G. Shafer, Algorithmic Learning in a Random World, 2005).
Where predictions have no interval, the quantile of the error itself is one.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from nhalf.base.errors import MissingError
from nhalf.base.numbers import format_number
from nhalf.decide.ledger.lines import (
    KINDS,
    Kind,
    Ledger,
    Scored,
    append_lines,
    read_ledger,
    usual_path,
)
from nhalf.decide.ledger.matching import scores_of_run, scores_of_trace
from nhalf.facts.program.program import Program
from nhalf.machines.draws import COVERAGE, FACTOR_MAX
from nhalf.measure.traced.tables import DESCRIPTION
from nhalf.store.collection import collected

CELLS_MIN = 20
"""With fewer matched cells, intervals stay as they are."""
LEAST_RATIO = 1.001
"""An interval that is narrower each way counts as this wide: times are not known better."""


@dataclass(frozen=True)
class KindCoverage:
    """The predictions of a kind that were recorded, and what was measured of them.

    `bias_ratio` is the median of measured over predicted, `typical_ratio` the median of that or its
    inverse; `within_ratio` holds COVERAGE of the matched cells, None below CELLS_MIN. Half-widths,
    as logarithms, are multiplied by `stretch_ratio`, None without enough intervals.
    """

    kind: Kind
    predictions: int
    matched: int
    with_interval: int
    inside: int
    bias_ratio: float | None
    typical_ratio: float | None
    within_ratio: float | None
    stretch_ratio: float | None

    @property
    def coverage(self) -> float | None:
        """The share of measurements in the intervals, 0 to 1; None if none had one."""
        return self.inside / self.with_interval if self.with_interval else None

    def widened(self, end_ratio: float | None) -> float | None:
        """The factor from a later prediction of this kind to the ends of its interval.

        `end_ratio` is that of its own interval; None if it has none.
        """
        if end_ratio is None:
            return self.within_ratio
        if self.stretch_ratio is not None:
            return math.exp(math.log(max(end_ratio, LEAST_RATIO)) * self.stretch_ratio)
        return max(end_ratio, self.within_ratio or 1.0)

    @property
    def note(self) -> str:
        """State what the ledger changes in a later prediction; '' if nothing."""
        cells = f"the ledger's {self.matched} measured cells of {self.kind} predictions"
        if self.stretch_ratio is not None and self.stretch_ratio > 1:
            return f"{cells} widen the interval {format_number(self.stretch_ratio)}-fold"
        if self.stretch_ratio is not None:
            return f"{cells} confirm the interval"
        if self.within_ratio is not None:
            too_wide = ", so that such times are no predictions"
            words = f"{cells}: 95 % are within a factor of {format_number(self.within_ratio)}"
            return words + (too_wide if self.within_ratio > FACTOR_MAX else "")
        return ""

    def as_json(self) -> dict[str, Any]:
        """The row of the kind in `nhalf predict --score --json`."""
        return {**vars(self), "coverage": self.coverage}


def coverages(ledger: Ledger) -> list[KindCoverage]:
    """A row for each kind of predictions that the ledger has."""
    rows = [_of_kind(kind, ledger) for kind in KINDS]
    return [row for row in rows if row.predictions or row.matched]


def coverage_of(kind: Kind, path: Path | None = None) -> KindCoverage | None:
    """What the ledger says of a kind of predictions.

    None if it cannot be read: a prediction does not fail for that.
    """
    try:
        return _of_kind(kind, read_ledger(path or usual_path()))
    except MissingError:
        return None


def _of_kind(kind: Kind, ledger: Ledger) -> KindCoverage:
    scores = [score for score in ledger.scores if score.kind == kind]
    judged = [score for score in scores if score.end_ratio is not None]
    errors = [score.error_ratio for score in scores]
    enough = len(scores) >= CELLS_MIN
    return KindCoverage(
        kind,
        sum(prediction.kind == kind for prediction in ledger.predictions),
        len(scores),
        len(judged),
        sum(bool(score.is_inside) for score in judged),
        _middle(score.measured_ratio for score in scores) if scores else None,
        _middle(errors) if scores else None,
        conformal(errors) if enough else None,
        max(1.0, conformal(map(_shares, judged))) if len(judged) >= CELLS_MIN else None,
    )


def _shares(score: Scored) -> float:
    """The error over the half-width, as logarithms."""
    return math.log(score.error_ratio) / math.log(max(score.end_ratio or 1.0, LEAST_RATIO))


def _middle(ratios: Iterable[float]) -> float:
    """The median, of two in the middle the geometric mean."""
    return math.exp(median(map(math.log, ratios)))


def conformal(values: Iterable[float]) -> float:
    """The value below which the next one is with probability COVERAGE; the largest if too few."""
    ordered: Sequence[float] = sorted(values)
    place = math.ceil((len(ordered) + 1) * COVERAGE)
    return ordered[min(place, len(ordered)) - 1]


@dataclass(frozen=True)
class ComparedLedger:
    """A ledger with all of its comparisons.

    `further` are those that it did not hold before, `not_kept` says why they could not be appended
    to its file, `unreadable` why runs in a folder were left out.
    """

    path: Path
    ledger: Ledger
    further: tuple[Scored, ...] = ()
    not_kept: str = ""
    unreadable: tuple[str, ...] = ()

    @property
    def kinds(self) -> list[KindCoverage]:
        """Coverage, bias and error of each kind of predictions."""
        return coverages(self.ledger)

    def as_json(self) -> dict[str, Any]:
        """The output of `nhalf predict --score --json`."""
        return {
            "ledger": str(self.path),
            "compared": len(self.further),
            "unread": self.ledger.unread,
            "kinds": [row.as_json() for row in self.kinds],
            "cells": [
                {
                    **msgspec.to_builtins(score.cell),
                    "kind": score.kind,
                    "predicted_at": score.predicted_at.isoformat(),
                    "measured_at": score.measured_at.isoformat(),
                    "run": score.run,
                    "measured_ratio": score.measured_ratio,
                    "interval_ratio": score.end_ratio,
                    "inside": score.is_inside,
                }
                for score in self.ledger.scores
            ],
        }


def compared_ledger(places: Iterable[Path], path: Path | None = None) -> ComparedLedger:
    """Compare the predictions of a ledger with runs, folders of runs and traces, and keep that.

    `path` is the ledger, by default that of the user. Raises InputError for a place that is none
    of these, MissingError if the ledger holds no prediction.
    """
    path = path or usual_path()
    ledger = read_ledger(path)
    if not ledger.predictions and not ledger.scores:
        raise MissingError(
            f"the ledger {path} holds no prediction", "record some: nhalf predict ... --record"
        )
    further: list[Scored] = []
    unreadable: list[str] = []
    for place in places:
        if (place / DESCRIPTION).is_file():
            scores = scores_of_trace(ledger, Program.open(place))
        else:
            collection = collected([place])
            unreadable += collection.unreadable.values()
            scores = [score for run in collection.runs for score in scores_of_run(ledger, run)]
        ledger = replace(ledger, scores=(*ledger.scores, *scores))
        further += scores
    not_kept = ""
    try:
        append_lines(path, further)
    except MissingError as error:
        not_kept = str(error)
    return ComparedLedger(path, ledger, tuple(further), not_kept, tuple(unreadable))
