# SPDX-License-Identifier: Apache-2.0
"""`nhalf predict`: what will it take there, and which algorithm is the fastest?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nhalf.base.errors import InputError, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from nhalf.decide.predict import Prediction
    from nhalf.machines.machine import Machine

CORES = 64
"""What `cores` means in --ranks: nobody asks about the cores of the machine at hand."""
CROSSOVERS_SHOWN = 12
SIMULATE = (
    "Correct the models by simulating such a share of all cells, 15%, where they are unsure; "
    "needs SimGrid."
)
FORMULA = "Print what the algorithms cost, of any machine, and no times: text, latex or python."


def command(
    what: Annotated[
        str,
        typer.Argument(
            metavar="PATTERN", help="A pattern, or one of its algorithms: bcast/binomial."
        ),
    ],
    machine: Annotated[
        str, typer.Option(help="A machine of record (nhalf machines list), a machine file, a run.")
    ] = "",
    ranks: Annotated[str, typer.Option(help="Numbers of ranks: 2,4,8 or 2:32 or 2:256:x2.")] = "2",
    sizes: Annotated[
        str, typer.Option("--bytes", help="Message sizes: a range 0:4M or a list 0,8,4K.")
    ] = "1:64K",
    mpi: Annotated[str, typer.Option(help="Which library, where the machine has several.")] = "",
    extrapolate: Annotated[
        bool, typer.Option("--extrapolate", help="Also beyond what was measured.")
    ] = False,
    simulate: Annotated[str, typer.Option(help=SIMULATE)] = "",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="What if: network.bandwidth=2x and the like; repeatable."),
    ] = None,
    table: Annotated[
        Path | None, typer.Option(help="Write the choice as a decision table for libnhalf_coll.so.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a page with the map of ranks and sizes (HTML).")
    ] = None,
    formula: Annotated[str, typer.Option(help=FORMULA)] = "",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Predict times on a machine, the fastest algorithm of every cell, and where it changes."""
    from nhalf.cli.machine_side import side
    from nhalf.cli.verbs.simulate import machine_of
    from nhalf.decide.predict import predict
    from nhalf.machines.algorithms import algorithms
    from nhalf.machines.change import change
    from nhalf.measure.plan.axes import parse_ranks
    from nhalf.measure.plan.sizes import parse_sizes
    from nhalf.present.terminal.output import emit_json, stdout_console

    if formula:
        _show_costs(what, formula, as_json=json, times=bool(simulate or table or report))
        return
    if not machine:
        raise InputError("on which machine?", "name one: --machine sp2-mpl")
    known, library = (machine_of(machine), "") if simulate else side(machine)
    mpi = mpi or library
    asked = change(known, set_ or [])
    cells = parse_ranks(ranks, CORES), parse_sizes(sizes).size_bytes
    if simulate:
        found = _simulated(what, asked, *cells, _share(simulate), mpi, quiet=json)
    else:
        found = predict(what, asked, *cells, algorithms(), mpi=mpi, extrapolate=extrapolate)
    if table is not None:
        _write_table(found, table)
    if report is not None:
        from nhalf.base.files import write_text
        from nhalf.present.report.prediction_page import prediction_page

        write_text(report, prediction_page(found))
    if json:
        emit_json(found.as_json())
    else:
        _show(stdout_console(), found)


def _show_costs(what: str, form: str, *, as_json: bool, times: bool) -> None:
    """The costs as they are, which need no machine."""
    import sys

    from nhalf.machines.algorithms import algorithms
    from nhalf.machines.costs import costs_text, printed_costs
    from nhalf.present.terminal.output import emit_json

    if times:
        raise InputError("--formula gives no times", "leave out --simulate, --table and --report")
    costs = printed_costs(what, algorithms(), form)
    if as_json:
        emit_json({"pattern": what.partition("/")[0], "form": form, "costs": costs})
    else:
        sys.stdout.write(costs_text(costs, form))


def _share(text: str) -> float:
    """How much of all cells is to be simulated; raises InputError for nothing and for too much."""
    from nhalf.base.units import parse_share

    share = parse_share(text)
    if not 0 < share <= 1:
        raise InputError(f"{text} of all cells cannot be simulated", "ask for 15% or so")
    return share


def _simulated(
    what: str,
    machine: Machine,
    ranks: Sequence[int],
    sizes: Sequence[int],
    share: float,
    mpi: str,
    *,
    quiet: bool,
) -> Prediction:
    """The prediction after simulating a share of the cells, where the models are unsure."""
    from nhalf.decide.choice import Grid
    from nhalf.decide.explore import simulated_choice
    from nhalf.decide.predict import corrected
    from nhalf.decide.ways import UNSIZED
    from nhalf.machines.algorithms import algorithms
    from nhalf.measure.loop.progress import Progress

    operation = what.partition("/")[0]
    known = algorithms()
    if operation not in known:
        raise unknown("operation with algorithms", operation, known)
    sized = (0,) if operation in UNSIZED else tuple(sorted(set(sizes)))
    grid = Grid(tuple(sorted(set(ranks))), sized)
    choice = simulated_choice(
        operation, machine, grid, known[operation], share, Progress(quiet), mpi
    )
    return corrected(what, machine.name, choice)


def _write_table(found: Prediction, path: Path) -> None:
    from nhalf.base.files import write_text
    from nhalf.mpi.decision_table import rules_of, table_text

    rules = rules_of(found.pattern, found.ranks, found.size_bytes, found.best())
    comment = f"predicted for {found.machine}, not measured"
    write_text(path, table_text(rules, [comment]))


def _show(console: Console, found: Prediction) -> None:
    """Findings first: what is fastest where; then times."""
    console.print(_words(found), markup=False, soft_wrap=True)
    console.print(_table(found))
    shown = found.crossovers[:CROSSOVERS_SHOWN]
    for each in shown:
        console.print(
            f"{each.ranks} ranks: {each.after} instead of {each.before} from {each.size_bytes} B",
            markup=False,
            style="dim",
            soft_wrap=True,
        )
    rest = len(found.crossovers) - len(shown)
    if rest > 0:
        console.print(f"{rest} further crossovers (all with --json)", style="dim")
    for line in found.missing:
        console.print(line, markup=False, style="dim", soft_wrap=True)


def _words(found: Prediction) -> str:
    """The fastest of all cells in a sentence."""
    from collections import Counter

    cells = Counter(name for row in found.best() for name in row)
    total = sum(cells.values())
    ranking = ", ".join(f"{name} in {count}" for name, count in cells.most_common())
    return f"{found.pattern} on {found.machine}: fastest of {total} cells: {ranking}"


def _table(found: Prediction) -> Table:
    """A row per number of ranks, a column per size: the fastest and its time."""
    from rich import box
    from rich.table import Table

    from nhalf.base.units import format_size, format_time

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("ranks", justify="right")
    best = found.best()
    for size in found.size_bytes:
        table.add_column(format_size(size), justify="right")
    names = [way.algorithm for way in found.ways]
    for i, p in enumerate(found.ranks):
        cells = []
        for j in range(len(found.size_bytes)):
            time_s = float(found.time_s[names.index(best[i][j]), i, j])
            cells.append(f"{best[i][j]}\n{format_time(time_s)}")
        table.add_row(str(p), *cells)
    return table
