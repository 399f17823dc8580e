"""The machines of record of published studies and their curves."""

from __future__ import annotations

from nhalf.machines import catalogue
from nhalf.machines.machine import FittedModel

MIB_4 = 4 * 2**20
NAMES = catalogue.of_studies()
NAMES_AND_A_TABLE = [*NAMES, "csd3-hdr100"]
"""Those of studies, and one of those whose curves are tables: enough for what takes long."""
OTHER, SAME = "other-node", "same-node"


def curve(machine: str, placement: str, axes: str = "") -> FittedModel:
    (found,) = [
        model
        for model in catalogue.machine(machine).models
        if (model.placement, model.axes) == (placement, axes)
    ]
    return found
