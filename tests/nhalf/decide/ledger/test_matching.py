"""Predictions beside what was measured later, on the model machine."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from nhalf.decide.ledger.lines import KINDS, Ledger, Predicted, append_lines, read_ledger
from nhalf.decide.ledger.matching import is_over_nodes, program_cell, scores_of_trace
from nhalf.facts.program.program import Program
from nhalf.store.run import DESCRIPTION
from tests.nhalf.decide.ledger.cells import NOON, predicted, scored
from tests.nhalf.decide.program.known_programs import ping_pong
from tests.nhalf.traced_programs import stored
from tests.server import Ended

Call = Callable[..., Ended]
MEASURED = ("--transport", "model", "--pattern", "pingpong,bcast", "--ranks", "2,4", "--quiet")


def later(run: Path, **shift: float) -> None:
    """Let a run have begun later."""
    file = run / DESCRIPTION
    content = json.loads(file.read_text())
    began = datetime.fromisoformat(content["created"]) + timedelta(**shift)
    file.write_text(json.dumps({**content, "created": began.isoformat()}))


def test_what_was_predicted_is_compared_with_what_was_measured_later(
    tmp_path: Path, call: Call
) -> None:
    first, second, ledger = tmp_path / "first", tmp_path / "second", tmp_path / "ledger.jsonl"
    sizes = ("--bytes", "0,8,64,512,1K,8K,64K,256K")
    algorithms = ("--algorithm", "native,binomial,linear")
    assert call("run", *MEASURED, *sizes, *algorithms[:1], "binomial", "--out", first).code == 0
    words = ("predict", "bcast", "--machine", first, "--ranks", "2,4", *sizes)
    told = call(*words, "--record", "--ledger", ledger)
    assert (told.code, told.err) == (0, "")
    recorded = read_ledger(ledger).predictions
    kinds = {(line.cell.algorithm, line.kind) for line in recorded}
    assert {("binomial", "model"), ("linear", "composed")} <= kinds
    # Half as fast as what was predicted from.
    slower = ("--model", "L=12e-6,o_s=2e-6,o_r=2e-6,G=2e-10,g=2e-6")
    assert call("run", *MEASURED, *slower, *sizes, *algorithms, "--out", second).code == 0
    call("predict", "--score", first, "--ledger", ledger)
    assert read_ledger(ledger).scores == ()  # it was measured before
    later(second, hours=1)
    told = call("predict", "--score", second, "--ledger", ledger, "--json")
    assert told.code == 0, told.err
    found = json.loads(told.out)
    rows = {row["kind"]: row for row in found["kinds"]}
    assert rows["model"]["matched"] == 16
    assert rows["composed"]["matched"] == 16
    assert rows["model"]["bias_ratio"] > 1.5
    cells = {(cell["algorithm"], cell["ranks"], cell["size_bytes"]) for cell in found["cells"]}
    assert ("linear", 4, 65536) in cells
    assert len(read_ledger(ledger).scores) == found["compared"]
    again = json.loads(call("predict", "--score", second, "--ledger", ledger, "--json").out)
    assert (again["compared"], again["kinds"]) == (0, found["kinds"])
    out = call("predict", "--score", "--ledger", ledger).out
    assert "furthest off: bcast/" in out
    assert "below 20 measured cells, intervals stay as they are: model, composed" in out


def test_recording_never_makes_a_prediction_fail(tmp_path: Path, call: Call) -> None:
    words = ("predict", "bcast", "--machine", "sp2-mpl", "--ranks", "4", "--bytes", "8")
    expected = call(*words).out
    told = call(*words, "--record", "--ledger", tmp_path)
    assert (told.code, told.out) == (0, expected)
    assert told.err.startswith("not recorded: the ledger")
    assert not list(tmp_path.iterdir())
    data = {"XDG_DATA_HOME": str(tmp_path / "data")}
    told = call(*words, "--record", **data)
    assert (told.code, told.err, told.out) == (0, "", expected)
    found = json.loads(call("predict", "--score", "--json", **data).out)
    assert [row["kind"] for row in found["kinds"]] == ["model", "composed"]
    call(*words, "--record", "--set", "network.bandwidth=2x").is_error(2, "as they are")


def test_an_empty_ledger_says_how_to_record(tmp_path: Path, call: Call) -> None:
    ended = call("predict", "--score", XDG_DATA_HOME=str(tmp_path))
    assert (ended.code, ended.err) == (0, "")
    assert "record some: nhalf predict ... --record" in ended.out
    ended = call("predict", "--score", "--json", XDG_DATA_HOME=str(tmp_path))
    assert (ended.code, json.loads(ended.out)["kinds"]) == (0, [])
    call("predict", "--score", "--ledger", tmp_path / "none").is_error(
        3, "none holds no prediction"
    )


def test_later_predictions_widen_by_the_ledger(tmp_path: Path, call: Call) -> None:
    ledger = tmp_path / "ledger.jsonl"
    append_lines(ledger, [scored(3.0, 1.5, n, kind) for n in range(20) for kind in KINDS])
    stretch = math.log(3.0) / math.log(1.5)
    words = ("predict", "beff", "--machine", "opteron-myrinet", "--ranks", "8", "--json")
    narrow, wide = (
        json.loads(call(*words, *more).out)["predictions"][0] for more in ((), ("--ledger", ledger))
    )
    row, widened = narrow["rows"][0], wide["rows"][0]
    low, high = row["rate_Bps_interval"]
    middle = row["rate_Bps"]
    assert widened["rate_Bps_interval"] == pytest.approx(
        [middle * (low / middle) ** stretch, middle * (high / middle) ** stretch]
    )
    assert widened["rate_Bps"] is None or high / middle < 3 ** (1 / stretch)
    assert "widen the interval 2.71-fold" in wide["notes"][0]
    run = stored(ping_pong(5, 1000, 0.01), tmp_path / "run")
    words = ("predict", run, "--machine", "sp2-mpl", "--computing-factor", "1", "--json")
    alone, calibrated = (json.loads(call(*words, *more).out) for more in ((), ("--ledger", ledger)))
    assert calibrated["high_s"] / alone["high_s"] >= 1
    assert "program predictions" in calibrated["calibration"]
    words = ("predict", "bcast", "--machine", "sp2-mpl", "--ranks", "4", "--bytes", "8", "--json")
    found = json.loads(call(*words, "--ledger", ledger).out)
    for cell in found["rows"]:  # without its own interval, the errors are one
        time_s = cell["time_s"]
        assert cell["interval_s"] == pytest.approx([time_s / 3, time_s * 3])
    assert all(cell["interval_s"] is None for cell in json.loads(call(*words).out)["rows"])


def test_the_last_prediction_before_a_trace_counts_for_it() -> None:
    program = ping_pong(5, 1000)
    program.trace.start_s = NOON.timestamp()
    cell = program_cell(program)
    lines = [
        Predicted(at=NOON + timedelta(hours=hours), kind="program", cell=cell, value=value)
        for hours, value in ((-2, 1.0), (-1, program.elapsed_s / 2), (1, 3.0))
    ]
    (score,) = scores_of_trace(Ledger(tuple(lines)), program)
    assert score.measured_ratio == pytest.approx(2)
    assert score.end_ratio is None
    with_ends = replace_ends(lines[1], program.elapsed_s / 4, program.elapsed_s * 1.5)
    (score,) = scores_of_trace(Ledger((with_ends,)), program)
    assert score.end_ratio == pytest.approx(3)
    assert score.is_inside
    assert scores_of_trace(Ledger((with_ends,), (score,)), program) == []
    elsewhere = Program(
        program.path, program.trace, program.calls, program.bins, program.timeline,
        program.communicators,
    )  # fmt: skip
    assert scores_of_trace(Ledger((predicted(),)), elsewhere) == []


def replace_ends(line: Predicted, low: float, high: float) -> Predicted:
    return msgspec.structs.replace(line, low=low, high=high)


@pytest.mark.parametrize(
    ("placement", "over"),
    [("cores", False), ("other-node", True), ("4x2", True), ("1x8", False), ("same-node", False)],
)
def test_placements_over_nodes(placement: str, over: bool) -> None:
    assert is_over_nodes(placement) == over
