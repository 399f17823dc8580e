"""`nhalf study`: the list, on machines of record, on runs, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import MissingError
from nhalf.cli.verbs import study
from nhalf.jobs.request import RunRequest
from nhalf.loops.livermore.keeping import keep
from nhalf.measure.loop.progress import Progress
from nhalf.measure.plan.planning import plan_of, site_of
from nhalf.store.run import Run
from nhalf.studies import catalogue
from tests.nhalf.cli.model_machine import LATENCY, MACHINE, T0_S, needs_probes
from tests.nhalf.measure.virtual.programs import library_of
from tests.nhalf.studies.test_node_numbers import table

Call = Callable[..., Any]

MINE = """
title = "Does a message cost what it should?"
source = "by hand"
machines = [["sp1-mpl"]]
measure = {title = "Messages", block = [{patterns = ["pingpong"], bytes = "0,1M"}]}

[[table]]
id = "times"
title = "Times"
column = [{title = "empty", value = {pattern = "pingpong"}}]

[[conclusion]]
id = "right"
claim = "An empty message is sooner there than on the SP1."
value = {pattern = "pingpong"}
over = {pattern = "pingpong", machine = "sp1-mpl"}
relation = "at most"
limit = 1

[[conclusion]]
id = "wrong"
claim = "It takes a second."
value = {pattern = "pingpong"}
limit = 1
"""


def test_the_list(call: Call) -> None:
    done = call("study")
    assert done.code == 0
    for name in catalogue.names():
        assert name in done.out
    rows = json.loads(call("study", "--json").out)["studies"]
    assert [row["name"] for row in rows] == catalogue.names()


def test_on_a_machine_of_record(call: Call) -> None:
    done = call("study", "sp2-1995", "--on", "sp2-mpl", "--json")
    assert done.code == 0, done.err
    answer = json.loads(done.out)
    assert (answer["study"], answer["machine"], answer["run"]) == ("sp2-1995", "sp2-mpl", None)
    by_id = {conclusion["id"]: conclusion for conclusion in answer["conclusions"]}
    later, bound = by_id["pvm-starts-later"], by_id["kernel-1-bound"]
    assert (later["verdict"], later["origin"], later["own"]) == ("read back", "read back", True)
    assert later["value"] == pytest.approx(104 / 47)
    assert (bound["verdict"], bound["origin"], bound["own"]) == ("holds", "predicted", False)
    assert (bound["place"], bool(bound["statement"])) == ("Table 5.2", True)
    assert {"own": False, "verdict": "holds", "origin": "predicted", "count": 2} in answer["counts"]
    assert sum(row["count"] for row in answer["counts"]) == len(answer["conclusions"])
    table = {table["id"]: table for table in answer["tables"]}["message-models"]
    ours, *published = table["rows"]
    assert ours["cells"][0]["value"] == pytest.approx(47e-6)
    assert {row["of"].split(",")[0] for row in published} >= {"sp1-mpl", "spp1000-pvm"}
    assert "nan" not in done.out.lower()


def test_people_see_tables_and_verdicts(call: Call) -> None:
    done = call("study", "sp2-1995", "--on", "sp2-mpl")
    assert done.code == 0, done.err
    assert "sp1-mpl, published" in done.out
    assert "formulas, and no measured times" in done.out
    document, own = done.out.split("\nConclusions of the document\n")[1].split("\nnhalf's own, ")
    assert (
        "Livermore kernel 1 is bound to 0.300 cycles per operation [sp2-mpl; Table 5.2]" in document
    )
    counts = "2 hold (2 predicted), 1 does not hold (1 published), 9 read back, 3 cannot be tested"
    assert f"{counts} on sp2-mpl" in document
    assert "A short message starts at more than twice the cost by PVM [sp2-mpl, sp2-pvme]" in own
    for word in ("inf ", "nan", "Traceback"):
        assert word not in done.out


@pytest.mark.sampled(2)
@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_conclusions_fit_the_terminal(
    call: Call, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    done = call("study", "sun-fire-2004", "--on", "poweredge-6650")
    conclusions = done.out.split("\nnhalf's own, of the document's numbers\n")[1]
    conclusions = conclusions.split(" on poweredge-6650\n")[0]
    assert max(map(len, conclusions.splitlines()[:-1])) <= width
    assert "…" not in conclusions
    flat = " ".join(conclusions.split())
    if width <= 120:
        assert "cannot be tested Between nodes a short message takes less than twice as" in flat
        assert "limit ≤ 2, published 1.79" in flat
    else:
        assert "verdict evidence number 95 % interval limit published conclusion" in flat


@pytest.mark.parametrize("machine", ["sp2-mpl", "mine"])
@pytest.mark.sampled(1)
def test_a_run_in_virtual_time_is_of_its_machine_of_record(
    call: Call, tmp_path: Path, machine: str
) -> None:
    keep(Run.create(tmp_path / "run", {"virtual": {"machine": machine}}), table(1.0))
    answer = json.loads(call("study", "sp2-1995", "--run", "run", "--json").out)
    assert answer["machine"] == ("sp2-mpl" if machine == "sp2-mpl" else None)
    rows = {row["id"]: row for row in answer["conclusions"]}
    elsewhere = rows["kernel-1-bound"]["reason"] == "it is about the processor of the SP2"
    assert elsewhere is (machine == "mine")


VIRTUAL = """
title = "What is a barrier on it?"
source = "by hand"
machines = [["altix-bx2"]]
cause = [{patterns = ["barrier"], why = "It is made of messages."}]

[measure]
title = "Messages and barriers"
budget = "1m"
transports = ["mpi", "tcp"]
block = [{patterns = ["pingpong", "barrier"], bytes = "0"}]

[[conclusion]]
id = "rounds"
claim = "A barrier of 4 takes two messages."
value = "barrier on 4 ranks"
over = "pingpong 0"
relation = "about"
limit = 2
drawn_on = ["altix-bx2"]

[[conclusion]]
id = "sooner"
claim = "A barrier of 4 takes less time than a message."
value = "barrier on 4 ranks"
over = "pingpong 0"
relation = "at most"
limit = 1
drawn_on = ["altix-bx2"]

[[conclusion]]
id = "message"
claim = "A message takes less than 2 us."
value = "pingpong 0"
relation = "at most"
limit = 2e-6
drawn_on = ["altix-bx2"]
"""


@needs_probes
@pytest.mark.slow
def test_a_study_in_virtual_time_on_a_machine_of_record(call: Call, tmp_path: Path) -> None:
    library = library_of("mpich").name
    (tmp_path / "mine.toml").write_text(VIRTUAL, "utf-8")
    words = ["--machine", "altix-bx2", "--mpi", library, "--out", "run", "--json"]
    done = call("study", "mine.toml", *words)
    assert done.code == 0, done.err
    answer = json.loads(done.out)
    assert answer["machine"] == "altix-bx2"
    rounds, sooner, message = answer["conclusions"]
    # Two rounds of 4 ranks, of 0 bytes each, on two nodes that are as far as ranks of one.
    assert rounds["value"] == pytest.approx(2)
    assert (rounds["verdict"], rounds["origin"], rounds["ranks"]) == ("holds", "virtual", 4)
    assert (sooner["verdict"], sooner["reason"]) == ("does not hold", "It is made of messages.")
    assert (message["verdict"], message["origin"]) == ("read back", "read back")
    again = json.loads(call("study", "mine.toml", "--run", "run", "--json").out)
    assert again["conclusions"] == answer["conclusions"]


def test_a_machine_is_not_compared_with_itself(call: Call) -> None:
    done = call("study", "sun-fire-2004", "--on", "myrinet-gm", "--json")
    answer = {row["id"]: row for row in json.loads(done.out)["conclusions"]}
    row = answer["off-node-before-myrinet"]
    assert row["verdict"] == "cannot be tested"
    assert row["reason"] == "myrinet-gm would be compared with itself"


def test_pages(call: Call, tmp_path: Path) -> None:
    done = call("study", "sp2-1995", "--on", "sp2-mpl", "--report", "--json")
    assert done.code == 0, done.err
    page = Path(json.loads(done.out)["page"])
    assert page == (tmp_path / "sp2-1995-sp2-mpl.html").resolve()
    assert "Verdicts" in page.read_text("utf-8")
    assert "page: " in call("study", "sp2-1995", "--on", "sp2-mpl", "--report").out
    assert json.loads(call("study", "sp2-1995", "--on", "sp2-mpl", "--json").out)["page"] is None


@pytest.mark.full
def test_the_page_of_all_studies(call: Call, tmp_path: Path) -> None:
    done = call("study", "--report", "--json")
    assert done.code == 0, done.err
    answer = json.loads(done.out)
    assert Path(answer["page"]) == (tmp_path / "published-studies.html").resolve()
    verdicts = {row["name"]: row["verdicts"] for row in answer["studies"]}
    assert verdicts["sp2-1995"]["sp2-mpl"]["pvm-starts-later"] == "read back"
    assert verdicts["pentium-pro-barriers"]["pentiumpro-ethernet"]["exchange-last"] == "holds"
    assert "Published studies on their machines" in Path(answer["page"]).read_text("utf-8")


def test_on_a_narrow_terminal_no_number_is_cut(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = call("study", "sp2-1995", "--on", "sp2-mpl")
    tables = done.out.split("Conclusions")[0]
    assert "…" not in tables
    for title in ("t0, 16 B", "n½, 1 MiB", "binary, parts", "spp1000-pvm, published"):
        assert title in tables
    assert max(map(len, tables.split("Messages, T")[1].splitlines())) <= 80


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["sp2"], "did you mean sp2-1995?"),
        (["sp2-1995", "--on", "sp3-mpl"], "sp2-mpl"),
        (["sp2-1995", "--on", "sp2-mpl", "--budget", "5m"], "--budget is for a measurement"),
        (["sp2-1995", "--on", "sp2-mpl", "--run", "r"], "two machines"),
        (["sp2-1995", "--on", "sp2-mpl", "--machine", "sp2-mpl"], "--machine is for a measurement"),
        (["sp2-1995", "--machine", "sp2-mpl", "--launches", "3"], "launches in virtual time"),
        (["sp2-1995", "--machine", "sp3-mpl"], "sp3-mpl"),
        (["sp2-1995", "--run", "nowhere"], "nowhere"),
        (["--on", "sp2-mpl"], "of which study?"),
        (["empty.toml"], "required field `title`"),
        (["wrong.toml"], "wrong.toml: right: unknown pattern 'pingpnog'"),
        (["near.toml"], "Invalid enum value 'near'"),
    ],
)
def test_what_is_refused(call: Call, tmp_path: Path, words: list[str], message: str) -> None:
    (tmp_path / "empty.toml").write_text("", "utf-8")
    (tmp_path / "wrong.toml").write_text(MINE.replace('pingpong", machine', 'pingpnog", machine'))
    near = MINE.replace(
        '{pattern = "pingpong"}\nover', '{pattern = "pingpong", placement = "near"}\nover'
    )
    (tmp_path / "near.toml").write_text(near, "utf-8")
    done = call("study", *words)
    assert done.code == 2
    assert message in done.err
    assert len(done.err.splitlines()) <= 2  # the error, and what to do


@needs_probes
def test_a_run_is_made_and_kept(call: Call, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(MINE, "utf-8")
    model = ["--transport", "model", "--model", MACHINE, "--launches", "2"]
    done = call("study", "mine.toml", *model, "--out", "run", "--report", "--json")
    assert done.code == 0, done.err
    answer = json.loads(done.out)
    assert (answer["machine"], Path(answer["run"]).name) == (None, "run")
    right, wrong = answer["conclusions"]
    assert (right["verdict"], wrong["verdict"]) == ("holds", "does not hold")
    assert right["value"] == pytest.approx(T0_S / 43e-6)
    assert (right["origin"], len(right["ci"])) == ("simulated", 2)
    assert T0_S > LATENCY
    assert (tmp_path / "run" / "report.html").exists()
    page = Path(answer["page"])
    assert page == (tmp_path / "run" / "study.html").resolve()
    assert '<a href="report.html">' in page.read_text("utf-8")
    page.unlink()
    again = call("study", "mine.toml", "--run", "run", "--json", "--report")
    assert page.exists()
    assert again.code == 0, again.err
    assert json.loads(again.out)["conclusions"] == answer["conclusions"]


def test_a_node_is_measured_in_a_run_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def brief(run: Run, progress: Progress) -> None:
        keep(run, table(1.0))

    monkeypatch.setattr("nhalf.loops.livermore.keeping.measure_brief", brief)
    run = Run.create(tmp_path / "run", {})
    assert study._node_runs(run) == []
    study._measure_node(run, Progress(quiet=True))
    (node,) = study._node_runs(run)
    assert node.path == run.path / "node"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["run.json", "measurements.parquet"])
def test_a_damaged_node_leaves_the_messages(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run.create(tmp_path / "run", {})
    keep(Run.create(run.path / "node", {}), table(1.0))
    file = run.path / "node" / name
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    assert study._node_runs(run) == []
    assert f"left out: the node: {file} is damaged" in capsys.readouterr().err


def test_a_node_that_cannot_be_measured_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def brief(run: Run, progress: Progress) -> None:
        raise MissingError("no compiler", "install one")

    monkeypatch.setattr("nhalf.loops.livermore.keeping.measure_brief", brief)
    run = Run.create(tmp_path / "run", {})
    study._measure_node(run, Progress(quiet=True))
    assert capsys.readouterr().err == "nhalf: not measured: the node: no compiler; install one\n"
    assert study._node_runs(run) == []


@needs_probes
def test_global_arrays_on_the_model_machine_have_messages_alone(call: Call) -> None:
    model = ["--transport", "model", "--model", MACHINE, "--launches", "2", "--budget", "20s"]
    done = call("study", "global-arrays", *model, "--out", "run", "--json")
    assert done.code == 0, done.err
    answer = json.loads(done.out)
    layers = {table["id"]: table for table in answer["tables"]}["layers"]
    cells = dict(zip(layers["columns"], layers["rows"][0]["cells"], strict=True))
    assert cells["MPI"]["value"] == pytest.approx(T0_S)
    assert cells["active message"]["value"] is None
    assert {conclusion["verdict"] for conclusion in answer["conclusions"]} == {"cannot be tested"}
    assert all(conclusion["reason"] for conclusion in answer["conclusions"])


@pytest.mark.parametrize("name", catalogue.names())
def test_one_library_is_measured_unless_others_are_named(name: str) -> None:
    path = str(catalogue.path_of(name))
    for given in (frozenset[str](), frozenset({"mpi"})):
        request = RunRequest(study=path, mpi="all", given=given)
        assert plan_of(request, site_of(request)).one_library is ("mpi" not in given)


NEAR = """
title = "Does a verdict near its limit repeat?"
source = "by hand"
machines = [["sp1-mpl"]]
measure = {title = "Messages", block = [{patterns = ["pingpong", "exchange"], bytes = "1M"}]}
"""


@pytest.mark.full
@needs_probes
def test_a_verdict_near_its_limit_does_not_turn_round(call: Call, tmp_path: Path) -> None:
    """On a noisy machine: either verdict may become open, none becomes its opposite."""
    limits = (0.5, 0.9, 0.97, 1, 1.03, 1.1, 2)
    conclusions = [
        f"""
[[conclusion]]
id = "{relation}-{limit}"
claim = "It is."
value = {{pattern = "exchange", bytes = "1M"}}
over = {{pattern = "pingpong", bytes = "1M"}}
relation = "{relation}"
limit = {limit}
"""
        for limit in limits
        for relation in ("at least", "at most")
    ]
    (tmp_path / "near.toml").write_text(NEAR + "".join(conclusions), "utf-8")
    verdicts: dict[str, list[str]] = {}
    for seed in range(1, 7):
        noise = f"{MACHINE},launch_noise=0.03,noise=0.02,seed={seed}"
        model = ["--transport", "model", "--model", noise, "--launches", "5"]
        done = call("study", "near.toml", *model, "--out", f"run{seed}", "--json")
        assert done.code == 0, done.err
        for row in json.loads(done.out)["conclusions"]:
            verdicts.setdefault(row["id"], []).append(row["verdict"])
    for name, given in verdicts.items():
        assert not {"holds", "does not hold"} <= set(given), name
    for relation in ("at least", "at most"):
        assert set(verdicts[f"{relation}-1"]) == {"cannot be tested"}
    assert set(verdicts["at least-0.5"]) == set(verdicts["at most-2"]) == {"holds"}
