"""`nhalf history` on a folder of gates: sentences, tables, JSON, and the page of a cluster."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.store.gates import append_gates
from tests.nhalf.decide.history.gated import NODES, cluster, three_faults

Call = Callable[..., Any]


@pytest.fixture(scope="module")
def gates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cluster") / "gates"
    for record in cluster(24, three_faults):
        append_gates(folder, record.node, record)
    return folder


def test_nodes_and_pairs_are_named_first_and_what_did_not_change_is_counted(
    call: Call, gates: Path
) -> None:
    ended = call("history", gates, COLUMNS="200")
    assert ended.code == 1
    lines = ended.out.splitlines()
    assert re.match(r"120 gates, 2026-03-01 .* to 2026-03-24 ", lines[0])
    assert re.fullmatch(
        r"n3: transfer takes (?:1.99|2.0)x since 2026-03-17 .*, in 3 of 3 pairs", lines[1]
    )
    assert re.fullmatch(r"n1 n10: latency takes 1.5\dx since 2026-03-09 .*", lines[2])
    assert lines[3].startswith("n2: core 1 takes 1.3")
    assert "and 23 more, of which none changed" in lines


def test_json_and_csv_have_every_curve(call: Call, gates: Path) -> None:
    found = json.loads(call("history", gates, "--json").out)
    assert len(found["curves"]) == 4 * len(NODES) + 12
    (curve,) = [c for c in found["curves"] if (c["nodes"], c["name"]) == ("n2", "core 1")]
    assert [change["verdict"] for change in curve["changes"]] == ["slower"]
    blamed = [
        (change["nodes"], change["slower_pairs"], change["pairs"]) for change in found["slower"]
    ]
    assert blamed == [(["n3"], 3, 3), (["n1", "n10"], 1, 1), (["n2"], 1, 0)]
    rows = list(csv.DictReader(io.StringIO(call("history", gates, "--format", "csv").out)))
    assert len(rows) == 24 * len(found["curves"])
    assert {"nodes", "name", "ratio", "changed"} <= set(rows[0])


def test_a_file_of_one_node_is_enough(call: Call, gates: Path) -> None:
    ended = call("history", gates / "n2.jsonl", "--pattern", "core", "--json")
    names = [curve["name"] for curve in json.loads(ended.out)["curves"]]
    assert (ended.code, names) == (1, ["core 0", "core 1"])


def test_torn_lines_are_counted(call: Call, gates: Path, tmp_path: Path) -> None:
    (tmp_path / "n2.jsonl").write_bytes((gates / "n2.jsonl").read_bytes() + b'torn\n{"node":1}\n')
    ended = call("history", tmp_path / "n2.jsonl")
    assert ended.err.splitlines() == ["nhalf: 2 lines of gates cannot be read, and are left out"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--mpi", "mpich"], "--pattern alone"),
        (["--bytes", "8"], "--pattern alone"),
        (["--pattern", "flow"], "known are core, latency, memory, messages, transfer"),
    ],
)
def test_what_gates_do_not_have_is_said(
    call: Call, gates: Path, words: list[str], says: str
) -> None:
    call("history", gates, *words).is_error(2, says)


def test_the_page_of_a_cluster_has_a_map_and_the_nodes_in_order(
    call: Call, gates: Path, tmp_path: Path
) -> None:
    assert call("history", gates, "--report", "cluster.html").code == 1
    page = (tmp_path / "cluster.html").read_text()
    nodes = page[page.index('<section id="nodes"') :]
    order = [nodes.index(f">{node}<") for node in ("n3", "n2", "n1", "n10")]
    assert order == sorted(order)
    for part in ('<section id="pairs"', "in 3 of 3 pairs", "3 of 3", 'id="course"'):
        assert part in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_cluster_without_a_change_has_its_map_and_no_curve(call: Call, tmp_path: Path) -> None:
    for record in cluster(6):
        append_gates(tmp_path / "gates", record.node, record)
    ended = call("history", "gates", "--report", "cluster.html")
    assert ended.code == 0
    assert "and 28 more, of which none changed" in ended.out
    page = (tmp_path / "cluster.html").read_text()
    assert '<section id="pairs"' in page and '<section id="course"' not in page
