# SPDX-License-Identifier: Apache-2.0
"""`nhalf sql`: ask any number of runs with SQL."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nhalf.base.errors import InputError


def command(
    query: Annotated[str, typer.Argument(help="A SELECT on one of the tables.")],
    runs: Annotated[
        list[Path] | None, typer.Argument(help="Run directories; all in ./runs when none is given.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Ask runs with SQL: tables points (summary), launches, samples (raw), ranks, extras."""
    from nhalf.present.terminal.output import emit_json
    from nhalf.present.terminal.tables import show_frame
    from nhalf.statistics.query import query as ask
    from nhalf.store.run import Run

    chosen = runs or sorted(path.parent for path in Path("runs").glob("*/run.json"))
    if not chosen:
        raise InputError("no run to ask", "name run directories after the query")
    answer = ask(query, [Run.open(path) for path in chosen])
    if json:
        emit_json({"columns": answer.columns, "rows": answer.rows()})
    else:
        show_frame(answer)
