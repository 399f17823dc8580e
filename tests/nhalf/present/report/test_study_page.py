"""The page of a study, and that of all studies: verdicts first, each with number and reason."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import pytest

from nhalf.present.report.studies_page import studies_page, verdict_table
from nhalf.present.report.study_page import study_page
from nhalf.studies import catalogue
from nhalf.studies.judge import FAILS, HOLDS, UNTESTED
from nhalf.studies.overview import StudyOverview, overviews
from nhalf.studies.recorded import RecordedMachine
from nhalf.studies.repeat import Repetition, repeat
from tests.nhalf.present.report.test_page import EVIL, Tags


@cache
def repeated() -> Repetition:
    form = catalogue.study("sun-fire-2004")
    return repeat("sun-fire-2004", form, RecordedMachine("myrinet-gm", form.machines))


def words_of(repetition: Repetition, links: Mapping[str, str] | None = None) -> str:
    return re.sub(r"\s+", " ", Tags(study_page(repetition, links)).text.replace("\u00a0", " "))


def test_verdicts_come_first_then_what_cannot_be_tested_then_tables() -> None:
    html = study_page(repeated())
    names = re.findall(r'<section id="([\w-]+)"', html)
    assert names[:2] == ["findings", "untested"]
    assert names[2:] == [table.id for table in repeated().tables]
    assert '<h2 id="findings-title">Verdicts</h2>' in html
    text = words_of(repeated())
    for judgement in repeated().conclusions:
        assert judgement.conclusion.claim.removesuffix(".") in text
        assert judgement.reason in text


def test_what_does_not_hold_leads_and_each_verdict_says_why() -> None:
    text = words_of(repeated())
    failed = [j for j in repeated().conclusions if j.verdict == FAILS]
    held = [j for j in repeated().conclusions if j.verdict == HOLDS]
    assert failed
    assert text.index(failed[-1].conclusion.claim) < text.index(held[0].conclusion.claim)
    assert "Limit ≥ 3, number published. Said of myrinet-gm." in text
    assert "number predicted, 95 % interval 1 to 1. Said of myrinet-gm." in text
    assert " nan" not in text.lower()


def test_figures_are_charts_and_an_empty_one_is_a_table() -> None:
    html = study_page(repeated())
    specs = set(re.findall(r'data-spec="([\w-]+)"', html))
    assert {"message-on-node", "message-off-node", "barrier-off-node"} <= specs
    assert "bandwidth" not in specs


def test_the_page_leads_to_the_report_of_the_run_and_needs_no_network() -> None:
    html = study_page(repeated(), {"The report of the run": "report.html"})
    assert '<a href="report.html">The report of the run</a>' in html
    assert 'href="report.html"' not in study_page(repeated())
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
    twice = "Between nodes a short message takes less than twice as long as within a node"
    assert rows[twice] == ["✓", "(✗)", "(?)", "(?)"]
    verdicts = [judgement.verdict for judgement in overview().at_home]
    assert verdicts == [HOLDS] * len(verdicts)


def test_the_page_of_all_studies() -> None:
    html = studies_page([overview()])
    text = re.sub(r"\s+", " ", Tags(html).text.replace("\u00a0", " "))
    count = len(overview().at_home)
    assert f"{count} of {count} ✓" in text
    assert f"1 study · {len(overview().form.conclusion)} conclusions" in text
    assert f"{count} hold, 0 do not hold, 0 {UNTESTED}" in text


@pytest.mark.parametrize("verdict", [HOLDS, FAILS, UNTESTED])
def test_a_study_on_a_machine_of_which_it_says_nothing(verdict: str) -> None:
    form = catalogue.study("sun-fire-2004")
    text = words_of(repeat("sun-fire-2004", form, RecordedMachine("sp2-mpl", form.machines)))
    assert verdict in text.lower()
