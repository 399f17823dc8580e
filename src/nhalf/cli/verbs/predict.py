"""`nhalf predict`: predict times on a machine, and the fastest algorithms."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from nhalf.base.errors import InputError, unknown
from nhalf.base.files import write_text
from nhalf.base.units import parse_share, parse_size
from nhalf.cli.lazy import lazily
from nhalf.cli.options import PREDICTED_CORES, PredictRequest
from nhalf.cli.program_prediction import predict_trace, record
from nhalf.cli.sides import calibrated_machine, is_program, machine_and_library
from nhalf.measure.plan.plan import parse_sizes
from nhalf.mpi.decision_table import rules_of, table_text
from nhalf.present.terminal.output import answered_by, emit_json

with lazily(globals()):
    from nhalf.cli.rate_prediction import predict_b_effs, predict_permutations, predict_queues
    from nhalf.decide.choice import Grid
    from nhalf.decide.criteria import chosen_by
    from nhalf.decide.ledger.recording import calibrated_cells, lines_of_cells
    from nhalf.decide.predict import Prediction, corrected, message_caveat, predict
    from nhalf.experiment.explore import simulated_choice
    from nhalf.machines.algorithms import algorithms
    from nhalf.machines.change import change
    from nhalf.machines.formula import costs_text, printed_costs
    from nhalf.machines.machine import Machine
    from nhalf.machines.message import Messages
    from nhalf.machines.spread import placed
    from nhalf.measure.loop.progress import Progress
    from nhalf.measure.plan.axes import parse_ranks
    from nhalf.present.report import check_place
    from nhalf.present.report.prediction_page import prediction_page
    from nhalf.present.terminal.predictions import show_prediction

GROUP = "machine"
FORMS = {"--score": "ledger", "--source": "estimate"}
OF_TRACES = {"traced_on", "placement", "computing_factor", "simgrid", "algorithms", "flop_rate"}
EFFECTIVE_BANDWIDTH = ("beff", "b_eff")
"""Names of the study and of its result."""
DRAIN = "drain"
RATES = {"traffic": predict_permutations, DRAIN: predict_queues}


def command(request: PredictRequest) -> None:
    """Predict times on a machine, the fastest algorithm for each size, and crossovers.

    nhalf predict bcast --machine sp2-mpl --ranks 32
    nhalf predict bcast --machine sp2-mpl --formula latex
    nhalf predict runs/traced --machine runs/other/machine.toml
    nhalf predict program.c --machine sp2-mpl --ranks 32
    nhalf predict runs/lu-1 runs/lu-2 runs/lu-3 --machine altix-bx2
    nhalf predict runs/lu --machine altix-bx2 --mpi mpich,openmpi
    nhalf predict runs/lu --machine runs/here,altix-bx2 --mpi all --placement 1x4,2x2
    """
    if request.formula:
        _show_costs(request)
        return
    if not request.machine:
        raise InputError("on which machine?", "name one: --machine sp2-mpl")
    engine = "simgrid" if request.simgrid else "model"
    with answered_by(engine, is_named=not request.json):
        _answer(request)


def _answer(request: PredictRequest) -> None:
    """Predict a trace, rates, or the cells of a pattern, and print them."""
    if is_program(Path(request.subject)):
        if "criterion" in request.given:
            raise InputError("--for is for operations, and a program ends once", "leave it out")
        predict_trace(request)
        return
    if _names_file(request.subject):
        from nhalf.exchange.program import FORMS as TRACE_FORMS

        forms = ", ".join(TRACE_FORMS)
        raise InputError(
            f"{request.subject} is not a trace",
            f"name a pattern, a trace, or a program in a form that is read: {forms} "
            "(mpiP by nhalf import)",
        )
    if request.further_traces:
        raise InputError(
            f"{request.further_traces[0]} is one word too many", "only traces can be several"
        )
    if "depth" in request.given and request.subject.partition("/")[0] != DRAIN:
        raise InputError(f"{request.subject} has no depth", "leave out --depth")
    if request.subject in EFFECTIVE_BANDWIDTH:
        predict_b_effs(request)
        return
    if (pattern := request.subject.partition("/")[0]) in RATES:
        RATES[pattern](request)
        return
    _check_cells(request)
    prediction = _calibrated(request, _predicted(request))
    if request.out is not None:
        _write_table(prediction, request.out)
    if request.report is not None:
        check_place(request.report)
        write_text(request.report, prediction_page(prediction))
    if request.json:
        emit_json(prediction.as_json())
    else:
        show_prediction(prediction)


def _names_file(subject: str) -> bool:
    """Whether a subject can only be a path; patterns of traffic have a slash, too."""
    is_path = subject.startswith(("/", "./", "../", "~"))
    return is_path or (not {"/", "."}.isdisjoint(subject) and Path(subject).exists())


def _check_cells(request: PredictRequest) -> None:
    """Raises InputError for options that do not go together where a pattern is predicted."""
    if request.placement and (request.simulate or request.record):
        reason = "--simulate and --record are for ranks that fill the nodes"
        raise InputError(reason, "leave out --placement")
    by_completion = {"simulate", "record", "report"} & request.given
    if by_completion and "criterion" in request.given:
        raise InputError(f"--{min(by_completion)} is by completion", "leave out --for")
    if request.given & (OF_TRACES - {"placement"}):
        raise InputError(f"{request.subject} is not a trace", "name the folder of one")


def _calibrated(request: PredictRequest, prediction: Prediction) -> Prediction:
    """Record a prediction if requested, and return it with intervals by the ledger."""
    prediction = calibrated_cells(prediction, request.ledger)
    if request.record and not request.set_:
        machine, library = machine_and_library(request.machine)
        messages = Messages(machine, request.mpi or library)
        record(request.ledger, lines_of_cells(prediction, messages))
    elif request.record:
        raise InputError(
            "--record is for machines as they are, which can be measured", "leave out --set"
        )
    return prediction


def _show_costs(request: PredictRequest) -> None:
    """Print the cost formulas, which need no machine."""
    if request.simulate or request.out or request.report:
        raise InputError("--formula gives no times", "leave out --simulate, --out and --report")
    form = request.formula
    costs = printed_costs(request.subject, algorithms(), form)
    if request.json:
        pattern = request.subject.partition("/")[0]
        emit_json({"pattern": pattern, "form": form, "costs": costs})
    else:
        sys.stdout.write(costs_text(costs, form))


def _predicted(request: PredictRequest) -> Prediction:
    """The prediction by the models, refined by simulation if requested."""
    if request.simulate:
        return _simulated(request, change(calibrated_machine(request.machine), request.set_))
    machine, library = machine_and_library(request.machine)
    machine, mpi = placed(change(machine, request.set_), request.placement), request.mpi or library
    ranks = parse_ranks(request.ranks, PREDICTED_CORES)
    cells = ranks, parse_sizes(request.sizes).size_bytes, algorithms()
    return predict(
        *(request.subject, Messages(machine, mpi), *cells),
        extrapolate=request.extrapolate,
        part_bytes=_part_bytes(request),
        criterion=request.criterion,
    )


def _part_bytes(request: PredictRequest) -> int | None:
    """The size of parts, None for the fastest; the ledger has those that runs measure."""
    from nhalf.models.expression import PART_BYTES

    if not request.part:
        return PART_BYTES if request.record else None
    part_bytes = parse_size(request.part)
    if part_bytes < 1:
        raise InputError("a part of 0 bytes holds nothing", "write --part 8K, or leave it out")
    if request.record and part_bytes != PART_BYTES:
        raise InputError(
            f"--record is for parts of {PART_BYTES} bytes, which runs measure", "leave out --part"
        )
    return part_bytes


def _share(text: str) -> float:
    """The share of cells to simulate; raises InputError outside 0 to 1."""
    share = parse_share(text)
    if not 0 < share <= 1:
        raise InputError(f"{text} of all cells cannot be simulated", "ask for 15% or so")
    return share


def _simulated(request: PredictRequest, machine: Machine) -> Prediction:
    """The prediction after simulating the share of cells where the models are least certain."""
    operation = request.subject.partition("/")[0]
    operations = algorithms()
    if operation not in operations:
        raise unknown("operation with algorithms", operation, operations)
    grid, share = _grid(request, operation), _share(request.simulate)
    progress = Progress(request.json)
    choice = simulated_choice(
        operation,
        machine,
        grid,
        operations[operation],
        share,
        progress,
        request.mpi,
        _part_bytes(request),
    )
    prediction = corrected(request.subject, machine.name, choice)
    return dataclasses.replace(prediction, caveat=message_caveat(machine, prediction))


def _grid(request: PredictRequest, operation: str) -> Grid:
    """The distinct cells of the request; operations without data have no sizes."""
    from nhalf.decide.ways import UNSIZED

    sizes = sorted(set(parse_sizes(request.sizes).size_bytes))
    ranks = sorted(set(parse_ranks(request.ranks, PREDICTED_CORES)))
    return Grid(tuple(ranks), (0,) if operation in UNSIZED else tuple(sizes))


def _write_table(prediction: Prediction, path: Path) -> None:
    from nhalf.models.expression import PART_BYTES

    parts = [
        [None if part_bytes == PART_BYTES else part_bytes for part_bytes in row]
        for row in prediction.best_parts()
    ]
    best = prediction.best()
    rules = rules_of(prediction.pattern, prediction.ranks, prediction.size_bytes, best, parts)
    comments = [f"predicted for {prediction.machine}, not measured"]
    comments += filter(None, [chosen_by(prediction.criterion)])
    write_text(path, table_text(rules, comments))
