"""Whatever was measured: no table, finding or chart says what no reader can believe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.overview import overview, patterns_overview
from nhalf.present.findings import findings
from nhalf.present.report.page import card, in_words
from nhalf.present.report.sections import sections, subject_of
from nhalf.present.terminal.output import stdout_console
from nhalf.present.terminal.summary import (
    overview_table,
    patterns_table,
    result_lines,
    show_points,
    show_results,
)
from tests.nhalf.present.hostile import absurd, hostile_facts


def terminal_text(facts: Facts, capsys: pytest.CaptureFixture[str]) -> Iterator[str]:
    stdout_console().print(overview_table(overview(facts)))
    stdout_console().print(patterns_table(patterns_overview(facts)))
    show_results(facts.results, facts.titles)
    show_points(facts)
    yield from capsys.readouterr().out.splitlines()
    yield from result_lines(facts.results, facts.titles)


def page_text(facts: Facts) -> Iterator[str]:
    for finding in findings(facts):
        yield " | ".join(card(finding).values())
    yield from strings(subject_of(facts).heading())
    for section in sections(facts):
        if section.table is not None:
            yield from (" | ".join(row) for row in section.table.rows)
        if section.spec is not None:
            yield from in_words(section.spec)
            yield from (
                text for rows in section.spec.get("datasets", {}).values() for text in strings(rows)
            )


def strings(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for value in part.values():
            yield from strings(value)
    elif isinstance(part, list | tuple):
        for value in part:
            yield from strings(value)


def complaints(seed: int, capsys: pytest.CaptureFixture[str], *, with_page: bool) -> list[str]:
    facts = hostile_facts(seed)
    texts = [*terminal_text(facts, capsys), *(page_text(facts) if with_page else ())]
    if not with_page:
        texts += [" | ".join(card(finding).values()) for finding in findings(facts)]
    return [f"seed {seed}: {text}" for text in dict.fromkeys(texts) if absurd(text)]


def test_absurd_numbers_are_recognised() -> None:
    assert absurd("-6.5 % (-100.0 to +154931432.2)") == ["154931432.2"]
    assert absurd("±1000 % or more") == ["±1000"]
    assert absurd("n½ nan, rate inf") == ["nan", "inf"]
    assert absurd("12 345 678 samples, 0.00000012 s, n1, info") == []


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.sampled(3)
def test_no_table_finding_or_page_says_what_nobody_can_believe(
    seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert complaints(seed, capsys, with_page=True) == []


@pytest.mark.full
@pytest.mark.parametrize("tens", range(100))
def test_nor_do_a_thousand_of_them(tens: int, capsys: pytest.CaptureFixture[str]) -> None:
    found = [
        complaint
        for seed in range(1000 + 10 * tens, 1010 + 10 * tens)
        for complaint in complaints(seed, capsys, with_page=seed % 10 == 0)
    ]
    assert found == []
