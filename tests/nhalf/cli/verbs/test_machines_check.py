"""`nhalf machines check`: what its words mean, and its exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.machines import catalogue
from tests.nhalf.measure.virtual.programs import library_of
from tests.schemas import check_schema

Call = Callable[..., Any]
CHECK = ("machines", "check", "gige-pair", "--ranks", "2", "--bytes", "8,64K")


def test_model_and_library_agree_on_a_pair_of_nodes(call: Call) -> None:
    asked = (*CHECK, "--engine", "model,library", "--mpi", library_of("mpich").name)
    ended = call(*asked, "--json")
    assert ended.code == 0, ended.err
    check_schema(ended.out)
    answers = json.loads(ended.out)
    assert answers["compared"] > 20
    assert answers["unexplained"] == 0
    rows = {(row["pattern"], row["algorithm"], row["bytes"]): row for row in answers["cells"]}
    row = rows["bcast", "linear", 65536]
    assert row["library_s"] == pytest.approx(row["model_s"], rel=1e-4)
    ended = call(*asked)
    assert ended.code == 0, ended.err
    assert "agree within 2 %" in ended.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--engine", "modes"), "did you mean model"),
        (("--engine", "model"), "fewer than two engines"),
        (("--ranks", "64"), "no room for 64 ranks"),
        (("--bytes", "x"), "x"),
    ],
)
def test_wrong_words_are_told_in_a_line(words: tuple[str, str], message: str, call: Call) -> None:
    ended = call(*CHECK, *words)
    assert ended.code in (2, 3)
    assert message in ended.err
    assert ended.err.count("\n") == 1


def test_published_figures_are_asked_without_themselves(call: Call) -> None:
    asked = ("machines", "check", "poweredge-ib", "--published", "--engine", "model")
    ended = call(*asked, "--json")
    assert ended.code == 0, ended.err
    check_schema(ended.out)
    answers = json.loads(ended.out)
    assert answers["alarms"] == []
    rows = {row["figure"]: row for row in answers["figures"]}
    row = rows["ping-ping"]
    assert (row["published"], row["kind"]) == (0.5, "both ways")
    assert row["model"]["ratio"] == pytest.approx(1, abs=0.01)
    assert row["library"] is None
    ended = call(*asked)
    assert "4 of 4 published figures have answers without it; no doubts" in ended.out


def test_a_figure_that_does_not_fit_is_named(tmp_path: Path, call: Call) -> None:
    record = catalogue.path_of("poweredge-ib").read_text(encoding="utf-8")
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(record.replace("ratio = 0.5\n", "ratio = 5\n"), encoding="utf-8")
    asked = ("machines", "check", str(wrong), "--published", "--engine", "model")
    ended = call(*asked)
    assert ended.code == 1, ended.err
    assert "ping-ping: model has 0.1 times the published" in ended.out
    ended = call(*asked, "--json")
    check_schema(ended.out)
    (alarm,) = json.loads(ended.out)["alarms"]
    assert (alarm["figure"], alarm["engine"]) == ("ping-ping", "model")
