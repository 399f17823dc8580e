"""Why a virtual machine comes out otherwise than its document says."""

from dataclasses import replace

from nhalf.base.numbers import format_number
from nhalf.studies.form import StudyForm
from nhalf.studies.judge import FAILS, UNTESTED, ConclusionJudgement


def explained(judgement: ConclusionJudgement, form: StudyForm, machine: str) -> ConclusionJudgement:
    """A verdict in virtual time against the document on its own machine, with its cause as reason.

    That is the study's own word on these patterns, else how far the number is from the published.
    Of a machine or a pattern that virtual time cannot tell there is no verdict by it.
    """
    value, conclusion = judgement.value, judgement.conclusion
    if value is None or value.origin != "virtual":
        return judgement
    numbers = (conclusion.value, conclusion.over)
    patterns = {number.pattern for number in numbers if number and not number.machine}
    for name in (patterns | {machine}) & form.not_virtual.keys():
        return replace(judgement, verdict=UNTESTED, reason=form.not_virtual[name], value=None)
    if judgement.verdict != FAILS or machine not in conclusion.drawn_on:
        return judgement
    causes = [cause.why for cause in form.cause if patterns & {*cause.patterns}]
    if not causes and judgement.published:
        share = format_number(value.median / judgement.published)
        causes = [f"by the library of this run it is {share} of the published number"]
    return replace(judgement, reason=causes[0] if causes else "its cause is not known")
