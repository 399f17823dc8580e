# SPDX-License-Identifier: Apache-2.0
"""`nhalf predict` of rates: the effective bandwidth, and what permutations get through."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from nhalf.base.errors import InputError
from nhalf.cli.options import PREDICTED_CORES
from nhalf.machines.layout import Layout
from nhalf.machines.machine import Machine

MEAN_SIZE = "10K"
"""The mean size of the study that defined the traffic (Qian 2004)."""
NOT_OF_RATES = {"simulate", "out", "report", "extrapolate"}


@dataclass(frozen=True)
class RateRequest:
    """What `nhalf predict` was asked, as typed; `given` are the options that were."""

    what: str
    machine: str
    mpi: str
    ranks: str
    sizes: str
    placement: str
    changes: Sequence[str]
    given: Set[str]

    def on(self) -> tuple[Machine, str]:
        """The machine as it is asked for, and the library."""
        from nhalf.cli.machine_side import side
        from nhalf.machines.change import change

        machine, library = side(self.machine)
        return change(machine, self.changes), self.mpi or library


def predict_b_effs(request: RateRequest, *, as_json: bool) -> None:
    """One prediction for each number of ranks; raises InputError for options it does not have."""
    from nhalf.decide.b_eff import predict_b_eff
    from nhalf.measure.plan.axes import parse_ranks
    from nhalf.present.terminal.b_eff_prediction import show
    from nhalf.present.terminal.output import emit_json, stdout_console

    others = sorted(request.given & (NOT_OF_RATES | {"sizes", "placement"}))
    if others:
        raise InputError(f"b_eff has its own lengths and no {others[0]}", "leave it out")
    machine, library = request.on()
    found = [
        predict_b_eff(machine, ranks, library)
        for ranks in parse_ranks(request.ranks, PREDICTED_CORES)
    ]
    if as_json:
        emit_json({"predictions": [each.as_json() for each in found]})
    else:
        show(stdout_console(), found)


def predict_permutations(request: RateRequest, *, as_json: bool) -> None:
    """One prediction for each layout and size; raises InputError for options it does not have."""
    from nhalf.decide.permutations import rules_of
    from nhalf.decide.traffic import predict_traffic
    from nhalf.measure.plan.sizes import parse_sizes
    from nhalf.present.terminal.output import emit_json, stdout_console
    from nhalf.present.terminal.traffic_prediction import show

    others = sorted(request.given & NOT_OF_RATES)
    if others:
        raise InputError(f"traffic has rates and no {others[0]}", "leave it out")
    machine, library = request.on()
    sizes = parse_sizes(request.sizes if "sizes" in request.given else MEAN_SIZE).size_bytes
    rule = request.what.partition("/")[2]
    found = [
        predict_traffic(machine, rules_of(rule, layout.ranks), layout, size, library)
        for layout in _layouts(request, machine)
        for size in sizes
    ]
    if as_json:
        emit_json({"predictions": [each.as_json() for each in found]})
        return
    for each in found:
        show(stdout_console(), each)


def _layouts(request: RateRequest, machine: Machine) -> list[Layout]:
    """As typed, or each number of ranks with the nodes filled one after the other."""
    from nhalf.machines.layout import parse_layout
    from nhalf.measure.plan.axes import parse_ranks

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
    found = []
    for ranks in parse_ranks(request.ranks, PREDICTED_CORES):
        here = min(per_node or ranks, ranks)
        if ranks % here:
            raise InputError(
                f"{ranks} ranks do not fill nodes of {here}", "say how they lie: --placement 4x8"
            )
        found.append(Layout(ranks // here, here))
    return found
