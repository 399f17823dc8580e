"""Numbers of a node alone: what `nhalf node` measures of it, and what records say of it.

A study asks for one by its name here, `value = {node = "NAME"}`. Each is an entry of NODE_FIGURES:
its unit, how it comes out of the facts of a run, and how out of a record. Both raise InputError
with the reason where it is not known.
"""

from collections.abc import Callable
from dataclasses import dataclass

from nhalf.facts.facts import Facts
from nhalf.machines.machine import Machine
from nhalf.studies import caches, kernels
from nhalf.studies.value import StudyValue, Unit


@dataclass(frozen=True)
class NodeFigure:
    """A number of a node: its unit, and where it comes from."""

    unit: Unit
    measured: Callable[[Facts], StudyValue]
    recorded: Callable[[Machine], StudyValue]


NODE_FIGURES = {
    name: NodeFigure(*figure) for name, figure in {**caches.FIGURES, **kernels.FIGURES}.items()
}
"""By the name that studies write."""
