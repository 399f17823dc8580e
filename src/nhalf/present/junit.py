"""A check as JUnit XML for Jenkins and GitLab: an expectation is a test case.

The form is that of the Ant task's schema, the strictest in use: all attributes, and properties,
system-out and system-err even if they are empty.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import partial
from typing import Any
from xml.etree import ElementTree as xml

from nhalf.base.dates import date_of
from nhalf.base.numbers import MISSING, span
from nhalf.decide.check.verdict import (
    CheckedRun,
    JudgedExpectation,
    PointVerdict,
    format_bounds,
    format_excess,
    format_place,
    format_value,
)

POINTS_LISTED_MAX = 20
BASELINE_RATIO = "ratio to the baseline"
LONGEST_S = 1e9
"""No run measures for longer than 30 years: its clock was set in between."""
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(
    check: CheckedRun, *, name: str, host: str, started_s: float, time_s: float, strict: bool
) -> bytes:
    """The document. `name` identifies the expectations: results of many runs line up under it.

    `started_s` is when measuring began, in seconds since 1970, `time_s` how long it took; with
        `strict` an unclear answer is a failure; otherwise it is skipped, unless it has been
        unclear for too many runs in a row.
    """
    failures = sum(check.fails(answer, strict) for answer in check.answers)
    skipped = sum(
        answer.verdict == "unclear" and not check.fails(answer, strict) for answer in check.answers
    )
    counts = {"tests": len(check.answers), "failures": failures, "errors": 0, "skipped": skipped}
    began = date_of(started_s, UTC) or datetime.fromtimestamp(0, UTC)
    time_s = time_s if 0 <= time_s < LONGEST_S else 0.0
    suites = xml.Element("testsuites")
    suite = _child(suites, "testsuite", name=name, package="nhalf", id=0, **counts)
    suite.attrib |= {
        "time": f"{time_s:.3f}",
        "timestamp": f"{began:%Y-%m-%dT%H:%M:%S}",
        "hostname": host or "localhost",
    }
    _child(suite, "properties")
    for answer in check.answers:
        is_baseline = check.kind == "baseline" and answer.metric == "time"
        _add_case(suite, name, answer, check.fails(answer, strict), is_baseline)
    _child(suite, "system-out").text = _clean("\n".join(check.notes))
    _child(suite, "system-err")
    xml.indent(suites)
    return bytes(xml.tostring(suites, encoding="utf-8", xml_declaration=True)) + b"\n"


def _add_case(
    suite: xml.Element, name: str, answer: JudgedExpectation, fails: bool, is_baseline: bool
) -> None:
    """One expectation, or one curve of a baseline, with a failure or a skip if it is not met."""
    case = _child(suite, "testcase", classname=f"nhalf.{name}", name=answer.name, time="0.000")
    if answer.verdict == "met":
        return
    verdict = "slower" if is_baseline and answer.verdict == "missed" else answer.verdict
    in_words = partial(sentence, quantity=BASELINE_RATIO if is_baseline else "")
    in_a_row = f" for {answer.unclear_runs} runs in a row" if answer.unclear_runs > 1 else ""
    message = f"{verdict}{in_a_row}: {in_words(answer.worst_point)}"
    if answer.source:
        message += f" (promised by {answer.source})"
    if not fails:
        _child(case, "skipped", message=message)
        return
    failure = _child(case, "failure", message=message, type=answer.verdict)
    wrong = [point for point in answer.points if point.verdict == answer.verdict]
    lines = [in_words(point) for point in wrong[:POINTS_LISTED_MAX]]
    if len(wrong) > POINTS_LISTED_MAX:
        lines.append(f"and {len(wrong) - POINTS_LISTED_MAX} more")
    failure.text = _clean("\n".join(lines))


def sentence(point: PointVerdict, quantity: str = "") -> str:
    """A point in a line: its place, the expected and the measured value, and the deviation.

    `quantity` names what has no unit.
    """
    parts = []
    if point.bounds.low > 0 or point.bounds.high < float("inf"):
        subject = "" if point.unit else f"{quantity} "
        parts.append(f"expected {subject.lstrip()}{format_bounds(point.bounds, point.unit)}")
    if point.measured is not None:
        measured = point.measured
        interval = span(measured.low, measured.high, lambda end: format_value(end, point.unit))
        text = f"measured {format_value(measured.median, point.unit)}"
        parts.append(text if interval == MISSING else f"{text} ({interval})")
    parts += [format_excess(point), point.reason]
    where = format_place(point.point)
    description = ", ".join(part for part in parts if part)
    return f"{where}: {description}" if where else description


def _child(parent: xml.Element, tag: str, **attributes: Any) -> xml.Element:
    clean = {name: _clean(str(value)) for name, value in attributes.items()}
    return xml.SubElement(parent, tag, clean)


def _clean(text: str) -> str:
    """The text without characters that XML cannot hold, even if escaped."""
    return _NOT_XML.sub("�", text)
