# SPDX-License-Identifier: Apache-2.0
"""`nhalf ledger`: how good were the predictions that were recorded?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nhalf.base.errors import MissingError
from nhalf.base.request import Word
from nhalf.cli.options import LedgerOptions, TableOptions

if TYPE_CHECKING:
    from nhalf.decide.ledger.lines import Ledger, Scored


@dataclass(frozen=True, kw_only=True)
class Request(TableOptions, LedgerOptions, heading="What was measured"):
    """The runs to compare with the recorded predictions."""

    runs: Annotated[
        tuple[Path, ...],
        Word("Runs, folders of runs, or traces that began after the predictions.", "RUN..."),
    ] = ()


def command(request: Request) -> None:
    """Compare recorded predictions with what was measured later: coverage and bias by kind.

    nhalf ledger runs/later
    nhalf ledger runs/later traces/lu --ledger predictions.jsonl
    nhalf ledger --json
    """
    from nhalf.decide.ledger.coverage import coverages
    from nhalf.decide.ledger.lines import append_lines, read_ledger, usual_path
    from nhalf.decide.ledger.matching import with_scores
    from nhalf.present.terminal.ledger import show_ledger
    from nhalf.present.terminal.output import console, emit_json, stdout_console

    path = request.ledger or usual_path()
    ledger = read_ledger(path)
    if not ledger.predictions and not ledger.scores:
        raise MissingError(
            f"the ledger {path} holds no prediction", "record some: nhalf predict ... --record"
        )
    scores = _compared(ledger, request.runs)
    try:
        append_lines(path, scores)
    except MissingError as error:
        console().print(f"not kept: {error}", markup=False, soft_wrap=True)
    ledger = with_scores(ledger, scores)
    rows = coverages(ledger)
    if request.json:
        emit_json(
            {
                "ledger": str(path),
                "compared": len(scores),
                "unread": ledger.unread,
                "kinds": [row.as_json() for row in rows],
                "cells": [_cell_json(score) for score in ledger.scores],
            }
        )
        return
    if request.runs and request.format == "table":
        words = f"{len(scores)} predicted cells were measured and not compared before"
        stdout_console().print(words, markup=False, soft_wrap=True)
    show_ledger(stdout_console(), ledger, rows)


def _compared(ledger: Ledger, places: tuple[Path, ...]) -> list[Scored]:
    """The comparisons with runs and traces; later ones do not repeat those of earlier ones."""
    from nhalf.decide.ledger.matching import scores_of_run, scores_of_trace, with_scores
    from nhalf.facts.program.program import Program
    from nhalf.store.collection import collected

    whole = ledger
    scores: list[Scored] = []
    for place in places:
        if (place / "trace.json").is_file():
            further = scores_of_trace(whole, Program.open(place))
        else:
            further = [
                score for run in collected([place]).runs for score in scores_of_run(whole, run)
            ]
        whole = with_scores(whole, further)
        scores += further
    return scores


def _cell_json(score: Scored) -> dict[str, object]:
    """A comparison as scripts read it."""
    import msgspec

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
