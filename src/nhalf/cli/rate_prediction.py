"""`nhalf predict` of effective bandwidth, throughput of permutations, and queues of messages."""

from __future__ import annotations

from nhalf.base.errors import InputError
from nhalf.cli.lazy import lazily
from nhalf.cli.options import PREDICTED_CORES, PredictRequest
from nhalf.cli.program_prediction import record
from nhalf.decide.traffic import UNIFORM, UNIFORM_RANKS_MAX, predict_traffic, rules_of
from nhalf.machines.curve import OTHER_NODE
from nhalf.machines.layout import Layout, parse_layout
from nhalf.machines.machine import Machine
from nhalf.machines.message import Messages
from nhalf.measure.plan.plan import parse_sizes
from nhalf.present.terminal.output import emit_json, stdout_console

with lazily(globals()):
    from nhalf.cli.sides import machine_and_library
    from nhalf.decide.b_eff import predict_b_eff
    from nhalf.decide.ledger.recording import calibrated_b_effs, lines_of_b_eff
    from nhalf.machines.change import change
    from nhalf.machines.drain import predict_drain
    from nhalf.measure.plan.axes import parse_ranks
    from nhalf.present.terminal.predictions import show_b_eff, show_drain, show_traffic

MEAN_SIZE = "10K"
"""Mean message size of the study that defined the traffic (Qian 2004)."""
QUEUED_SIZE = "8"
NOT_OF_QUEUES = {"simulate", "out", "report", "criterion"}
NOT_OF_RATES = NOT_OF_QUEUES | {"extrapolate"}


def _target(request: PredictRequest, lacking: set[str], claim: str) -> tuple[Machine, str]:
    """The machine with the requested changes, and the library.

    Raises InputError for options that are `lacking`; `claim` says what there is in their place.
    """
    if misplaced := sorted(request.given & lacking):
        raise InputError(f"{claim} and no {misplaced[0]}", "leave it out")
    machine, library = machine_and_library(request.machine)
    return change(machine, request.set_), request.mpi or library


def predict_b_effs(request: PredictRequest) -> None:
    """Predict b_eff for each number of ranks; raises InputError for options it does not have."""
    lacking = NOT_OF_RATES | {"sizes", "placement"}
    machine, library = _target(request, lacking, "b_eff has its own lengths")
    predictions = [
        predict_b_eff(machine, ranks, library)
        for ranks in parse_ranks(request.ranks, PREDICTED_CORES)
    ]
    predictions = calibrated_b_effs(predictions, request.ledger)
    if request.record:
        name = Messages(machine, library).library
        record(
            request.ledger,
            (line for prediction in predictions for line in lines_of_b_eff(prediction, name)),
        )
    if request.json:
        emit_json({"predictions": [prediction.as_json() for prediction in predictions]})
    else:
        show_b_eff(stdout_console(), predictions)


def predict_permutations(request: PredictRequest) -> None:
    """Predict traffic for each layout and size; raises InputError for options it does not have."""
    lacking = NOT_OF_RATES | {"record"}
    machine, library = _target(request, lacking, "traffic has rates")
    sizes = parse_sizes(request.sizes if "sizes" in request.given else MEAN_SIZE).size_bytes
    rule = request.subject.partition("/")[2]
    predictions = [
        predict_traffic(machine, _rules(rule, layout.ranks), layout, size, library)
        for layout in _layouts(request, machine)
        for size in sizes
    ]
    if request.json:
        emit_json({"predictions": [prediction.as_json() for prediction in predictions]})
        return
    for prediction in predictions:
        show_traffic(stdout_console(), prediction)


def predict_queues(request: PredictRequest) -> None:
    """Predict receives from a queue; raises InputError for options it does not have."""
    lacking = NOT_OF_QUEUES | {"record", "placement", "ranks"}
    machine, library = _target(request, lacking, "a queue has a depth")
    sizes = parse_sizes(request.sizes if "sizes" in request.given else QUEUED_SIZE).size_bytes
    way = request.subject.partition("/")[2]
    rows = predict_drain(
        *(machine, way, parse_ranks(request.depth, 1), sizes, library),
        extrapolate=request.extrapolate,
    )
    if request.json:
        emit_json({"pattern": "drain", "machine": machine.name, "rows": rows, "notes": []})
    else:
        show_drain(rows)


def _rules(rule: str, ranks: int) -> list[str]:
    """The rule as typed, else every permutation, and uniform traffic of not too many ranks."""
    if rule or ranks > UNIFORM_RANKS_MAX:
        return rules_of(rule, ranks)
    return [*rules_of(rule, ranks), UNIFORM]


def _layouts(request: PredictRequest, machine: Machine) -> list[Layout]:
    """The layout as typed, or each number of ranks on the nodes as filled one after the other.

    Ranks of which traffic between nodes was published are spread over all nodes, as they were.
    """
    if request.placement:
        layout = parse_layout(request.placement)
        if layout is None:
            raise InputError(f"{request.placement} is no layout", "write hosts x ranks: 4x8")
        if "ranks" in request.given and request.ranks != str(layout.ranks):
            raise InputError(
                f"{request.placement} is {layout.ranks} ranks, not {request.ranks}",
                "leave out --ranks",
            )
        return [layout]
    per_node = machine.node.ranks if machine.node else 0
    nodes = machine.network.topology.nodes if machine.network else 1
    spread = {
        point.ranks
        for point in machine.points
        if point.pattern == "traffic" and point.placement == OTHER_NODE
    }
    layouts = []
    for ranks in parse_ranks(request.ranks, PREDICTED_CORES):
        is_spread = nodes and ranks in spread and ranks % nodes == 0
        per_host = ranks // nodes if is_spread else min(per_node or ranks, ranks)
        layouts.append(Layout(-(-ranks // per_host), per_host, missing=-ranks % per_host))
    return layouts
