"""The verb export: which form, of what, to where."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.cli.verbs.export import Request, _subject, command
from nhalf.facts.facts import Facts
from tests.nhalf.present.report.test_page import stored


def test_the_form_is_printed_or_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command(Request(reframe=True))
    printed = capsys.readouterr().out
    assert "class NhalfCheck" in printed
    command(Request(to="reframe", reframe=True, out=tmp_path / "check.py"))
    assert (tmp_path / "check.py").read_text() == printed
    assert capsys.readouterr().out == f"reframe: {tmp_path / 'check.py'}\n"
    command(Request(to="reframe", json=True))
    answer = json.loads(capsys.readouterr().out)
    assert answer == {"to": "reframe", "out": None, "text": printed}


def test_forms_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    command(Request(list_=True, json=True))
    forms = json.loads(capsys.readouterr().out)["forms"]
    assert "reframe" in [form["name"] for form in forms]
    command(Request(list_=True))
    assert "a check for ReFrame" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "which format\\? name one with --to: .*reframe"),
        ({"to": "refame"}, "did you mean reframe"),
        ({"to": "goal", "reframe": True}, "are two formats"),
        ({"subject": Path("nowhere"), "reframe": True}, "is not a run directory"),
    ],
)
def test_what_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        command(Request(**options))


def test_one_library_of_a_run(tmp_path: Path, make_measurements: Callable[..., Any]) -> None:
    run = stored(tmp_path / "run", make_measurements(libraries=("a-1.0", "b"), sizes=(0, 8)))
    for named, libraries in ((f"{run.path}:a", {"a-1.0"}), (str(run.path), {"a-1.0", "b"})):
        found = _subject(Path(named), ())
        assert isinstance(found, Facts)
        assert set(found.summary["mpi"]) == libraries


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(MissingError, match="--out"):
        command(Request(reframe=True, out=tmp_path / "file" / "check.py"))


def link_bandwidth_Bps(platform: str) -> float:
    found = re.search(r'\bbw="(\d+)Bps"', platform)
    assert found
    return float(found[1])


def test_machines_are_found_by_name_and_changed(capsys: pytest.CaptureFixture[str]) -> None:
    command(Request(subject=Path("altix-bx2"), to="simgrid"))
    before_Bps = link_bandwidth_Bps(capsys.readouterr().out)
    command(Request(subject=Path("altix-bx2"), to="simgrid", set_=("network.bandwidth=2x",)))
    changed = capsys.readouterr().out
    assert "changed: network.bandwidth=2x" in changed
    assert link_bandwidth_Bps(changed) == 2 * before_Bps


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"to": "simgrid", "pattern": "ring"}, "simgrid has no --pattern"),
        ({"to": "simgrid", "size": "4K"}, "simgrid has no --bytes"),
        ({"reframe": True, "ranks": 4}, "reframe has no --ranks"),
        ({"reframe": True, "subject": Path("altix-bx2")}, "reframe needs measurements"),
        ({"to": "simgrid"}, "simgrid needs a run or a machine"),
        ({"to": "simgrid", "set_": ("node.ranks=2",)}, "--set needs a run or a machine"),
    ],
)
def test_what_does_not_go_together(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        command(Request(**options))
