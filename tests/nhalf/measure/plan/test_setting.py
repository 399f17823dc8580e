"""Settings: how they are written, and what a library under one is."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import Block, Plan, read_plan
from nhalf.measure.plan.setting import (
    Setting,
    check_settings,
    parse_setting,
    parse_settings,
    split_name,
)
from nhalf.measure.plan.state import RunState
from nhalf.measure.probe.subject import Subject
from nhalf.mpi import Library

HERE = Path("/opt/x")
LIBRARY = Library(
    "openmpi-5.0.11", "openmpi", "5.0.11", HERE, Path("/bin/true"), "openmpi", False, None,
    "prefix", {"LD_LIBRARY_PATH": "/opt/x/lib", "OMPI_MCA_btl": "^ofi"},
)  # fmt: skip
PATTERNS = [{"name": name, "present": True, "timing": "operation"} for name in ("bcast", "scan")]
PLAIN = Subject(
    "mpi", ("probe",), {"patterns": PATTERNS, "options": []}, LIBRARY, measures_library=True
)


def test_a_setting_is_a_name_and_variables() -> None:
    found = parse_settings(["flat: A=1 B='two words' C=", " deep :A=x=y"])
    assert found == [
        Setting("flat", {"A": "1", "B": "two words", "C": ""}),
        Setting("deep", {"A": "x=y"}),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A=1", "has no name"),
        ("", "has no name"),
        (": A=1", "no name of a setting"),
        ("a+b: A=1", "no name of a setting"),
        ("a,b: A=1", "no name of a setting"),
        ("a b: A=1", "no name of a setting"),
        ("x:", "sets nothing"),
        ("x: A", "no VAR=value"),
        ("x: =1", "no name of a variable"),
        ("x: 1A=1", "no name of a variable"),
        ("x: A=1 A=2", "stands twice"),
        ("x: A='1", "cannot be read"),
        ("x: LD_LIBRARY_PATH=/y", "may not set LD_LIBRARY_PATH"),
        ("x: A='1\n2'", "not one line"),
    ],
)
def test_what_is_not_written_so_is_one_clear_line(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        parse_settings([text])
    assert "\n" not in str(caught.value)


def test_a_name_is_given_once_for_each_library() -> None:
    with pytest.raises(InputError, match="given twice"):
        parse_settings(["x: A=1", "x: A=2"])
    check_settings([Setting("x", {"A": "1"}, "mpich-5.0.2"), Setting("x", {"B": "1"}, "openmpi-5")])


def test_a_library_under_a_setting_is_a_subject_of_its_own() -> None:
    subject = PLAIN.under(Setting("flat", {"OMPI_MCA_btl": "self", "X": "1"}))
    assert (subject.mpi, subject.key) == ("openmpi-5.0.11+flat",) * 2
    assert subject.title == f"{LIBRARY.title} + flat"
    _, variables = subject.launch(2, "free", "")
    assert variables["OMPI_MCA_btl"] == "self"
    assert variables["X"] == "1"
    assert variables["LD_LIBRARY_PATH"] == "/opt/x/lib"
    assert PLAIN.launch(2, "free", "")[1]["OMPI_MCA_btl"] == "^ofi"
    assert split_name(subject.mpi) == ("openmpi-5.0.11", "flat")
    assert split_name(PLAIN.mpi) == ("openmpi-5.0.11", "")


def test_a_block_may_be_for_some_settings_only() -> None:
    flat = PLAIN.under(Setting("flat", {"X": "1"}))
    blocks = [
        Block(["bcast"], [2], "8"),
        Block(["scan"], [2], "8", settings=["flat"]),
        Block(["scan"], [2], "64", settings=[""]),
    ]
    plan = Plan(["mpi"], [], blocks, 1, 0.0, 0.01, "", 1, 1.0)
    agenda = Agenda(plan, [PLAIN, flat], RunState())
    found = {
        (start.subject, point.pattern, point.size_bytes)
        for start in agenda.starts()
        for point in agenda.points(start)
    }
    assert found == {
        ("openmpi-5.0.11", "bcast", 8),
        ("openmpi-5.0.11+flat", "bcast", 8),
        ("openmpi-5.0.11+flat", "scan", 8),
        ("openmpi-5.0.11", "scan", 64),
    }


def test_settings_are_kept_in_the_plan() -> None:
    import msgspec

    settings = [Setting("flat", {"X": "1"}, "openmpi-5.0.11")]
    plan = Plan(
        ["mpi"], [], [Block(["x"], [2], "8", settings=["flat"])], 1, 0.0, 0.01, "", 1, 1.0,
        settings=settings,
    )  # fmt: skip
    assert read_plan(msgspec.to_builtins(plan)) == plan


SHMQ = Subject("shmq", ("probe",), {"patterns": PATTERNS, "options": [{"name": "polling"}]})


def test_options_of_a_transport_make_a_subject_of_its_own() -> None:
    directed = SHMQ.under(parse_setting("directed: shmq.polling=directed"))
    assert (directed.transport, directed.key) == ("shmq+directed", "shmq+directed")
    assert directed.title == "shmq + directed"
    command, _ = directed.launch(2, "free", "seed=1")
    assert command[command.index("--options") + 1] == "seed=1,polling=directed"


def test_a_setting_is_for_one_transport() -> None:
    with pytest.raises(InputError, match="more than one transport"):
        parse_settings(["both: shmq.polling=directed FI_PROVIDER=tcp"])
