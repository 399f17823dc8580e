# SPDX-License-Identifier: Apache-2.0
"""`nhalf sql`: ask any number of runs with SQL."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from nhalf.base.errors import InputError
from nhalf.base.request import Word
from nhalf.cli.options import Json


@dataclass(frozen=True, kw_only=True)
class Request(Json):
    """What is asked of which runs."""

    query: Annotated[str, Word("A SELECT on one of the tables.")]
    runs: Annotated[
        tuple[Path, ...], Word("Run directories; all in ./runs when none is given.")
    ] = ()


def command(request: Request) -> None:
    """Ask runs with SQL: tables points (summary), launches, samples (raw), ranks, extras."""
    from nhalf.present.terminal.output import emit_json
    from nhalf.present.terminal.tables import show_frame
    from nhalf.statistics.query import query as ask
    from nhalf.store.run import Run

    chosen = request.runs or sorted(path.parent for path in Path("runs").glob("*/run.json"))
    if not chosen:
        raise InputError("no run to ask", "name run directories after the query")
    answer = ask(request.query, [Run.open(path) for path in chosen])
    if request.json:
        emit_json({"columns": answer.columns, "rows": answer.rows()})
    else:
        show_frame(answer)
