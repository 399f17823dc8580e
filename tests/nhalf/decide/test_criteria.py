"""By what an algorithm is chosen: exact on a machine with one curve and measured fans."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.errors import InputError, UnknownName
from nhalf.decide.criteria import check_criterion, kept_ways
from nhalf.decide.predict import predict
from nhalf.machines import catalogue
from nhalf.machines.algorithms import algorithms
from nhalf.machines.message import Messages
from tests.nhalf.machines.test_parts import APART_S, ONE_S, PER_BYTE_S, loggp_machine
from tests.server import Ended

SIZE = 1000


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_messages_keep_both_ends_as_long_as_they_are_apart(ranks: int) -> None:
    ways = kept_ways("processors", "bcast", Messages(loggp_machine()), algorithms())
    kept_s = {way.algorithm: way.time_s(ranks, SIZE) for way in ways}
    apart_s = APART_S + SIZE * PER_BYTE_S
    for name in ("linear", "binomial", "chain"):
        assert kept_s[name] == pytest.approx(2 * (ranks - 1) * apart_s, rel=1e-6)
    assert kept_s["scatter-allgather"] > kept_s["linear"] or ranks == 2


@pytest.mark.parametrize(("algorithm", "sends"), [("linear", 7), ("binomial", 3), ("chain", 1)])
def test_a_root_is_free_when_its_last_message_left(algorithm: str, sends: int) -> None:
    """Messages follow each other at one distance, so that the first one's time is the same."""

    def root_s(name: str) -> float:
        of = loggp_machine()
        found = predict(f"bcast/{name}", of, [8], [SIZE], algorithms(), criterion="root")
        return float(found.time_s[0, 0, 0])

    further_s = root_s(algorithm) - root_s("chain")
    assert further_s == pytest.approx((sends - 1) * (APART_S + SIZE * PER_BYTE_S), abs=1e-10)
    assert 0 < root_s("chain") < ONE_S


def test_completion_is_what_a_prediction_is_by() -> None:
    machine = loggp_machine()
    known = predict("bcast", machine, [8], [SIZE], algorithms())
    assert known.as_json()["for"] == "completion"
    other = predict("bcast", machine, [8], [SIZE], algorithms(), criterion="root")
    assert (other.as_json()["for"], other.has_native) == ("root", False)
    assert "last message" in other.notes[0]


def test_what_has_no_such_time_is_refused() -> None:
    with pytest.raises(UnknownName, match="unknown criterion"):
        check_criterion("cost", "bcast")
    with pytest.raises(InputError, match="allreduce has no root"):
        check_criterion("root", "allreduce")
    messages = Messages(loggp_machine())
    with pytest.raises(InputError, match="messages of pingpong on exact are not followed"):
        kept_ways("processors", "pingpong", messages, algorithms())
    ethernet = Messages(catalogue.machine("pentiumpro-ethernet"))
    with pytest.raises(InputError, match="are not followed"):
        kept_ways("processors", "barrier", ethernet, algorithms())
    (linear, *_) = kept_ways("root", "bcast", messages, algorithms())
    with pytest.raises(InputError, match="too many messages to follow"):
        linear.time_s(600, 8)


def test_the_command_compares_by_what_it_is_told(
    call: Callable[..., Ended], tmp_path: Path
) -> None:
    words = ("predict", "bcast", "--machine", "sp2-mpl", "--ranks", "16", "--bytes", "64K", "--for")
    rows = {
        criterion: {row["algorithm"]: row["time_s"] for row in json.loads(
            call(*words, criterion, "--json").out
        )["rows"]}
        for criterion in ("root", "processors")
    }  # fmt: skip
    assert "native" not in rows["root"]
    assert rows["root"]["linear"] > 2 * rows["root"]["binomial"]
    assert rows["processors"]["linear"] == pytest.approx(rows["processors"]["binomial"])
    assert "root free first of 1 cell" in call(*words, "root").out
    table = tmp_path / "root.table"
    call(*words, "root", "--out", table)
    said = "# chosen by the time until the root is free: --for root"
    assert said in table.read_text().splitlines()
    call(*words, "completion", "--out", table)
    assert "--for" not in table.read_text()
    call(*words, "root", "--report", "page.html").is_error(2, "--report", "--for")
    call("predict", "traffic", "--machine", "sp2-mpl", "--for", "root").is_error(2, "leave it out")
