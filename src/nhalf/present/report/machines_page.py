"""Two machines compared by their models, as one page: words, numbers, and curves of ratios."""

from typing import Any

from nhalf.base.listing import ranks_text
from nhalf.base.numbers import format_number
from nhalf.base.rows import Row
from nhalf.base.units import format_size
from nhalf.decide import compare_machines as compare
from nhalf.machines.machine import Machine
from nhalf.present.charts import common
from nhalf.present.charts.ratios import ratio_chart
from nhalf.present.machines_words import (
    WORDS,
    described,
    factor,
    labels,
    rows_of,
    title,
    titles,
    value_text,
)
from nhalf.present.panels import Table
from nhalf.present.report.caption import captioned
from nhalf.present.report.page import LEAD_FINDINGS, card_of, rendered
from nhalf.present.report.sections import Section

FOOTER = (
    "There is no significance test here: each machine is shown by its models, and those of "
    "machines of record were published without intervals. nhalf machines show prints their sources."
)


def machines_page(comparison: compare.MachineComparison) -> str:
    """The whole page as HTML."""
    cards = _cards(comparison)
    # The strongest differences lead; the others keep the order of the patterns.
    lead = sorted(cards, key=lambda card: -card[0])[:LEAD_FINDINGS]
    further = [card for card in cards if card not in lead]
    return rendered(
        [card for _, card in [*lead, *further]],
        title=f"{comparison.a.name} and {comparison.b.name}",
        subtitle=" · ".join(map(_side_text, ("A", "B"), (comparison.a, comparison.b))),
        sureness=_sureness(comparison),
        footer=FOOTER,
        sections=_sections(comparison),
    )


def _side_text(side: str, machine: Machine) -> str:
    year = f", {machine.year}" if machine.year else ""
    return f"{side} is {machine.title or machine.name + ', ' + machine.source}{year}"


def _sureness(comparison: compare.MachineComparison) -> list[tuple[str, str]]:
    curves = [curve for pattern in comparison.patterns for curve in pattern.curves]
    crossings = sum(len(curve.crossings) for curve in curves)
    return [
        (str(len(comparison.patterns)), "common patterns"),
        (str(sum(len(curve.places) for curve in curves)), "points computed from models"),
        (str(crossings), "sizes at which the order changes"),
    ]


def _cards(comparison: compare.MachineComparison) -> list[tuple[float, dict[str, str]]]:
    """Make the cards, each with its largest factor as importance: those of curves first."""
    ordered = sorted(described(comparison), key=lambda item: item[1] is None)
    factors = [
        max(map(factor, curve.places), default=1.0) for _, curve in ordered if curve is not None
    ]
    lead = sorted(range(len(factors)), key=lambda place: -factors[place])[:LEAD_FINDINGS]
    cards = []
    for place, (text, curve) in enumerate(ordered):
        value = 1.0 if curve is None else factors[place]
        figure = "⇄" if curve is None else f"{format_number(value, 2 if value < 100 else 3)}×"
        subject, _, detail = text.partition(": ")
        card = card_of(figure, detail if place in lead else f"{subject}: {detail}", subject)
        cards.append((value, card))
    return cards


def _sections(comparison: compare.MachineComparison) -> list[Section]:
    names = labels(comparison)
    sections = []
    chart = _chart(comparison)
    if chart is not None:
        how = (
            f"Time on {names['B']} over time on {names['A']}: above 1× {names['A']} is faster, "
            f"below {names['B']}; where a line crosses 1× the order changes."
        )
        spec = {**chart.to_dict(), "description": f"Ratios. {how}"}
        spec = captioned(spec, f"{comparison.b.name} over {comparison.a.name}, by their models")
        sections.append(Section("ratios", "Ratios", how, spec, None))
    if comparison.parameters:
        rows = [
            [WORDS[parameter.name], *(value_text(parameter, x) for x in (parameter.a, parameter.b))]
            for parameter in comparison.parameters
        ]
        how = "Latency is the time of the smallest message; n½ is the size of half the rate."
        table = Table(["", names["A"], names["B"]], rows)
        sections.append(Section("message", "One message", how, None, table))
    how = "A few sizes of each pattern, from the models of both."
    table = Table([name for name, _ in titles(comparison)], rows_of(comparison))
    return [*sections, Section("patterns", "Patterns", how, None, table)]


def _chart(comparison: compare.MachineComparison) -> Any:
    """Ratios over sizes; None if no pattern has sizes."""
    rows: list[Row] = []
    ranks: set[int] = set()
    for pattern in comparison.patterns:
        for curve in pattern.curves if pattern.sized else ():
            ranks.add(curve.ranks)
            rows += _rows(pattern, curve, comparison)
    if not rows:
        return None
    order = [ranks_text(number) for number in sorted(ranks)]
    series = dict.fromkeys(row["series"] for row in rows)
    standard = labels(comparison)["A"]
    return ratio_chart(rows, series, "ranks", f"the time on {standard}", "pattern", order, False)


def _rows(
    pattern: compare.PatternRatio, curve: compare.RatioCurve, comparison: compare.MachineComparison
) -> list[Row]:
    names = labels(comparison)
    return [
        {
            **{"series": title(pattern), "kind": ranks_text(curve.ranks)},
            **{"bytes": place.size_bytes, "size": format_size(place.size_bytes)},
            **{"ratio": ratio, "low": ratio, "high": ratio},
            "interval": f"none ({names[who]} is faster)" if who else "none",
        }
        for place in curve.places
        for who in [compare.faster(place.a_s, place.b_s)]
        if (ratio := common.digits(place.ratio, 4)) is not None
    ]
