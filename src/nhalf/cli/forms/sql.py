"""`nhalf show --sql`: query any number of runs with SQL, as one collection."""

from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.base.request import REQUIRED, word
from nhalf.cli.options import TableOptions
from nhalf.cli.sides import print_skipped
from nhalf.present.terminal.output import emit_json
from nhalf.present.terminal.tables import show_frame
from nhalf.store.described import USUAL


@dataclass(frozen=True, kw_only=True)
class Request(TableOptions):
    """The query, and the runs to search."""

    query: str = word(REQUIRED, "SELECT statement on one of the tables.")
    runs: tuple[Path, ...] = word((), "Runs, or folders of runs; default: ./runs.", "RUN...")


def command(request: Request) -> None:
    """Query runs with SQL: points, launches, samples, ranks, pairs, extras, runs …; or gates.

    nhalf show --sql 'select mpi, bytes, median_s from points where bytes < 64' runs/today
    nhalf show --sql 'show tables'
    nhalf show --sql 'select run, started, host from runs' runs --format markdown
    nhalf show --sql 'select node, name, max(time_s) from gates group by all' /shared/gates
    """
    from nhalf.statistics.query import query as ask
    from nhalf.statistics.query import query_gates
    from nhalf.store.collection import collected
    from nhalf.store.gates import read_places

    if request.query and not request.runs and Path(request.query).is_dir():
        raise InputError(
            f"{request.query} is a folder, not a query",
            f"give the query first: nhalf show --sql 'select * from points' {request.query}",
        )
    if not request.runs and not USUAL.is_dir():
        raise InputError("no run to ask", "name runs or a folder of runs after the query")
    if gates := read_places(request.runs):
        answer = query_gates(request.query, gates.records)
    else:
        collection = collected(request.runs or (USUAL,))
        print_skipped(collection.unreadable.values())
        answer = ask(request.query, collection.runs)
    if request.json:
        emit_json({"columns": answer.columns, "rows": answer.rows()})
    else:
        show_frame(answer)
