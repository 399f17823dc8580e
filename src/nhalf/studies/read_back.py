"""Whether a conclusion is tested on numbers that contain, or come from, what it says."""

from collections.abc import Iterator

from nhalf.machines import catalogue
from nhalf.machines.evidence import Evidence
from nhalf.studies.form import Conclusion
from nhalf.studies.value import StudyValue

MESSAGES_OF_A_NETWORK = ("pingpong", "pingping", "exchange", "distance", "logp")
"""What a virtual network is made of: a library on it gives these back."""


def is_contained(conclusion: Conclusion, value: StudyValue) -> bool:
    """Whether a number of a virtual network is what that network was made of."""
    numbers = [n for n in (conclusion.value, conclusion.over) if n and not n.machine]
    return value.origin == "virtual" and all(n.pattern in MESSAGES_OF_A_NETWORK for n in numbers)


def is_inferred(conclusion: Conclusion, machine: str, value: StudyValue) -> bool:
    """Whether a number predicted for a machine, or virtual, was inferred from what it tests.

    A figure that the study gives of several machines stands in the record of each.
    """
    of = conclusion.stated_at
    if machine in conclusion.contained_in:
        return value.origin in ("predicted", "virtual")
    if of is None or value.origin not in ("predicted", "virtual"):
        return False
    figure = (of.pattern, of.ranks, of.size_bytes, of.axes)
    return any(
        point.machine in (of.machine, machine)
        and figure == (point.pattern, point.ranks, point.size_bytes, point.axes)
        for point in _evidence(conclusion, machine)
    )


def _evidence(conclusion: Conclusion, machine: str) -> Iterator[Evidence]:
    """The published points that a conclusion's machines, as far as they matter, come from.

    These are their operations of its patterns, and what all messages at once share.
    """
    for quantity in (conclusion.value, conclusion.over):
        name = quantity.machine or machine if quantity else ""
        if quantity is None or name not in catalogue.names():
            continue
        record = catalogue.machine(name)
        for operation in record.operations:
            if operation.pattern == quantity.pattern:
                yield from operation.inferred_from
        for resource in record.shared:
            yield from resource.inferred_from
