"""A study repeated on a machine: its tables beside the published ones, and its conclusions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from nhalf.base.errors import InputError
from nhalf.base.numbers import format_number
from nhalf.statistics.unbeaten import unbeaten
from nhalf.studies.form import (
    Conclusion,
    FigureForm,
    OptionsForm,
    Quantity,
    StudyForm,
    TableForm,
    apart,
)
from nhalf.studies.judge import (
    FAILS,
    UNTESTED,
    ConclusionJudgement,
    Groups,
    NumberSource,
    counts,
    judge,
)
from nhalf.studies.published.numbers import published
from nhalf.studies.recorded import RecordedMachine
from nhalf.studies.value import StudyValue, Unit


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


@dataclass(frozen=True)
class TableCell:
    """A number of a table, ours or published; None if there is none. `ranks` were asked for."""

    value: StudyValue | None
    unit: Unit
    ranks: int
    is_published: bool

    def as_json(self) -> dict[str, Any]:
        """The number, its interval and its origin."""
        return {
            "value": self.value.median if self.value else None,
            "ci": self.value.ci if self.value else None,
            "ranks": self.value.ranks if self.value else None,
            "unit": self.unit,
            "published": self.is_published,
        }


@dataclass(frozen=True)
class StudyTable:
    """Cells in the study's own layout: `head` names the rows' first column, then the others.

    `unbeaten` says of each row, where these are options, whether none is better in both.
    """

    id: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, tuple[TableCell, ...]], ...]
    unbeaten: tuple[bool, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """A member of `tables` in the output of `nhalf study --json`."""
        rows: list[dict[str, Any]] = [
            {"of": name, "cells": [cell.as_json() for cell in row]} for name, row in self.rows
        ]
        for row, is_unbeaten in zip(rows, self.unbeaten, strict=False):
            row["unbeaten"] = is_unbeaten
        return {"id": self.id, "title": self.title, "columns": list(self.head[1:]), "rows": rows}


@dataclass(frozen=True)
class Repetition:
    """All that a study says, beside what its machine says."""

    study: str
    form: StudyForm
    machine: str
    tables: tuple[StudyTable, ...]
    conclusions: tuple[ConclusionJudgement, ...]

    def as_json(self) -> dict[str, Any]:
        """The output of `nhalf study NAME --json`, without the run or machine."""
        return {
            "study": self.study,
            "title": self.form.title,
            "source": self.form.source,
            "tables": [table.as_json() for table in self.tables],
            "counts": counts(self.conclusions),
            "conclusions": [judgement.as_json() for judgement in self.conclusions],
        }


def repeat(
    name: str, form: StudyForm, source: NumberSource, record: NumberSource | None = None
) -> Repetition:
    """Repeat a study with the numbers of a machine.

    What they do not decide its `record` may: a run in virtual time has not all of a machine.
    """
    tables = [_table(table, source, form.machines) for table in form.table]
    tables += [_figure(figure, source, form.machines) for figure in form.figure]
    tables += [_options(options, source) for options in form.options]
    sources = [source, record] if record else [source]
    judgements = [_first_decided(conclusion, sources, form) for conclusion in form.conclusion]
    return Repetition(name, form, source.name, tuple(tables), tuple(judgements))


def _first_decided(
    conclusion: Conclusion, sources: Sequence[NumberSource], form: StudyForm
) -> ConclusionJudgement:
    """The verdict by the first source that has one; if none has, what the first lacks."""
    judgements = [
        explained(judge(conclusion, source, form.machines), form, source.name) for source in sources
    ]
    return next((j for j in judgements if j.verdict != UNTESTED), judgements[0])


def _table(form: TableForm, source: NumberSource, groups: Groups) -> StudyTable:
    """A row for the machine in question, then one for each of the study's that has numbers."""
    quantities = apart([column.value for column in form.column])
    rows = [(source.name, tuple(_ours(quantity, source) for quantity in quantities))]
    for name in _machines(groups):
        cells = tuple(_theirs(quantity, name) for quantity in quantities)
        if any(cell.value for cell in cells):
            rows.append((f"{name}, published", cells))
    titles = [column.title for column in form.column]
    return StudyTable(form.id, form.title, ("machine", *titles), tuple(rows))


def _figure(form: FigureForm, source: NumberSource, groups: Groups) -> StudyTable:
    """A column for the machine in question, then one for each of the study's that has numbers."""
    places = [msgspec.structs.replace(form.value, **{form.axis: at}) for at in form.at]
    ours = [_ours(quantity, source) for quantity in places]
    columns = {source.name: ours}
    for name in _machines(groups):
        cells = [_theirs(quantity, name) for quantity in places]
        if any(cell.value for cell in cells):
            columns[f"{name}, published"] = cells
    rows = zip(map(str, form.at), zip(*columns.values(), strict=True), strict=True)
    return StudyTable(form.id, form.title, (form.axis, *columns), tuple(rows))


def _options(form: OptionsForm, source: NumberSource) -> StudyTable:
    """A row for each option that the machine in question has, marked where none is better."""
    options = form.options.items()
    rows = [(name, _weighed(quantity, form.cost, source)) for name, quantity in options]
    rows = [(title, cells) for title, cells in rows if all(cell.value for cell in cells)]
    costs = [tuple(cell.value.median for cell in cells if cell.value) for _, cells in rows]
    marks = unbeaten([(time_s, cost) for time_s, cost, _ in costs])
    head = (", ".join(form.over), form.time_title, form.cost_title, form.product_title)
    return StudyTable(form.id, form.title, head, tuple(rows), tuple(marks))


def _weighed(quantity: Quantity, cost: str, source: NumberSource) -> tuple[TableCell, ...]:
    """The time of an option, its cost, and the product of both."""
    costing = msgspec.structs.replace(quantity, extra=cost)
    time, costs = _ours(quantity, source), _ours(costing, source)
    product = time.value.times(costs.value) if time.value and costs.value else None
    return time, costs, replace(time, value=product)


def _machines(groups: Sequence[Sequence[str]]) -> Iterator[str]:
    for group in groups:
        yield from group


def _ours(quantity: Quantity, source: NumberSource) -> TableCell:
    try:
        value = source.value(quantity)
    except InputError:
        value = None
    return TableCell(value, quantity.unit, quantity.ranks, is_published=False)


def _theirs(quantity: Quantity, record: str) -> TableCell:
    """What is published of a record: nothing of a transport that it is not of."""
    value = published(RecordedMachine(record), msgspec.structs.replace(quantity, predicted=False))
    return TableCell(value, quantity.unit, quantity.ranks, is_published=True)
