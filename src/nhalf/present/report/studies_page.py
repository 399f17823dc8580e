"""All published studies on one page: the verdicts on their machines of record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from nhalf.present.panels import Table
from nhalf.present.report.page import LEAD_FINDINGS, rendered
from nhalf.present.report.sections import Section
from nhalf.present.study_words import (
    DOCUMENT,
    MARKS,
    OWN,
    counts_text,
    in_parts,
    mark_text,
    marks_how,
)
from nhalf.present.wording import count
from nhalf.studies.form import Conclusion
from nhalf.studies.judge import FAILS, HOLDS, READ_BACK, UNTESTED, ConclusionJudgement
from nhalf.studies.overview import StudyOverview

FOOTER = (
    "Nothing here was measured: numbers are those that were published of a machine and, for the "
    "rest, predicted from its messages. nhalf study NAME measures the same here."
)


def studies_page(overviews: Sequence[StudyOverview]) -> str:
    """The whole page as HTML."""
    at_home = [judgement for of in overviews for judgement in of.at_home]
    parts = in_parts(at_home)
    counts = Counter(judgement.verdict for judgement in parts.get(DOCUMENT, []))
    cards = [_card(of) for of in overviews]
    machines = {machine for of in overviews for machine in of.judgements}
    conclusions = sum(len(of.form.conclusion) for of in overviews)
    return rendered(
        title="Published studies on their machines",
        subtitle=f"{count(len(overviews), 'study', 'studies')} · {conclusions} conclusions",
        sureness=[
            (str(len(machines)), "machines of record"),
            (str(counts[HOLDS]), "hold where the document says so"),
            (str(counts[FAILS]), "do not hold there"),
            (str(counts[READ_BACK]), "are read back there"),
            (str(counts[UNTESTED]), "cannot be tested there"),
            (str(len(parts.get(OWN, []))), "verdicts on nhalf's own"),
        ],
        findings_title="Studies",
        footer=FOOTER,
        lead=cards[:LEAD_FINDINGS],
        others=[
            {**card, "text": f"{card['label']}: {card['text']}"} for card in cards[LEAD_FINDINGS:]
        ],
        libraries=[],
        sections=[
            Section(of.study, of.study, marks_how(of.form.title), None, verdict_table(of))
            for of in overviews
        ],
    )


def verdict_table(of: StudyOverview) -> Table:
    """A row for each conclusion, a column of marks for each machine of the study."""
    rows = [[_words(conclusion), *_marks(judgements, of)] for conclusion, judgements in of.rows()]
    return Table(["conclusion", *of.judgements], rows)


def _words(conclusion: Conclusion) -> str:
    """A conclusion, and where the document says it."""
    return f"{conclusion.claim.removesuffix('.')} [{conclusion.place or 'nhalf'}]"


def _marks(judgements: Iterable[ConclusionJudgement], of: StudyOverview) -> list[str]:
    return [
        mark_text(judgement, machine)
        for judgement, machine in zip(judgements, of.judgements, strict=True)
    ]


def _card(of: StudyOverview) -> dict[str, str]:
    """How many conclusions of a study come out as it says, on the machines of which it says so."""
    parts = in_parts(of.at_home)
    of_document, own = parts.get(DOCUMENT, []), parts.get(OWN, [])
    held = sum(judgement.verdict == HOLDS for judgement in of_document)
    return {
        "figure": f"{held} of {len(of_document)} {MARKS[HOLDS]}",
        "text": f"{of.form.title} Where the document says so, {counts_text(of_document)}; of "
        f"nhalf's own, {counts_text(own)}.",
        "remedy": of.form.source,
        "kind": "fact",
        "label": of.study,
    }
