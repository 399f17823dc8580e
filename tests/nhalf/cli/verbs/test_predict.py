"""`nhalf predict`: times, the fastest, tables, pages and formulas, and what is refused."""

from __future__ import annotations

import ctypes.util
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from nhalf.machines.algorithms import algorithms
from nhalf.mpi.decision_table import choice, read_table

Call = Callable[..., Any]
CELLS = ("--machine", "sp2-mpl", "--ranks", "4,8", "--bytes", "16,8192")


def said(done: Any) -> dict[str, Any]:
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_every_cell_is_told_to_programs(call: Call) -> None:
    found = said(call("predict", "bcast", *CELLS, "--json"))
    assert (found["pattern"], found["machine"], found["notes"]) == ("bcast", "sp2-mpl", [])
    names = {"native"} | {each.name for each in algorithms()["bcast"]}
    assert set(found["sources"]) == names
    assert len(found["rows"]) == 4 * len(names)
    time_s = {
        (row["algorithm"], row["ranks"], row["bytes"]): row["time_s"] for row in found["rows"]
    }
    # Abandah 1995: 3 messages of 16 bytes, one after the other.
    assert time_s["binomial", 8, 16] == pytest.approx(3 * (47 + 16 / 23.5) * 1e-6)
    assert len(found["best"]) == 4
    for cell in found["best"]:
        p, n = cell["ranks"], cell["bytes"]
        assert time_s[cell["algorithm"], p, n] == min(time_s[name, p, n] for name in names)
    (first, second) = found["crossovers"]
    assert first == {"ranks": 4, "bytes": 890, "before": "k-nomial", "after": "split-binary"}
    assert (second["ranks"], second["before"], second["after"]) == (8, "native", "split-binary")


def test_people_are_told_the_finding_first(call: Call) -> None:
    done = call("predict", "bcast", *CELLS)
    lines = [line for line in done.out.splitlines() if line.strip()]
    assert lines[0].startswith("bcast on sp2-mpl: fastest of 4 cells: split-binary in 2")
    assert lines[1].split() == ["ranks", "16", "B", "8", "KiB"]
    assert lines[-3] == "4 ranks: split-binary instead of k-nomial from 890 B"
    assert lines[-1] == "answered by: model"


def test_every_cell_has_its_runner_up_and_the_margin(call: Call) -> None:
    rows = said(call("predict", "bcast", *CELLS, "--json"))["rows"]
    out = call("predict", "bcast", *CELLS).out
    for ranks, size_bytes in {(row["ranks"], row["bytes"]) for row in rows}:
        here = [row for row in rows if (row["ranks"], row["bytes"]) == (ranks, size_bytes)]
        first, second = sorted(here, key=lambda row: (row["time_s"], row["algorithm"]))[:2]
        margin = (second["time_s"] / first["time_s"] - 1) * 100
        assert f"{second['algorithm']} +{margin:.0f} %" in out
    assert " +" not in call("predict", "bcast/chain", *CELLS).out, "nothing is second"


def test_csv_has_a_row_for_every_time(call: Call) -> None:
    lines = call("predict", "bcast", *CELLS, "--format", "csv").out.splitlines()
    rows = said(call("predict", "bcast", *CELLS, "--json"))["rows"]
    assert lines[0] == "algorithm,ranks,bytes,part_bytes,time_s,extrapolated"
    told = [line.split(",") for line in lines[1:]]
    assert [(one[0], float(one[4])) for one in told] == [
        (row["algorithm"], row["time_s"]) for row in rows
    ]


def test_one_algorithm_and_what_has_no_size(call: Call) -> None:
    found = said(call("predict", "bcast/chain", *CELLS, "--json"))
    assert {row["algorithm"] for row in found["rows"]} == {"chain"}
    assert found["crossovers"] == []
    found = said(call("predict", "barrier", *CELLS, "--json"))
    assert {row["bytes"] for row in found["rows"]} == {0}


def test_what_if(call: Call) -> None:
    words = ("predict", "bcast/binomial", *CELLS, "--json")
    usual = said(call(*words))["rows"]
    faster = said(call(*words, "--set", "network.latency=/2"))["rows"]
    assert all(b["time_s"] < a["time_s"] for a, b in zip(usual, faster, strict=True))


def test_the_choice_becomes_a_decision_table(call: Call, tmp_path: Path) -> None:
    best = said(call("predict", "bcast", *CELLS, "--out", "bcast.rules", "--json"))["best"]
    rules = read_table(tmp_path / "bcast.rules")
    assert rules
    for cell in best:
        assert choice(rules, "bcast", cell["ranks"], cell["bytes"]) == cell["algorithm"]
    words = ("--machine", "sp2-mpl", "--ranks", "32", "--bytes", "1M", "--out", "large.rules")
    assert call("predict", "bcast", *words).code == 0
    assert [rule.line for rule in read_table(tmp_path / "large.rules")] == [
        "bcast 32 32 1048576 inf chain 4096"
    ]
    assert "# predicted for sp2-mpl, not measured\n" in (tmp_path / "bcast.rules").read_text()


def test_the_page_holds_the_map_and_asks_nobody(call: Call, tmp_path: Path) -> None:
    done = call("predict", "bcast", *CELLS, "--report", "pages/bcast.html")
    assert done.code == 0, done.err
    assert [path.name for path in (tmp_path / "pages").iterdir()] == ["bcast.html"]
    page = (tmp_path / "pages" / "bcast.html").read_text(encoding="utf-8")
    assert "bcast on sp2-mpl" in page
    assert 'id="map"' in page
    assert "split-binary wins 2 of 4 cells" in page
    assert "Nothing here was measured" in page
    # Programs may hold addresses in their texts; the page itself may not ask for any.
    markup = re.sub(r"(<script[^>]*>).*?</script>", r"\1", page, flags=re.DOTALL)
    assert (
        re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=[\"'](?!data:|#)", markup) == []
    )
    assert re.findall(r"@import|url\((?![\"']?(?:data:|#))", markup) == []


def test_costs_are_printed_without_a_machine(call: Call) -> None:
    lines = call("predict", "bcast", "--formula", "text").out.splitlines()
    assert lines[0].startswith("# seconds of p ranks and n bytes")
    costs = dict(line.split(": ", 1) for line in lines[1:])
    assert list(costs) == [f"bcast/{each.name}" for each in algorithms()["bcast"]]
    assert costs["bcast/binomial"] == "⌈log₂ p⌉ T(n)"
    lines = call("predict", "bcast/binomial", "--formula", "latex").out.splitlines()
    assert lines[1:] == ["% bcast/binomial", r"\lceil \log_2 p \rceil\,T(n)"]
    found = said(call("predict", "bcast/linear", "--formula", "text", "--json"))
    costs = {"bcast/linear": "M(n, p − 2) + T(n)"}
    said_of = {"schema": "predict/1", "pattern": "bcast", "form": "text"}
    assert found == {**said_of, "costs": costs}


def test_the_functions_of_python_run(call: Call) -> None:
    done = call("predict", "bcast", "--formula", "python")
    assert done.code == 0, done.err
    names: dict[str, Any] = {}
    exec(done.out, names)
    # Four stages of 3 µs among 12 ranks.
    assert names["bcast_binomial"](12, 20000, T=lambda x: 3e-6) == pytest.approx(12e-6)
    assert "bcast_binary_pipelined" in names


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["bcast"], "on which machine?"),
        (["nonsense", "--machine", "sp2-mpl"], "sp2-mpl has no pattern 'nonsense'"),
        (["/nowhere/trace", "--machine", "sp2-mpl"], "/nowhere/trace is not a trace"),
        (["bcast/nonsense", "--machine", "sp2-mpl"], "unknown algorithm of bcast 'nonsense'"),
        (["bcast", "--machine", "nowhere"], "unknown machine 'nowhere'"),
        (["bcast", "--machine", "altix-bx2", "--bytes", "1G"], "above 4 MiB"),
        (
            ["bcast", "--machine", "sp2-mpl", "--ranks", "1024"],
            "room for 32 ranks",
        ),
        (["bcast", "--machine", "sp2-mpl", "--bytes", "64M"], "above 4 MiB"),
        (
            ["bcast", "--machine", "sp2-mpl", "--ranks", "0"],
            "the number of ranks cannot be '0'; give 1 or more",
        ),
        (["bcast", "--machine", "sp2-mpl", "--ranks", "many"], "'many' is not a list of ranks"),
        (["bcast", "--machine", "sp2-mpl", "--bytes", "big"], "'big' is not a size"),
        (["bcast", "--machine", "sp2-mpl", "--mpi", "nonsense"], "unknown library 'nonsense'"),
        (["bcast", "--machine", "sp2-mpl", "--set", "nonsense=2"], "unknown change 'nonsense'"),
        (["bcast", "--machine", "sp2-mpl", "--simulate", "some"], "'some' is not a share"),
        (["bcast", "--machine", "sp2-mpl", "--simulate", "0"], "0 of all cells"),
        (["bcast", "--machine", "sp2-mpl", "--simulate", "101%"], "101% of all cells"),
        (["bcast", "--formula", "word"], "unknown form 'word'"),
        (["pingpong", "--formula", "text"], "unknown operation with algorithms 'pingpong'"),
        (["bcast/nonsense", "--formula", "text"], "unknown algorithm of bcast 'nonsense'"),
        (["bcast", "--formula", "text", "--out", "rules"], "--formula gives no times"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_answered_is_one_line(words: Sequence[str], named: str, call: Call) -> None:
    call("predict", *words).is_error(2, named)


def test_what_was_not_measured_is_asked_for_explicitly(call: Call) -> None:
    words = ("predict", "bcast/binomial", "--machine", "altix-bx2", "--bytes", "1G", "--json")
    (row,) = said(call(*words, "--extrapolate"))["rows"]
    assert row["time_s"] > 0


def test_a_share_of_the_cells_is_simulated(call: Call) -> None:
    if ctypes.util.find_library("simgrid") is None:
        pytest.skip("SimGrid is not here: apt-get install libsimgrid-dev")
    words = ("predict", "bcast", "--machine", "sp2-mpl", "--ranks", "2,4", "--bytes", "16")
    found = said(call(*words, "--simulate", "20%", "--json"))
    assert set(found["sources"].values()) == {"composed, corrected by 20 % of the cells"}
    assert len(found["rows"]) == 2 * len(found["sources"])
    composed = said(call(*words, "--json"))
    corrected = {(r["algorithm"], r["ranks"]): r["time_s"] for r in found["rows"]}
    before = {(r["algorithm"], r["ranks"]): r["time_s"] for r in composed["rows"]}
    assert any(corrected[key] != pytest.approx(before[key], rel=1e-3) for key in before)


@pytest.mark.full
def test_simulated_cells_have_their_parts(call: Call) -> None:
    if ctypes.util.find_library("simgrid") is None:
        pytest.skip("SimGrid is not here: apt-get install libsimgrid-dev")
    words = ("predict", "bcast/chain", "--machine", "sp2-mpl", "--ranks", "4", "--bytes", "256,64K")

    def chain(*further: str) -> tuple[Any, Any]:
        small, large = said(call(*words, "--simulate", "100%", "--json", *further))["rows"]
        assert small["part_bytes"] is None
        return large["part_bytes"], large["time_s"]

    searched, given, usual = chain(), chain("--part", "2K"), chain("--part", "8K")
    assert (searched[0], given[0], usual[0]) == (4096, 2048, 8192)
    assert len({searched[1], given[1], usual[1]}) == 3
    assert searched[1] < usual[1], "the best by the models is better in the simulation, too"


def test_permutations_are_predicted_as_intervals(call: Call) -> None:
    found = said(call("predict", "traffic/cube", "--machine", "myrinet-gm", *CUBE, "--json"))
    (prediction,) = found["predictions"]
    assert (prediction["placement"], prediction["bytes"]) == ("8x2:cyclic", 10240)
    (row,) = prediction["rows"]
    assert (row["figure"], row["senders"], row["published_Bps"]) == ("cube on-node", 16, 3.6e9)
    low, high = row["rate_Bps_interval"]
    assert low < row["rate_Bps"] < high
    table = call("predict", "traffic", "--machine", "sunfire-link", "--ranks", "48")
    assert "sunfire-link, 2x24, all ranks send without pause, 10 KiB" in table.out
    assert "transpose" in table.out
    assert "• links to which messages come from several sides" in table.out


CUBE = ("--placement", "8x2:cyclic")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--placement", "cores"), "no layout"),
        (("--placement", "4x8", "--ranks", "16"), "32 ranks, not 16"),
        (("--placement", "4x8", "--simulate", "10%"), "no simulate"),
        (("--placement", "4x8", "--report", "page.html"), "no report"),
    ],
)
def test_what_permutations_do_not_have_is_refused(
    call: Call, options: Sequence[str], words: str
) -> None:
    done = call("predict", "traffic", "--machine", "sunfire-link", *options)
    assert done.code == 2
    assert words in done.err


def test_parts_are_named_and_may_be_given(call: Call) -> None:
    words = ("predict", "bcast/chain", "--machine", "sp2-mpl", "--ranks", "32", "--bytes", "16,1M")
    small, large = said(call(*words, "--json"))["rows"]
    assert small["part_bytes"] is None
    assert large["part_bytes"] == 4096
    assert "chain, parts of 4 KiB" in call(*words).out
    given = said(call(*words, "--part", "8K", "--json"))
    assert [cell["part_bytes"] for cell in given["best"]] == [None, 8192]
    assert given["rows"][1]["time_s"] > large["time_s"]
    recorded = said(call(*words, "--record", "--ledger", "lines.jsonl", "--json"))
    assert recorded["rows"] == given["rows"], "runs measure the usual size"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--part", "0"), "a part of 0 bytes"),
        (("--part", "x"), "is not a size"),
        (("--part", "4K", "--record"), "--record is for parts of 8192 bytes"),
        (("--part", "0", "--simulate", "20%"), "a part of 0 bytes"),
    ],
)
def test_parts_that_cannot_be_are_one_line(words: tuple[str, ...], named: str, call: Call) -> None:
    ended = call("predict", "bcast", *CELLS, *words)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert named in ended.err


def test_patterns_are_predicted_where_they_are_asked_for(call: Call) -> None:
    """Barriers of 4 ranks on the Sun Fire: 1.80 us on a node, 1156.05 us on several (Qian 2004)."""
    words = ("predict", "barrier", "--machine", "sunfire-link", "--ranks", "4")
    assert "native 1.16 ms" in call(*words).out, "the library's own beside the fastest"
    for placement, time_us in (("same-node", 1.80), ("other-node", 1156.05)):
        rows = said(call(*words, "--placement", placement, "--json"))["rows"]
        (own_s,) = [row["time_s"] for row in rows if row["algorithm"] == "native"]
        assert own_s == pytest.approx(time_us * 1e-6)
    for more in ((), ("--simulate", "20%"), ("--record",)):
        place = "elsewhere" if not more else "same-node"
        ended = call(*words, "--placement", place, *more)
        assert (ended.code, ended.err.count("\n")) == (2, 1)


def test_operations_in_a_memory_say_what_they_were_inferred_from(call: Call) -> None:
    words = ("predict", "reduce", "--machine", "x1-ssp", "--ranks", "32", "--bytes", "1M")
    found = said(call(*words, "--json"))
    assert found["sources"]["native"].startswith("in the shared memory, inferred: ")
    (note,) = found["notes"]
    assert "8.6 and 20 times as fast" in note
    own = next(row for row in found["rows"] if row["algorithm"] == "native")
    low, high = own["interval_s"]
    assert low < own["time_s"] < high < 1.2 * low
