"""What the NAS Parallel Benchmarks send, counted in closed form: the same on every machine."""

from collections.abc import Callable, Sequence
from functools import cache
from statistics import fmean

from nhalf.base.errors import InputError
from nhalf.measure.probe.pattern import allows
from nhalf.models.npb.problems import problem, rank_rule
from nhalf.models.npb.traffic import Traffic, sends, traffic_of
from nhalf.studies.form import Quantity
from nhalf.studies.value import StudyValue

PREFIX = "npb-"
Sent = Sequence[Traffic]
"""The messages of each rank."""


def _mean_bytes(sent: Sent) -> float:
    messages = sum(rank_sends.total() for rank_sends in sent)
    if not messages:
        raise InputError("no rank sends to a single other")
    counts = (entry for rank_sends in sent for entry in rank_sends.items())
    return sum(size * times for (_, _, size), times in counts) / messages


def _partners(rank_sends: Traffic) -> int:
    return len({partner for _, partner, _ in rank_sends})


COUNTS: dict[str, Callable[[Sent], float]] = {
    "sends_least": lambda sent: min(rank_sends.total() for rank_sends in sent),
    "sends_mean": lambda sent: fmean(rank_sends.total() for rank_sends in sent),
    "sends_most": lambda sent: max(rank_sends.total() for rank_sends in sent),
    "message_mean_bytes": _mean_bytes,
    "partners_mean": lambda sent: fmean(map(_partners, sent)),
    "partners_most": lambda sent: max(map(_partners, sent)),
}
"""By the name of an `extra`: what is counted of the messages between two ranks in a whole run."""


def is_counted(quantity: Quantity) -> bool:
    """Whether a number is counted, and takes no measurement."""
    return quantity.extra in COUNTS and quantity.pattern.startswith(PREFIX)


def counted(quantity: Quantity) -> StudyValue:
    """A number that is counted; raises InputError for ranks or a class that a kernel has not."""
    sent = _sent(
        quantity.pattern.removeprefix(PREFIX), str(quantity.axes.get("class", "S")), quantity.ranks
    )
    number = float(COUNTS[quantity.extra](sent))
    return StudyValue(number, (number, number), quantity.ranks, "counted")


@cache
def _sent(kernel: str, name: str, ranks: int) -> Sent:
    if not allows(rank_rule(kernel), ranks):
        raise InputError(f"{kernel} does not run on {ranks} ranks")
    of = problem(kernel, name)
    return [sends(traffic_of(of, rank, ranks)) for rank in range(ranks)]
