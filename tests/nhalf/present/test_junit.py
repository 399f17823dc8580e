"""JUnit XML: read back by a parser, and judged by the schema of the Ant task where it is here."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path
from xml.etree import ElementTree as xml

import pytest

from nhalf.decide.check.verdict import Bounds, CheckedRun, JudgedExpectation, PointVerdict, judge
from nhalf.present.junit import junit
from nhalf.statistics.intervals import Interval
from tests.patience import patience_s

ROOT = Path(__file__).resolve().parents[3]
REFRAME = ROOT / "build" / "reframe"
NASTY = 'a<b & "c" \x00\x1b[31m\ud800 ]]> µ 漢'

VALIDATE = """
import sys, pathlib, reframe
from lxml import etree
schema = etree.XMLSchema(etree.parse(pathlib.Path(reframe.__file__).parent / "schemas/junit.xsd"))
schema.assertValid(etree.parse(sys.argv[1]))
"""


def answer(name: str, value: float, low: float, high: float, source: str = "") -> JudgedExpectation:
    point = {"pattern": NASTY, "mpi": "mpich", "ranks": 2, "bytes": 0}
    judged = judge(point, "s", Bounds(high=3.0), Interval(value, low, high))
    return JudgedExpectation(name, "time", (judged,), source)


def document(strict: bool = False, check: CheckedRun | None = None) -> xml.Element:
    return xml.fromstring(written(strict, check))


def written(strict: bool = False, check: CheckedRun | None = None) -> bytes:
    if check is None:
        absent = PointVerdict({"bytes": 8}, "s", Bounds(high=3.0), None, "not measured", "not here")
        many = tuple(
            judge({"bytes": i}, "s", Bounds(high=3.0), Interval(4.0, 4.0, 4.0)) for i in range(50)
        )
        answers = (
            answer("good", 1.0, 1.0, 1.0),
            answer(NASTY, 4.0, 3.5, 4.5, source=NASTY),
            answer("open", 3.0, 2.0, 4.0),
            JudgedExpectation("absent", "time", (absent,)),
            JudgedExpectation("many", "time", many),
        )
        check = CheckedRun("expectations", 0.95, answers, notes=(NASTY,))
    return junit(check, name="promise", host="", started_s=1.7e9, time_s=1e-7, strict=strict)


def test_the_counts_and_the_cases_agree() -> None:
    suite = document().find("testsuite")
    assert suite is not None
    expected = {"tests": "5", "failures": "3", "errors": "0", "skipped": "1", "time": "0.000"}
    assert expected.items() <= suite.attrib.items()
    assert suite.attrib["timestamp"] == "2023-11-14T22:13:20"
    assert suite.attrib["hostname"] == "localhost"
    cases = {case.attrib["name"]: case for case in suite.iter("testcase")}
    assert {case.attrib["classname"] for case in cases.values()} == {"nhalf.promise"}
    assert list(cases["good"]) == []
    assert [child.tag for child in cases["open"]] == ["skipped"]
    failure = cases["absent"].find("failure")
    assert failure is not None
    assert failure.attrib["type"] == "not measured"
    assert "not here" in failure.attrib["message"]


def test_strictly_what_is_open_fails() -> None:
    suite = document(strict=True).find("testsuite")
    assert suite is not None
    assert (suite.attrib["failures"], suite.attrib["skipped"]) == ("4", "0")


def test_a_failure_says_what_was_promised_measured_and_by_how_much() -> None:
    failure = document().findall(".//failure")[0]
    said = failure.attrib["message"]
    for part in ("missed: ", "0 B: expected ≤ 3 s, measured 4 s (3.5 s to 4.5 s), 33 % too slow"):
        assert part in said
    assert said.endswith('(promised by a<b & "c" ��[31m� ]]> µ 漢)')


def test_many_points_are_cut() -> None:
    text = document().findall(".//failure")[-1].text or ""
    assert text.splitlines()[-1] == "and 30 more"
    assert len(text.splitlines()) == 21


def test_nothing_asked_is_a_document_too() -> None:
    suite = document(check=CheckedRun("baseline", 0.95, ())).find("testsuite")
    assert suite is not None
    assert suite.attrib["tests"] == "0"


@pytest.mark.parametrize("strict", [False, True])
def test_it_is_valid(tmp_path: Path, strict: bool) -> None:
    python = REFRAME / "bin" / "python"
    if not python.exists():
        pytest.skip("ReFrame, which brings the schema, is missing: run `make test-setup`")
    path = tmp_path / "junit.xml"
    path.write_bytes(written(strict))
    done = subprocess.run(
        [python, "-c", VALIDATE, path],
        capture_output=True,
        text=True,
        check=False,
        timeout=patience_s(60),
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("moment_s", [1e300, -1e300, math.nan])
def test_a_clock_that_was_wrong_leaves_valid_times(moment_s: float) -> None:
    check = CheckedRun("expectations", 0.95, (answer("good", 1.0, 1.0, 1.0),))
    content = junit(check, name="p", host="", started_s=moment_s, time_s=moment_s, strict=False)
    suite = xml.fromstring(content).find("testsuite")
    assert suite is not None
    assert (suite.attrib["timestamp"], suite.attrib["time"]) == ("1970-01-01T00:00:00", "0.000")
