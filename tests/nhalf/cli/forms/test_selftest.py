"""`nhalf doctor --selftest`: a table or one JSON object, exit 1 when a promise is broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.cli.forms.selftest import WORDS, Request, command
from nhalf.experiment.selftest.selftest import PromisedFigure, SelfTest


@pytest.fixture
def result(monkeypatch: pytest.MonkeyPatch) -> SelfTest:
    """What the verb finds instead of simulating: one promise held, one broken."""
    known = dict.fromkeys([*WORDS, "time_to_accuracy_s", "samples_per_point"], 0.5)
    checks = [
        PromisedFigure("a", "first promise", 0.95, 0.93, 0.975, 7),
        PromisedFigure("b", "other", 0.5, 0, 0.1, 7),
    ]
    found = SelfTest(20, 1, checks, known)
    monkeypatch.setattr("nhalf.experiment.selftest.selftest.selftest", lambda runs, seed: found)
    return found


def test_a_broken_promise_exits_1(result: SelfTest, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(Request(runs=20)) == 1
    out = capsys.readouterr().out
    assert "first promise" in out
    assert "held" in out
    assert "broken" in out


def test_promises_held_exit_0(result: SelfTest, capsys: pytest.CaptureFixture[str]) -> None:
    result.checks.pop()
    assert command(Request(runs=20)) == 0
    assert "broken" not in capsys.readouterr().out


def test_json_is_one_object(result: SelfTest, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(Request(runs=20, json=True)) == 1
    written = json.loads(capsys.readouterr().out)
    assert written["held"] is False
    assert [check["held"] for check in written["checks"]] == [True, False]


def test_too_few_runs_are_an_input_error() -> None:
    with pytest.raises(InputError):
        command(Request(runs=1))


def test_nights_of_kept_runs_are_a_table_or_json(
    keep: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    kept_runs = (Path(keep("monday", launches=5)),)
    assert command(Request(kept_runs=kept_runs, runs=30)) == 0
    out = capsys.readouterr().out
    assert "at a tolerance of 10 %: their launches are drawn from those of the run" in out
    assert "3 of 3" in out
    assert command(Request(kept_runs=kept_runs, runs=30, json=True)) == 0
    rates = json.loads(capsys.readouterr().out)["rates"]
    assert [rate["launches"] for rate in rates] == [5, 12, 30]
    assert {(rate["alarms"], rate["first"]) for rate in rates} == {(0, 3)}


def test_kept_runs_are_compared_with_each_other(
    keep: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    kept_runs = tuple(Path(keep(name, launches=5)) for name in ("monday", "tuesday"))
    assert command(Request(kept_runs=kept_runs)) == 0
    assert "each of 2 runs against each other one, as they are" in capsys.readouterr().out


def test_a_damaged_run_among_them_is_skipped(
    keep: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    kept_runs = [Path(keep(name, launches=5)) for name in ("monday", "tuesday", "friday")]
    (kept_runs[1] / "measurements.parquet").write_bytes(b"PAR1 and nothing more")
    assert command(Request(kept_runs=tuple(kept_runs))) == InputError.exit_code
    printed = capsys.readouterr()
    assert "each of 2 runs against each other one" in printed.out
    assert printed.err.startswith("nhalf: skipped: ")
