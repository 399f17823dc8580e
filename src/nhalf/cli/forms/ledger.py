"""`nhalf predict --score`: how good were the predictions that were recorded?"""

from dataclasses import dataclass
from pathlib import Path

from nhalf.base.request import word
from nhalf.cli.options import LedgerOptions, TableOptions
from nhalf.cli.sides import print_skipped
from nhalf.present.terminal.output import console, emit_json, print_lines, stdout_console


@dataclass(frozen=True, kw_only=True)
class Request(TableOptions, LedgerOptions, heading="What was measured"):
    """The runs to compare with the recorded predictions."""

    runs: tuple[Path, ...] = word(
        (), "Runs, folders of runs, or traces that began after the predictions.", "RUN..."
    )


def command(request: Request) -> None:
    """Score recorded predictions by what was measured later: coverage and bias by kind.

    nhalf predict --score runs/later
    nhalf predict --score runs/later traces/lu --ledger predictions.jsonl
    nhalf predict --score --json
    """
    from nhalf.decide.ledger.coverage import ComparedLedger, compared_ledger
    from nhalf.decide.ledger.lines import Ledger, usual_path
    from nhalf.present.terminal.predictions import show_ledger

    if request.ledger is None and not usual_path().exists():
        if request.json:
            emit_json(ComparedLedger(usual_path(), Ledger()).as_json())
        else:
            words = "no prediction is recorded; record some: nhalf predict ... --record"
            print_lines(stdout_console(), words)
        return
    compared = compared_ledger(request.runs, request.ledger)
    print_skipped(compared.unreadable)
    if compared.not_kept:
        print_lines(console(), f"not kept: {compared.not_kept}")
    if request.json:
        emit_json(compared.as_json())
        return
    if request.runs and request.format == "table":
        words = f"{len(compared.further)} predicted cells were measured and not compared before"
        print_lines(stdout_console(), words)
    show_ledger(stdout_console(), compared.ledger, compared.kinds)
