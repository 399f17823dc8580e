"""The machines of record and their curves."""

from __future__ import annotations

from nhalf.machines import catalogue
from nhalf.machines.machine import FittedModel

MIB_4 = 4 * 2**20
NAMES = catalogue.names()
OTHER, SAME = "other-node", "same-node"


def curve(machine: str, placement: str, axes: str = "") -> FittedModel:
    (found,) = [
        model
        for model in catalogue.machine(machine).models
        if (model.placement, model.axes) == (placement, axes)
    ]
    return found
