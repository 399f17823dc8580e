"""Verdicts in virtual time: their causes, and what a virtual network only gives back."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from nhalf.studies.form import Conclusion, ContradictionCause, StudyForm
from nhalf.studies.judge import FAILS, HOLDS, READ_BACK, UNTESTED, ConclusionJudgement, judge
from nhalf.studies.repeat import explained, repeat
from nhalf.studies.value import StudyValue
from tests.nhalf.studies.test_decidable import LINEAR, SHORT, TREE, conclusion, form

OURS = {"drawn_on": ["sp2-mpl"]}


class Virtual:
    """A machine whose every number is 2, in virtual time."""

    needs_intervals = True

    def __init__(self, name: str = "sp2-mpl", origin: str = "virtual") -> None:
        self.name, self.origin = name, origin

    def value(self, quantity: object) -> StudyValue:
        return StudyValue(2.0, (2.0, 2.0), 4, self.origin, per_launch={("", 0): 2.0})


def study(about: Conclusion, **members: Any) -> StudyForm:
    return msgspec.structs.replace(form(about), **members)


def verdict(about: Conclusion, of: StudyForm, machine: str = "sp2-mpl") -> ConclusionJudgement:
    return explained(judge(about, Virtual(machine), of.machines), of, machine)


def test_a_contradiction_has_the_cause_of_its_pattern() -> None:
    about = conclusion(TREE, LINEAR, **OURS | {"limit": 3})
    causes = [
        ContradictionCause(patterns=["barrier"], why="no"),
        ContradictionCause(patterns=["bcast"], why="It is a tree."),
    ]
    told = verdict(about, study(about, cause=causes))
    assert (told.verdict, told.reason) == (FAILS, "It is a tree.")
    assert verdict(about, study(about)).reason == "its cause is not known"
    assert verdict(about, study(about, cause=causes), "sp1-mpl").reason == ""


def test_without_a_word_of_the_study_the_published_number_is_named() -> None:
    judgement = ConclusionJudgement(
        conclusion(TREE, LINEAR, **OURS), FAILS, value=Virtual().value(TREE), published=8.0
    )
    told = explained(judgement, form(), "sp2-mpl")
    assert told.reason == "by the library of this run it is 0.25 of the published number"


@pytest.mark.parametrize("name", ["sp2-mpl", "bcast"])
def test_what_virtual_time_cannot_tell_has_no_verdict_by_it(name: str) -> None:
    about = conclusion(TREE, LINEAR, **OURS)
    told = verdict(about, study(about, not_virtual={name: "The wire is shared."}))
    assert (told.verdict, told.reason, told.value) == (UNTESTED, "The wire is shared.", None)
    assert verdict(about, study(about, not_virtual={"barrier": "no"})).verdict == HOLDS


@pytest.mark.parametrize(
    ("value", "origin", "machine", "expected"),
    [
        (SHORT, "virtual", "sp2-mpl", READ_BACK),
        (SHORT, "virtual", "sp1-mpl", HOLDS),
        (SHORT, "measured", "sp2-mpl", HOLDS),
        (TREE, "virtual", "sp2-mpl", HOLDS),
    ],
)
def test_messages_of_a_virtual_network_are_read_back(
    value: dict[str, Any], origin: str, machine: str, expected: str
) -> None:
    about = conclusion(value, {**SHORT, "machine": "sp2-pvme"}, **OURS | {"limit": 1e-9})
    assert judge(about, Virtual(machine, origin), form().machines).verdict == expected


@pytest.mark.parametrize(
    ("origin", "machine", "expected"),
    [
        ("virtual", "sp2-mpl", READ_BACK),
        ("predicted", "sp2-mpl", READ_BACK),
        ("measured", "sp2-mpl", HOLDS),
        ("virtual", "sp1-mpl", HOLDS),
    ],
)
def test_what_a_record_contains_is_read_back(origin: str, machine: str, expected: str) -> None:
    about = conclusion(TREE, LINEAR, **OURS, contained_in=["sp2-mpl"])
    assert judge(about, Virtual(machine, origin), form().machines).verdict == expected


def test_what_virtual_time_leaves_open_the_record_may_decide() -> None:
    class Nothing(Virtual):
        def value(self, quantity: object) -> StudyValue:
            return StudyValue(2.0, None, 4, self.origin)

    about = conclusion(TREE, LINEAR, **OURS)
    (alone,) = repeat("it", form(about), Nothing()).conclusions
    record = Virtual(origin="predicted")
    (beside,) = repeat("it", form(about), Nothing(), record).conclusions
    assert alone.verdict == UNTESTED
    assert (beside.verdict, beside.value and beside.value.origin) == (HOLDS, "predicted")
