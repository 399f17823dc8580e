"""The page of a study, and that of all studies: verdicts first, each with number and reason."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from html import unescape

import pytest

from nhalf.present.report.study_page import studies_page, study_page, verdict_table
from nhalf.studies import catalogue
from nhalf.studies.judge import FAILS, HOLDS, READ_BACK, UNTESTED
from nhalf.studies.overview import StudyOverview, overviews
from nhalf.studies.recorded import RecordedMachine
from nhalf.studies.repeat import Repetition, repeat
from tests.nhalf.present.report.test_page import EVIL, Tags


@cache
def repeated() -> Repetition:
    form = catalogue.study("sp2-1995")
    return repeat("sp2-1995", form, RecordedMachine("sp2-mpl", form.machines))


@cache
def repeated_page() -> str:
    return study_page(repeated())


def words_of(html: str) -> str:
    return re.sub(r"\s+", " ", Tags(html).text.replace("\u00a0", " "))


def test_verdicts_come_first_then_what_cannot_be_tested_then_tables() -> None:
    html = repeated_page()
    names = re.findall(r'<section id="([\w-]+)"', html)
    assert names[:4] == ["findings", "untested", "read-back", "own"]
    assert names[4:] == [table.id for table in repeated().tables]
    assert '<h2 id="findings-title">Verdicts</h2>' in html
    text = words_of(repeated_page())
    for judgement in repeated().conclusions:
        assert judgement.conclusion.claim.removesuffix(".") in text
        assert judgement.reason in text
        assert judgement.conclusion.statement in text
        assert judgement.conclusion.place in text


def test_what_is_read_back_and_what_nhalf_adds_stand_apart() -> None:
    html = unescape(repeated_page())
    sections = dict(re.findall(r'<section id="([\w-]+)"(.*?)</section>', html, re.DOTALL))
    for judgement in repeated().conclusions:
        words = judgement.conclusion.claim.removesuffix(".")
        if judgement.conclusion.is_own:
            place = "own"
        else:
            places = {UNTESTED: "untested", READ_BACK: "read-back"}
            place = places.get(judgement.verdict, "findings")
        assert {name for name, text in sections.items() if words in text} == {place}, words
    text = words_of(repeated_page())
    assert "2 hold (2 predicted), 1 does not hold (1 published), 9 read back" in text
    assert "verdicts on predictions from the record2" in text


def test_what_does_not_hold_leads_and_each_verdict_says_why() -> None:
    text = words_of(repeated_page())
    said = [j for j in repeated().conclusions if not j.conclusion.is_own]
    failed = [j for j in said if j.verdict == FAILS]
    held = [j for j in said if j.verdict == HOLDS]
    assert failed
    assert text.index(failed[-1].conclusion.claim) < text.index(held[0].conclusion.claim)
    assert "Limit ≈ 0.3, number predicted, published 0.3. The document, Table 5.2" in text
    assert " nan" not in text.lower()


def test_figures_are_charts_and_an_empty_one_is_a_table() -> None:
    html = repeated_page()
    specs = set(re.findall(r'data-spec="([\w-]+)"', html))
    assert {"ping-pong", "barriers"} <= specs
    assert "operations" not in specs


def test_the_page_leads_to_the_report_of_the_run_and_needs_no_network() -> None:
    html = study_page(repeated(), {"The report of the run": "report.html"})
    assert '<a href="report.html">The report of the run</a>' in html
    assert 'href="report.html"' not in repeated_page()
    addresses = [attrs.get("src") or attrs.get("href") or "" for _, attrs in Tags(html).tags]
    assert not [address for address in addresses if "//" in address]


def test_words_of_a_file_are_text() -> None:
    import msgspec

    form = msgspec.structs.replace(catalogue.study("sun-fire-2004"), title=EVIL)
    page = study_page(repeat("evil", form, RecordedMachine("sunfire-15k", form.machines)))
    assert EVIL not in page


@cache
def overview() -> StudyOverview:
    (one_study,) = overviews(["sun-fire-2004"])
    return one_study


def test_all_verdicts_of_a_study_on_its_machines() -> None:
    table = verdict_table(overview())
    assert table.columns == [
        *("conclusion", "sunfire-link", "myrinet-gm", "poweredge-6650", "sunfire-15k")
    ]
    rows = {row[0]: row[1:] for row in table.rows}
    twice = "Between nodes a short message takes less than twice as long as within a node [nhalf]"
    assert rows[twice] == ["=", "(✗)", "(?)", "(?)"]
    line = "A put of part of a line takes at least 10 times as long as one of a line [ch. 5]"
    assert rows[line] == ["=", "(?)", "(?)", "(?)"]
    assert FAILS not in {judgement.verdict for judgement in overview().at_home}


def test_the_page_of_all_studies() -> None:
    html = studies_page([overview()])
    text = re.sub(r"\s+", " ", Tags(html).text.replace("\u00a0", " "))
    said = [j for j in overview().at_home if not j.conclusion.is_own]
    counts = Counter(judgement.verdict for judgement in said)
    assert f"{counts[HOLDS]} of {len(said)} ✓" in text
    assert f"1 study · {len(overview().form.conclusion)} conclusions" in text
    assert f"0 do not hold, {counts[READ_BACK]} read back, {counts[UNTESTED]} {UNTESTED}" in text


@pytest.mark.sampled(1)
@pytest.mark.parametrize("verdict", [HOLDS, FAILS, UNTESTED])
def test_a_study_on_a_machine_of_which_it_says_nothing(verdict: str) -> None:
    form = catalogue.study("sun-fire-2004")
    repetition = repeat("sun-fire-2004", form, RecordedMachine("sp2-mpl", form.machines))
    text = words_of(study_page(repetition))
    assert verdict in text.lower()
