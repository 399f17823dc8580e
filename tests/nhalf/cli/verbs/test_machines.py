"""Machines of record and machine files on the screen and as JSON: they look alike."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.__main__ import main
from nhalf.machines import catalogue
from nhalf.machines.machine import FittedModel, Machine, Network, Node, Segment
from nhalf.machines.machine_file import write
from nhalf.machines.topology import Crossbar, Torus
from nhalf.present.terminal.machine_list import message_cost, short
from tests.schemas import check_schema

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def nhalf(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["nhalf", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        output = capsys.readouterr()
        return int(stop.value.code or 0), output.out, output.err

    return call


def measured(**changes: object) -> Machine:
    segment = Segment(
        from_bytes=0,
        to_bytes=1024,
        t0_s=2e-6,
        t0_ci=(1.9e-6, 2.1e-6),
        r_inf_Bps=1e9,
        r_inf_ci=(9e8, 1.1e9),
    )
    models = tuple(
        FittedModel(
            transport="mpi",
            mpi=mpi,
            pattern="pingpong",
            ranks=2,
            placement=placement,
            segments=(segment,),
        )
        for mpi in ("mpich-5", "openmpi-5")
        for placement in ("same-node", "other-node")
    )
    given = {"name": "node1", "source": "measured [here]", "models": models, **changes}
    return Machine(**given)


def test_records_and_files_stand_in_one_table(nhalf: Call, tmp_path: Path) -> None:
    network = Network(topology=Crossbar())
    write(measured(node=Node(ranks=4), network=network), tmp_path / "mine.toml")
    write(Machine(name="bare"), tmp_path / "bare.toml")
    code, out, err = nhalf("machines", "list", tmp_path)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    words = [" ".join(line.split()) for line in lines]
    assert "sp2-mpl 1995 IBM SP2, MPL 32 × 1 multistage 47 µs 36.2 MB/s" in words
    assert "node1 here measured [here] – crossbar 2 µs 1 GB/s" in words
    assert "bare here – – – –" in words
    assert f"node1  {tmp_path / 'mine.toml'}" in lines
    assert max(map(len, lines[: len(catalogue.names()) + 4])) <= 100


def test_the_list_as_json(nhalf: Call, tmp_path: Path) -> None:
    write(measured(), tmp_path / "mine.toml")
    code, out, _ = nhalf("machines", "list", tmp_path, "--json")
    assert code == 0
    rows = {row["name"]: row for row in json.loads(out)["machines"]}
    assert set(rows) == {*catalogue.names(), "node1"}
    record = rows["altix-bx2"]
    assert (record["record"], record["year"], record["nodes"]) == (True, 2005, 256)
    assert record["ranks_per_node"] == 2
    assert record["latency_s"] == pytest.approx(1.25e-6)
    assert record["bandwidth_Bps"] == pytest.approx(1264e6)
    assert (record["latency_s_range"], record["bandwidth_Bps_range"]) == (None, None)
    dell = rows["poweredge-ib"]
    for name in ("latency_s", "bandwidth_Bps"):
        low, high = dell[f"{name}_range"]
        assert dell[name] == pytest.approx((low * high) ** 0.5, rel=1e-3)
    assert record["topology"]["kind"] == "fat-tree"
    assert (record["models"], record["points"]) == (6, 20)
    mine = rows["node1"]
    assert (mine["record"], mine["year"], mine["nodes"]) == (False, None, None)
    assert mine["file"] == str(tmp_path / "mine.toml")


def test_records_are_listed_once_where_they_are(nhalf: Call) -> None:
    _, out, _ = nhalf("machines", "list", catalogue.FOLDER, "--json")
    assert len(json.loads(out)["machines"]) == len(catalogue.names())


def test_cost_of_a_message_is_that_between_nodes() -> None:
    assert message_cost(catalogue.machine("sunfire-link")) == pytest.approx((5e-6, 659.5e6))
    assert message_cost(catalogue.machine("spp1000-pvm")) == pytest.approx((74e-6, 9.39e6))
    assert all(math.isnan(value) for value in message_cost(Machine(name="bare")))


def test_networks_fit_their_column() -> None:
    kinds = {short(catalogue.machine(name).network.topology) for name in catalogue.names()}
    assert kinds == {
        *("multistage", "crossbar", "shared memory", "4 x 4 torus", "fat tree", "direct")
    }
    assert short(Torus((8, 8, 8))) == "8 x 8 x 8 torus"


@pytest.mark.parametrize("name", catalogue.names())
def test_every_record_is_shown_whole(name: str, nhalf: Call) -> None:
    machine = catalogue.machine(name)
    code, out, err = nhalf("machines", "show", name)
    assert (code, err) == (0, "")
    words = " ".join(out.split())
    for text in (machine.title, machine.source, *machine.unknown, *machine.assumptions):
        assert text in words
    for name_, text in machine.environment.items():
        assert f"{name_}: {text}" in words
    for part in (*machine.models, *machine.patterns, *machine.points):
        assert part.pattern in words
        assert part.source.split(":")[0] in words
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 100


def test_formulas_are_shown_as_they_were_published(nhalf: Call) -> None:
    _, out, _ = nhalf("machines", "show", "sp1-mpl")
    words = " ".join(out.split())
    assert "bcast > 4 KiB > 1 48 p + 1.2 p² 139 ⌊log₂p⌋ − 20 ⌊log₂p⌋² + 115" in words
    assert "allreduce¹ 0 B – 216 B > 1 82 ⌊log₂p⌋ + 9.5 400 ⌊log₂p⌋" in words
    assert "¹ combine: sum of doubles, the result on every rank" in words
    _, out, _ = nhalf("machines", "show", "spp1000-pvm")
    words = " ".join(out.split())
    assert "64 KiB – 4 MiB 0 ns 9.39 MB/s – -7.78 µs" in words
    assert "many-to-many same-node all 2 – 4 85 (p − 2) + 100 100 (p − 1)" in words
    _, out, _ = nhalf("machines", "show", "sunfire-link")
    assert "barrier 8 other-node 1355.17" in " ".join(out.split())


def test_every_note_has_its_own_mark_and_no_rate_is_infinite(nhalf: Call) -> None:
    _, out, _ = nhalf("machines", "show", "sunfire-link")
    notes = [
        line.split()[0] for line in out.splitlines() if line.strip() and line[0] in "¹²³⁴⁵⁶⁷⁸⁹"
    ]
    assert len(notes) > 9
    assert notes[8:11] == ["⁹", "¹⁰", "¹¹"][: len(notes) - 8]
    assert "∞" not in out.replace("r∞", "")
    _, out, _ = nhalf("machines", "show", "opteron-myrinet")
    assert "below 0" not in out
    assert "-51.6 µs" not in out


def test_the_list_marks_what_was_not_published(nhalf: Call) -> None:
    _, out, _ = nhalf("machines", "list")
    lines = {line.split()[0]: line for line in out.splitlines() if line.split()}
    assert lines["poweredge-ib"].split()[-4:] == ["~6.53", "µs", "~579", "MB/s"]
    assert lines["x1-ssp"].split()[-4:] == ["10.4", "µs", "~3.05", "GB/s"]
    assert "~ poweredge-ib: no rate is published; it is 399 MB/s to 841 MB/s" in out
    assert "~ opteron-myrinet: no latency is published; it is 3.5 µs to 6.7 µs" in out


def test_a_measured_machine_is_shown_with_its_intervals(nhalf: Call, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    write(measured(), path)
    code, out, _ = nhalf("machines", "show", path)
    assert code == 0
    for words in ("source: measured [here]", "1.9 µs – 2.1 µs", "900 MB/s – 1.1 GB/s", "openmpi-5"):
        assert words in out
    assert "Not published" not in out


def test_all_of_a_machine_is_json(nhalf: Call) -> None:
    code, out, _ = nhalf("machines", "show", "altix-bx2", "--json")
    assert code == 0
    shown = json.loads(out)
    assert shown["machine"].endswith("altix-bx2.toml")
    assert shown["network"]["topology"] == {
        **{"kind": "fat-tree", "down": [8, 32], "up": [1, 16], "cables": [1, 1]},
        **{"uplinks": 4, "route": "switch"},
    }
    assert shown["models"][1]["axes"] == {"distance": "2"}
    assert shown["models"][1]["segments"][0]["t0_s_ci"] is None
    assert len(shown["assumptions"]) == len(catalogue.machine("altix-bx2").assumptions)
    _, out, _ = nhalf("machines", "show", "spp1000-pvm", "--json")
    assert json.loads(out)["models"][0]["segments"][2]["root_s"] == -7.78e-6
    _, out, _ = nhalf("machines", "show", "sp2-mpl", "--json")
    barrier = json.loads(out)["patterns"][-1]
    assert (barrier["pattern"], barrier["startup_s"]) == ("barrier", {"log2(p)": 84e-6})


def test_show_takes_machines_and_narrows_them(nhalf: Call, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    write(measured(), path)
    _, whole, _ = nhalf("machines", "show", "sunfire-link")
    assert nhalf("show", "sunfire-link") == (0, whole, "")
    code, out, _ = nhalf("show", "sunfire-link", "barrier", "--json")
    shown = json.loads(out)
    assert code == 0
    assert {point["pattern"] for point in shown["points"]} == {"barrier"}
    assert (shown["models"], shown["loggp"]) == ([], [])
    _, out, _ = nhalf("show", path, "--mpi", "mpich-5", "--json")
    assert [model["mpi"] for model in json.loads(out)["models"]] == ["mpich-5"] * 2


def test_a_machine_is_shown_with_something_changed(nhalf: Call) -> None:
    words = ("machines", "show", "altix-bx2", "--set", "network.bandwidth=2x")
    code, out, err = nhalf(*words, "--set", "node.ranks=4")
    assert (code, err) == (0, "")
    assert "changed: network.bandwidth=2x, node.ranks=4" in out
    _, out, _ = nhalf(*words, "--json")
    shown = json.loads(out)
    plain = catalogue.machine("altix-bx2")
    assert shown["name"] == "altix-bx2 (network.bandwidth=2x)"
    rates = [one["segments"][0]["r_inf_Bps"] for one in shown["models"]]
    factors = [2 if one.placement == "other-node" else 1 for one in plain.models]
    assert rates == [
        factor * one.segments[0].r_inf_Bps
        for factor, one in zip(factors, plain.models, strict=True)
    ]


def test_bad_input_is_one_line(nhalf: Call, tmp_path: Path) -> None:
    (tmp_path / "damaged.toml").write_text("schema = 1\n")
    cases = {
        ("machines", "show", "sp2-mp"): "did you mean sp2-mpl",
        ("machines", "show", tmp_path / "none.toml"): "no machine file",
        ("machines", "show", tmp_path / "damaged.toml"): "is not a machine file",
        ("machines", "show", "sp2-mpl", "--set", "network.bandwith=2x"): "did you mean",
        ("machines", "list", tmp_path / "none"): "is not a folder",
        ("show", "sp2-mpl", "bcst"): "did you mean bcast",
        ("show", "sp2-mpl", "--mpi", "MP"): "did you mean MPL",
        ("show", "sp2-mpl", "--style", "osu"): "--style is for runs",
        ("show", tmp_path / "damaged.toml"): "is not a machine file",
    }
    for words, told in cases.items():
        code, out, err = nhalf(*words)
        assert (code, out) == (2, ""), words
        assert told in err
        assert err.startswith("nhalf: error: ")
        assert err.count("\n") == 1


@pytest.mark.parametrize("words", [("show",), ("machines", "show")], ids=" ".join)
def test_the_schema_holds_for_every_machine_of_record(words: tuple[str, ...], nhalf: Call) -> None:
    for name in catalogue.names():
        code, out, _ = nhalf(*words, name, "--json")
        assert code == 0
        check_schema(out)
