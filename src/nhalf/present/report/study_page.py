"""A repeated study as one page, its verdicts before tables and figures; and all studies on one."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from nhalf.base.numbers import MISSING
from nhalf.base.rows import Row
from nhalf.base.units import format_size, parse_size
from nhalf.present import study_words
from nhalf.present.charts import common
from nhalf.present.charts.curves import count_axis, lines
from nhalf.present.panels import Table
from nhalf.present.report.caption import captioned
from nhalf.present.report.page import LEAD_FINDINGS, card_of, rendered
from nhalf.present.report.sections import Section
from nhalf.present.wording import count
from nhalf.studies.form import Conclusion, FigureForm
from nhalf.studies.judge import FAILS, HOLDS, READ_BACK, UNTESTED, ConclusionJudgement, Verdict
from nhalf.studies.overview import StudyOverview
from nhalf.studies.repeat import Repetition, StudyTable

ORDER: tuple[Verdict, ...] = (FAILS, HOLDS)
COUNTED: dict[Verdict, str] = {
    HOLDS: "conclusions hold",
    FAILS: "do not hold",
    READ_BACK: "are read back",
    UNTESTED: "cannot be tested",
}
MEANINGS = {
    "measured": "on times measured here",
    "virtual": "on today's library in virtual time",
    "simulated": "on a simulated machine",
    "predicted": "on predictions from the record",
    "published": "on what is published of this machine",
    "counted": "on what programs send, in closed form",
}
"""Verdicts by evidence; what is read back is another verdict."""
UNTESTED_HOW = "What each needs that is missing here; its verdict is open, not negative."
READ_BACK_HOW = """\
These come out as published because the number is the published one, or inferred from it: they show
that the record is right, and nothing more."""
OWN_HOW = """\
The document has the numbers and does not say it. Verdicts as above; none of these counts there."""
TABLE_HOW = "The first row is this machine; below it stands what was published."
FIGURE_HOW = "One line is this machine; the others are what was published."
FOOTER = (
    "A conclusion holds if the whole 95 % interval of its number is on the right side of the "
    "limit, does not hold if all of it is on the wrong side, and cannot be tested otherwise."
)


def study_page(repetition: Repetition, links: Mapping[str, str] | None = None) -> str:
    """The whole page as HTML; `links` are addresses by their words."""
    parts = study_words.in_parts(repetition.conclusions)
    of_document = parts.get(study_words.DOCUMENT, [])
    counts = Counter(judgement.verdict for judgement in of_document)
    origins = Counter(study_words.evidence_text(j) for j in of_document if j.verdict in ORDER)
    return rendered(
        _cards(of_document),
        title=repetition.form.title,
        verdict=f"{study_words.counts_text(of_document)} on {repetition.machine}.",
        subtitle=f"{repetition.study} · {repetition.form.source}",
        links=dict(links or {}),
        sureness=[
            *((str(counts[verdict]), words) for verdict, words in COUNTED.items()),
            *((str(origins[name]), f"verdicts {MEANINGS[name]}") for name in sorted(origins)),
        ],
        findings_title="Verdicts",
        footer=FOOTER,
        sections=list(_sections(repetition)),
    )


def _cards(judgements: Sequence[ConclusionJudgement]) -> list[dict[str, str]]:
    """A card for each conclusion that was decided: those first that do not hold."""
    ordered = [j for verdict in ORDER for j in judgements if j.verdict == verdict]
    return [_card(judgement, place < LEAD_FINDINGS) for place, judgement in enumerate(ordered)]


def _card(judgement: ConclusionJudgement, is_large: bool) -> dict[str, str]:
    """A verdict; only large cards have room for it above the words."""
    verdict, claim = judgement.verdict.capitalize(), judgement.conclusion.claim
    interval = study_words.interval_text(judgement)
    published = study_words.published_text(judgement)
    origin, conclusion = study_words.evidence_text(judgement), judgement.conclusion
    parts = [
        f"limit {study_words.limit_text(judgement)}",
        f"number {origin}",
        "" if interval == MISSING else f"95 % interval {interval}",
        "" if published == MISSING or origin == "published" else f"published {published}",
    ]
    place = ", of ".join(filter(None, [conclusion.place, ", ".join(conclusion.drawn_on)]))
    source = f" The document, {place}: {conclusion.statement}"
    details = ", ".join(part for part in parts if part).capitalize()
    text = claim if is_large else f"{verdict}: {claim}"
    kind = "fact" if judgement.verdict == HOLDS else "doubt"
    remedy = f"{details}.{source if conclusion.statement else ''}"
    return card_of(study_words.value_text(judgement), text, verdict, remedy, kind)


def _sections(repetition: Repetition) -> Iterator[Section]:
    parts = study_words.in_parts(repetition.conclusions)
    of_document = parts.get(study_words.DOCUMENT, [])
    for name, verdict, how in (
        ("untested", UNTESTED, UNTESTED_HOW),
        ("read-back", READ_BACK, READ_BACK_HOW),
    ):
        if judgements := [j for j in of_document if j.verdict == verdict]:
            yield Section(name, verdict.capitalize(), how, None, _table(judgements))
    if own := parts.get(study_words.OWN, []):
        how = f"{OWN_HOW} {study_words.counts_text(own)}."
        yield Section("own", "nhalf's own", how, None, _table(own))
    figures = {form.id: form for form in repetition.form.figure}
    for table in repetition.tables:
        form = figures.get(table.id)
        spec = _spec(table, form) if form and form.axis != "node" else None
        if spec is not None:
            yield Section(table.id, _title(table.title), f"{table.title}. {FIGURE_HOW}", spec, None)
        else:
            rows = [list(row) for row in study_words.table_rows(table)]
            how = f"{table.title}. {TABLE_HOW}"
            yield Section(table.id, _title(table.title), how, None, Table(list(table.head), rows))


def _table(judgements: Sequence[ConclusionJudgement]) -> Table:
    """A row for each conclusion: what was said where, the verdict, what it rests on, and why."""
    rows = [
        [
            study_words.claim_text(judgement),
            judgement.conclusion.statement,
            judgement.verdict,
            study_words.evidence_text(judgement),
            judgement.reason,
            study_words.value_text(judgement),
            study_words.interval_text(judgement),
            study_words.limit_text(judgement),
            study_words.published_text(judgement),
        ]
        for judgement in judgements
    ]
    head = ["conclusion", "statement", "verdict", "evidence", "why not"]
    head += ["number", "95 % interval", "limit", "published"]
    used = [column for column, _ in enumerate(head) if any(row[column] for row in rows)]
    return Table([head[i] for i in used], [[row[i] for i in used] for row in rows])


def _title(text: str) -> str:
    """The first words of a title, up to a colon, a comma or a semicolon."""
    return re.split(r"[:,;]", text)[0]


def _spec(table: StudyTable, form: FigureForm) -> Row | None:
    rows = list(_points(table))
    if not rows:
        return None
    names = list(table.head[1:])
    of_size = form.axis == "bytes"
    unit = form.value.unit
    title = "rate" if unit == "Bps" else "time"
    labels = common.RATE_LABEL if unit == "Bps" else common.TIME_LABEL
    place = "size" if of_size else "ranks"
    chart = lines(
        rows,
        axes=(
            common.size_axis() if of_size else count_axis(rows, "at", "ranks", doubling=True),
            common.log_axis("median", title, rows, labels),
        ),
        kinds=[name for name in names if name in {row["kind"] for row in rows}],
        facets=("figure", [table.title]),
        tooltip=common.tooltip(rows, kind="machine", place=place, number=title),
    )
    spec = {**chart.to_dict(), "description": f"{table.title}. {FIGURE_HOW}"}
    return captioned(spec, table.title)


def _points(table: StudyTable) -> Iterator[Row]:
    for place, cells in table.rows:
        at = int(place) if place.isdigit() else parse_size(place)
        for name, cell in zip(table.head[1:], cells, strict=True):
            if cell.value is None or not cell.value.median > 0:
                continue
            yield {
                **{"kind": name, "figure": table.title, "at": at, "bytes": at},
                "place": format_size(at) if table.head[0] == "bytes" else place,
                "size": format_size(at),
                "median": common.digits(cell.value.median),
                "number": study_words.number_text(cell.value.median, cell.unit),
            }


STUDIES_FOOTER = (
    "Nothing here was measured: numbers are those that were published of a machine and, for the "
    "rest, predicted from its messages. nhalf study NAME measures the same here."
)


def studies_page(overviews: Sequence[StudyOverview]) -> str:
    """The whole page as HTML."""
    at_home = [judgement for of in overviews for judgement in of.at_home]
    parts = study_words.in_parts(at_home)
    counts = Counter(judgement.verdict for judgement in parts.get(study_words.DOCUMENT, []))
    cards = [_study_card(of) for of in overviews]
    further = [
        {**card, "text": f"{card['label']}: {card['text']}"} for card in cards[LEAD_FINDINGS:]
    ]
    machines = {machine for of in overviews for machine in of.judgements}
    conclusions = sum(len(of.form.conclusion) for of in overviews)
    return rendered(
        [*cards[:LEAD_FINDINGS], *further],
        title="Published studies on their machines",
        subtitle=f"{count(len(overviews), 'study', 'studies')} · {conclusions} conclusions",
        sureness=[
            (str(len(machines)), "machines of record"),
            (str(counts[HOLDS]), "hold where the document says so"),
            (str(counts[FAILS]), "do not hold there"),
            (str(counts[READ_BACK]), "are read back there"),
            (str(counts[UNTESTED]), "cannot be tested there"),
            (str(len(parts.get(study_words.OWN, []))), "verdicts on nhalf's own"),
        ],
        findings_title="Studies",
        footer=STUDIES_FOOTER,
        sections=[
            Section(
                of.study, of.study, study_words.marks_how(of.form.title), None, verdict_table(of)
            )
            for of in overviews
        ],
    )


def verdict_table(of: StudyOverview) -> Table:
    """A row for each conclusion, a column of marks for each machine of the study."""
    rows = [[_words(conclusion), *_marks(judgements, of)] for conclusion, judgements in of.rows()]
    return Table(["conclusion", *of.judgements], rows)


def _words(conclusion: Conclusion) -> str:
    return f"{conclusion.claim.removesuffix('.')} [{conclusion.place or 'nhalf'}]"


def _marks(judgements: Iterable[ConclusionJudgement], of: StudyOverview) -> list[str]:
    return [
        study_words.mark_text(judgement, machine)
        for judgement, machine in zip(judgements, of.judgements, strict=True)
    ]


def _study_card(of: StudyOverview) -> dict[str, str]:
    """How many conclusions of a study come out as it says, on the machines of which it says so."""
    parts = study_words.in_parts(of.at_home)
    of_document, own = parts.get(study_words.DOCUMENT, []), parts.get(study_words.OWN, [])
    held = sum(judgement.verdict == HOLDS for judgement in of_document)
    text = (
        f"{of.form.title} Where the document says so, {study_words.counts_text(of_document)}; "
        f"of nhalf's own, {study_words.counts_text(own)}."
    )
    figure = f"{held} of {len(of_document)} {study_words.MARKS[HOLDS]}"
    return card_of(figure, text, of.study, of.form.source)
