"""Whether a conclusion holds: its number, with the interval, in relation to its limit."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import msgspec

from nhalf.base.errors import InputError
from nhalf.base.numbers import says_nothing
from nhalf.machines import catalogue
from nhalf.machines.shared import Evidence
from nhalf.studies.form import Conclusion, Quantity
from nhalf.studies.published.numbers import published, published_point
from nhalf.studies.recorded import PUBLISHED, RecordedMachine
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


Verdict = Literal["holds", "read back", "does not hold", "cannot be tested"]
HOLDS: Verdict = "holds"
READ_BACK: Verdict = "read back"
"""It comes out as published of the published number itself, which shows nothing."""
FAILS: Verdict = "does not hold"
UNTESTED: Verdict = "cannot be tested"
ROUNDING = 1e-9
"""Relative error of numbers that are equal."""

Groups = Sequence[Sequence[str]]


class NumberSource(Protocol):
    """Where the numbers of a machine come from: a run, or a record.

    `needs_intervals` says whether a number without an interval decides nothing.
    """

    name: str
    needs_intervals: bool

    def value(self, quantity: Quantity) -> StudyValue:
        """A number of the machine; raises InputError with the reason if it is not known."""


@dataclass(frozen=True)
class ConclusionJudgement:
    """A verdict on a conclusion, with its number, limit and the published number, if known."""

    conclusion: Conclusion
    verdict: Verdict
    reason: str = ""
    value: StudyValue | None = None
    limit: float | None = None
    published: float | None = None

    def as_json(self) -> dict[str, Any]:
        """A member of `conclusions` in the output of `nhalf study --json`."""
        return {
            "id": self.conclusion.id,
            "claim": self.conclusion.claim,
            "own": self.conclusion.is_own,
            "statement": self.conclusion.statement,
            "place": self.conclusion.place,
            "verdict": self.verdict,
            "reason": self.reason,
            "unit": self.conclusion.unit,
            "value": self.value.median if self.value else None,
            "ci": self.value.ci if self.value else None,
            "ranks": self.value.ranks if self.value else None,
            "origin": self.value.origin if self.value else None,
            "relation": self.conclusion.relation,
            "limit": self.limit,
            "published": self.published,
            "drawn_on": self.conclusion.drawn_on,
        }


def counts(judgements: Iterable[ConclusionJudgement]) -> list[dict[str, Any]]:
    """How many verdicts rest on which evidence, those of the document and nhalf's own apart."""
    tally = Counter(
        (j.conclusion.is_own, j.verdict, j.value.origin if j.value else None) for j in judgements
    )
    return [
        {"own": is_own, "verdict": verdict, "origin": origin, "count": count}
        for (is_own, verdict, origin), count in sorted(tally.items(), key=str)
    ]


def judge(conclusion: Conclusion, source: NumberSource, groups: Groups) -> ConclusionJudgement:
    """Test a conclusion on the numbers of a machine."""
    stated = _published(conclusion, source.name, groups)
    limit = stated if conclusion.limit is None else conclusion.limit
    judgement = ConclusionJudgement(conclusion, UNTESTED, limit=limit, published=stated)
    own = set(conclusion.drawn_on) & set(_group_of(source.name, groups))
    if conclusion.not_elsewhere and not own:
        return replace(judgement, reason=conclusion.not_elsewhere)
    if source.name in conclusion.not_of:
        return replace(judgement, reason=conclusion.not_of[source.name])
    if limit is None:
        return replace(judgement, reason="no number of it is published")
    numbers = (conclusion.value, conclusion.over)
    if source.name in {number.machine for number in numbers if number is not None}:
        return replace(judgement, reason=f"{source.name} would be compared with itself")
    try:
        value = tested(conclusion, source, groups)
    except InputError as error:
        return replace(judgement, reason=error.message)
    verdict, reason = _compared(value, limit, conclusion, source.needs_intervals)
    is_stated = bool(own) and (value.origin == PUBLISHED or is_contained(conclusion, value))
    if verdict == HOLDS and (is_stated or is_inferred(conclusion, source.name, value)):
        verdict, value = READ_BACK, replace(value, origin=READ_BACK)
    return replace(judgement, verdict=verdict, reason=reason, value=value)


def tested(conclusion: Conclusion, source: NumberSource, groups: Groups) -> StudyValue:
    """The number that is tested; raises InputError if a part of it is not known.

    Another machine is taken with as many ranks as the machine in question.
    """
    form, over = conclusion.quantities
    if over is None:
        return _enough(value_of(form, source, groups), conclusion)
    if form.machine:
        second = _enough(value_of(over, source, groups), conclusion)
        value = value_of(replace_ranks(form, second.ranks), source, groups)
        return replace(value.over(second), ranks=second.ranks)
    value = _enough(value_of(form, source, groups), conclusion)
    if over.machine:
        return value.over(value_of(replace_ranks(over, value.ranks), source, groups))
    second = value_of(over, source, groups)
    if form.ranks != over.ranks and value.ranks == second.ranks:
        raise InputError(f"only {value.ranks} ranks were measured, and none to compare with")
    if value.is_drawn_as(second):
        raise InputError("one prediction stands for both numbers")
    return value.over(second)


def _enough(value: StudyValue, conclusion: Conclusion) -> StudyValue:
    """The number itself; raises InputError if too few ranks took part."""
    if value.ranks < conclusion.ranks_least:
        words = "1 rank is" if value.ranks == 1 else f"{value.ranks} ranks are"
        raise InputError(f"{words} too few: it shows from {conclusion.ranks_least}")
    return value


def replace_ranks(quantity: Quantity, ranks: int) -> Quantity:
    """A quantity among another number of ranks."""
    return msgspec.structs.replace(quantity, ranks=ranks)


def value_of(quantity: Quantity, source: NumberSource, groups: Groups) -> StudyValue:
    """A number of the machine in question, or of the machine of record that it names.

    Of records it is what was published, if it was: predictions are for the rest.
    """
    chosen = RecordedMachine(quantity.machine, groups) if quantity.machine else source
    stated = published(chosen, quantity) if isinstance(chosen, RecordedMachine) else None
    value = stated or chosen.value(quantity)
    # What is unpublished of two machines is drawn for each alone.
    return replace(value, per_draw=None) if quantity.machine else value


def _published(conclusion: Conclusion, name: str, groups: Groups) -> float | None:
    """What the study says: of the machine itself, if it is one of the study's."""
    if conclusion.published is not None:
        return published_point(conclusion.published)
    if conclusion.stated_at is not None:
        with suppress(InputError):
            return published_point(conclusion.stated_at)
    own = [record for record in conclusion.drawn_on if record in _group_of(name, groups)]
    for record in [*own, *conclusion.drawn_on][:1]:
        value = _stated(conclusion.value, record, groups)
        if conclusion.over is None:
            return value.median if value else None
        second = _stated(conclusion.over, record, groups)
        return value.over(second).median if value and second else None
    return None


def _stated(quantity: Quantity, record: str, groups: Groups) -> StudyValue | None:
    quantity = msgspec.structs.replace(quantity, predicted=False)
    return published(RecordedMachine(quantity.machine or record, groups), quantity)


def _group_of(name: str, groups: Groups) -> Sequence[str]:
    """The records of the machine that has a record of this name."""
    return next((group for group in groups if name in group), (name,))


def _compared(
    value: StudyValue, limit: float, conclusion: Conclusion, needs_interval: bool
) -> tuple[Verdict, str]:
    """The verdict on a number, and why there is none."""
    if value.ci is None and needs_interval:
        return UNTESTED, "its interval is not known: that takes several launches"
    low, high = value.ends
    least, most = allowed(conclusion, limit)
    if low >= least * (1 - ROUNDING) and high <= most * (1 + ROUNDING):
        return HOLDS, ""
    if high < least * (1 - ROUNDING) or low > most * (1 + ROUNDING):
        return FAILS, ""
    wide = ", and is too wide to say more" if says_nothing(low, high) else ""
    return UNTESTED, f"the interval has the limit inside{wide}"


def allowed(conclusion: Conclusion, limit: float) -> tuple[float, float]:
    """The range of numbers with which a conclusion holds."""
    if conclusion.relation == "about":
        return limit / (1 + conclusion.within_share), limit * (1 + conclusion.within_share)
    return (limit, float("inf")) if conclusion.relation == "at least" else (0.0, limit)
