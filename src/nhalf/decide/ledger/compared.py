"""The ledger after its predictions were compared with runs and traces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from nhalf.base.errors import MissingError
from nhalf.decide.ledger.coverage import KindCoverage, coverages
from nhalf.decide.ledger.lines import Ledger, Scored, append_lines, read_ledger, usual_path
from nhalf.decide.ledger.matching import scores_of_run, scores_of_trace, with_scores
from nhalf.facts.program.program import Program
from nhalf.measure.traced.tables import DESCRIPTION
from nhalf.store.collection import collected


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
            "cells": [_cell_json(score) for score in self.ledger.scores],
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
        ledger = with_scores(ledger, scores)
        further += scores
    not_kept = ""
    try:
        append_lines(path, further)
    except MissingError as error:
        not_kept = str(error)
    return ComparedLedger(path, ledger, tuple(further), not_kept, tuple(unreadable))


def _cell_json(score: Scored) -> dict[str, Any]:
    """A comparison as scripts read it."""
    return {
        **msgspec.to_builtins(score.cell),
        "kind": score.kind,
        "predicted_at": score.predicted_at.isoformat(),
        "measured_at": score.measured_at.isoformat(),
        "run": score.run,
        "measured_ratio": score.measured_ratio,
        "interval_ratio": score.end_ratio,
        "inside": score.is_inside,
    }
