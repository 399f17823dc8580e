# SPDX-License-Identifier: Apache-2.0
"""`nhalf predict`: what will it take there, and which algorithm is the fastest?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nhalf.base.errors import InputError, unknown
from nhalf.base.request import Option, Word
from nhalf.cli.options import OUTPUT, PREDICTED_CORES, Changed, OfTraces, Tables

if TYPE_CHECKING:
    from nhalf.decide.choice import Grid
    from nhalf.decide.predict import Prediction
    from nhalf.machines.machine import Machine

OF_TRACES = {"traced_on", "placement", "computing_factor", "simgrid", "algorithms"}
EFFECTIVE_BANDWIDTH = ("beff", "b_eff")
"""How the study and its result are called."""
TRAFFIC = "traffic"


@dataclass(frozen=True, kw_only=True)
class Request(OfTraces, Changed, Tables, heading="What to predict"):
    """What is predicted for which machine."""

    what: Annotated[
        str,
        Word(
            "Pattern, one of its algorithms (bcast/binomial), beff, traffic, or a traced program.",
            "PATTERN|TRACE",
        ),
    ]
    again: Annotated[
        tuple[str, ...],
        Word("Traces of further launches of the same program.", "TRACE..."),
    ] = ()
    machine: Annotated[
        str, Option("Machine of record (nhalf machines list), machine file or run.")
    ] = ""
    mpi: Annotated[str, Option("Library, if the machine has several.")] = ""
    ranks: Annotated[str, Option("Numbers of ranks, e.g. 2,4,8 or 2:32 or 2:256:x2.")] = "2"
    sizes: Annotated[str, Option("Message sizes: a range 0:4M or a list 0,8,4K.", "--bytes")] = (
        "1:64K"
    )
    extrapolate: Annotated[
        bool,
        Option("Also predict beyond the measured ranks and sizes; such times are marked with *."),
    ] = False
    simulate: Annotated[
        str,
        Option(
            "Refine uncertain predictions by simulating this share of the cells, e.g. "
            "15%; needs SimGrid."
        ),
    ] = ""
    out: Annotated[
        Path | None,
        Option(
            "Also write a decision table for `nhalf mpi preload`.",
            heading=OUTPUT,
            former=("--table",),
        ),
    ] = None
    report: Annotated[
        Path | None,
        Option("Also write an HTML page with a map of ranks and sizes.", heading=OUTPUT),
    ] = None
    formula: Annotated[
        str,
        Option(
            "Print cost formulas for any machine instead of times: text, latex or python.",
            heading=OUTPUT,
        ),
    ] = ""


def command(request: Request) -> None:
    """Predict times on a machine, the fastest algorithm for each ranks and size, and crossovers.

    nhalf predict bcast --machine sp2-mpl --ranks 32
    nhalf predict bcast --machine sp2-mpl --formula latex
    nhalf predict runs/traced --machine runs/other/machine.toml
    nhalf predict runs/lu-1 runs/lu-2 runs/lu-3 --machine altix-bx2
    """
    from nhalf.present.terminal.output import emit_json
    from nhalf.present.terminal.predicted_times import show_prediction

    if request.formula:
        _show_costs(request)
        return
    if not request.machine:
        raise InputError("on which machine?", "name one: --machine sp2-mpl")
    if Path(request.what, "trace.json").is_file():
        _predict_trace(request)
        return
    if request.again:
        raise InputError(f"{request.again[0]} is one word too many", "only traces can be several")
    if request.what in EFFECTIVE_BANDWIDTH or request.what.partition("/")[0] == TRAFFIC:
        _predict_rates(request)
        return
    if request.given & OF_TRACES:
        raise InputError(f"{request.what} is not a trace", "name the folder of one")
    found = _predicted(request)
    if request.out is not None:
        _write_table(found, request.out)
    if request.report is not None:
        from nhalf.base.files import write_text
        from nhalf.present.report.prediction_page import prediction_page

        write_text(request.report, prediction_page(found))
    if request.json:
        emit_json(found.as_json())
    else:
        show_prediction(found)


def _predict_rates(request: Request) -> None:
    from nhalf.cli.rate_prediction import RateRequest, predict_b_effs, predict_permutations

    asked = RateRequest(
        what=request.what,
        machine=request.machine,
        mpi=request.mpi,
        ranks=request.ranks,
        sizes=request.sizes,
        placement=request.placement,
        changes=request.set_,
        given=request.given,
    )
    predict = predict_b_effs if request.what in EFFECTIVE_BANDWIDTH else predict_permutations
    predict(asked, as_json=request.json)


def _predict_trace(request: Request) -> None:
    from nhalf.cli.program_prediction import TraceRequest, predict_trace

    options = {name: getattr(request, name) for name in OF_TRACES}
    asked = TraceRequest(
        paths=(request.what, *request.again),
        machine=request.machine,
        mpi=request.mpi,
        changes=request.set_,
        given=request.given,
        **options,
    )
    predict_trace(asked, as_json=request.json)


def _show_costs(request: Request) -> None:
    """The costs as they are, which need no machine."""
    import sys

    from nhalf.machines.algorithms import algorithms
    from nhalf.machines.costs import costs_text, printed_costs
    from nhalf.present.terminal.output import emit_json

    if request.simulate or request.out or request.report:
        raise InputError("--formula gives no times", "leave out --simulate, --out and --report")
    form = request.formula
    costs = printed_costs(request.what, algorithms(), form)
    if request.json:
        pattern = request.what.partition("/")[0]
        emit_json({"pattern": pattern, "form": form, "costs": costs})
    else:
        sys.stdout.write(costs_text(costs, form))


def _predicted(request: Request) -> Prediction:
    """By the models, or by simulation where they are unsure."""
    from nhalf.cli.machine_side import calibrated_machine, side
    from nhalf.decide.predict import predict
    from nhalf.machines.algorithms import algorithms
    from nhalf.machines.change import change
    from nhalf.measure.plan.axes import parse_ranks
    from nhalf.measure.plan.sizes import parse_sizes

    if request.simulate:
        return _simulated(request, change(calibrated_machine(request.machine), request.set_))
    machine, library = side(request.machine)
    return predict(
        request.what,
        change(machine, request.set_),
        parse_ranks(request.ranks, PREDICTED_CORES),
        parse_sizes(request.sizes).size_bytes,
        algorithms(),
        mpi=request.mpi or library,
        extrapolate=request.extrapolate,
    )


def _share(text: str) -> float:
    """How much of all cells is to be simulated; raises InputError for nothing and for too much."""
    from nhalf.base.units import parse_share

    share = parse_share(text)
    if not 0 < share <= 1:
        raise InputError(f"{text} of all cells cannot be simulated", "ask for 15% or so")
    return share


def _simulated(request: Request, machine: Machine) -> Prediction:
    """The prediction after simulating a share of the cells, where the models are unsure."""
    from nhalf.decide.explore import simulated_choice
    from nhalf.decide.predict import corrected
    from nhalf.machines.algorithms import algorithms
    from nhalf.measure.loop.progress import Progress

    operation = request.what.partition("/")[0]
    known = algorithms()
    if operation not in known:
        raise unknown("operation with algorithms", operation, known)
    grid, share = _grid(request, operation), _share(request.simulate)
    progress = Progress(request.json)
    choice = simulated_choice(
        operation, machine, grid, known[operation], share, progress, request.mpi
    )
    return corrected(request.what, machine.name, choice)


def _grid(request: Request, operation: str) -> Grid:
    """The cells, each once; those without data have no sizes."""
    from nhalf.decide.choice import Grid
    from nhalf.decide.ways import UNSIZED
    from nhalf.measure.plan.axes import parse_ranks
    from nhalf.measure.plan.sizes import parse_sizes

    sizes = sorted(set(parse_sizes(request.sizes).size_bytes))
    ranks = sorted(set(parse_ranks(request.ranks, PREDICTED_CORES)))
    return Grid(tuple(ranks), (0,) if operation in UNSIZED else tuple(sizes))


def _write_table(found: Prediction, path: Path) -> None:
    from nhalf.base.files import write_text
    from nhalf.mpi.decision_table import rules_of, table_text

    rules = rules_of(found.pattern, found.ranks, found.size_bytes, found.best())
    comment = f"predicted for {found.machine}, not measured"
    write_text(path, table_text(rules, [comment]))
