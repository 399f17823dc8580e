"""nhalf fit and nhalf machines, as a script and as a person sees them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from nhalf.__main__ import main
from nhalf.machines.machine_file import read
from nhalf.store.keys import MEASUREMENT_COLUMNS, VERSION
from nhalf.store.run import Run
from tests.nhalf.cli.model_machine import model, needs_probes

SIZES = [0, *(2**k for k in range(23))]


def point(size, launch, time_s, **further):
    return {
        "transport": "mpi",
        "mpi": "lib [1]",
        "pattern": "pingpong",
        "algorithm": "native",
        "ranks": 2,
        "placement": "cores",
        "bytes": size,
        "launch": launch,
        "position": 0,
        "started_s": 0.0,
        "batch": 1,
        "messages_per_round": 2,
        "bytes_per_time": size,
        "stop": "precision",
        "verified": True,
        "advice": [],
        "samples_s": [time_s] * 3,
        **further,
    }


def make_run(folder, rows):
    run = Run.create(folder, {"environment": {"host": "node1", "cores": 2}})
    columns = {name: kind for name, kind in MEASUREMENT_COLUMNS.items() if name != "run"}
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    frame.write_parquet(folder / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)})
    return run


@pytest.fixture
def run(tmp_path):
    rows = [
        point(size, launch, 2e-6 + size * 1e-10 + (size > 4096) * 6e-6)
        for launch in range(3)
        for size in SIZES
    ]
    rows += [
        point(size, launch, 1e-6, pattern="stream") for launch in range(3) for size in SIZES[:6]
    ]
    return make_run(tmp_path / "run", rows)


@pytest.fixture
def nhalf(monkeypatch, capsys):
    def call(*words):
        monkeypatch.setattr(sys, "argv", ["nhalf", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        output = capsys.readouterr()
        return stop.value.code, output.out, output.err

    return call


def test_json_holds_every_parameter_and_writes_the_machine(run, nhalf):
    code, out, err = nhalf("fit", run.path, "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert result["machine"] == str(run.path / "machine.toml")
    first, flat = result["models"]
    assert (first["pattern"], first["mpi"]) == ("pingpong", "lib [1]")
    assert [s["t0_s"] for s in first["segments"]] == pytest.approx([2e-6, 8e-6], rel=1e-6)
    for segment in first["segments"]:
        assert segment["r_inf_Bps"] == pytest.approx(1e10, rel=1e-6)
        for name in ("t0_s", "r_inf_Bps", "n_half_bytes"):
            low, high = segment[f"{name}_ci"]
            assert low <= segment[name] <= high
    assert first["breakpoints"][0]["low_bytes"] == 4096
    assert first["heldout_median"] < 1e-6
    assert first["heldout_p95"] is not None
    assert flat["segments"][0]["r_inf_Bps"] is None
    assert flat["segments"][0]["n_half_bytes"] is None
    machine = read(run.path / "machine.toml")
    assert machine.name == "node1"
    assert len(machine.models) == 2


def test_people_see_a_table(run, nhalf, tmp_path):
    code, out, _ = nhalf("fit", run.path, "--out", tmp_path / "m.toml")
    assert code == 0
    for words in ("lib [1]", "4 KiB", "10 GB/s", "above 4 KiB", "left out of the fit", "m.toml"):
        assert words in out
    assert (tmp_path / "m.toml").exists()
    assert not (run.path / "machine.toml").exists()


def test_machines_are_listed_and_shown(run, nhalf, tmp_path):
    nhalf("fit", run.path, "--json")
    (tmp_path / "other.toml").write_text("a = 1\n")
    code, out, _ = nhalf("machines", "list", tmp_path, "--json")
    assert code == 0
    (row,) = [one for one in json.loads(out)["machines"] if not one["record"]]
    assert (row["name"], row["models"]) == ("node1", 2)
    code, out, _ = nhalf("machines", "show", row["file"], "--json")
    assert code == 0
    assert len(json.loads(out)["models"]) == 2
    code, out, _ = nhalf("machines", "show", row["file"])
    assert code == 0
    assert "10 GB/s" in out
    code, out, _ = nhalf("machines", "list", tmp_path)
    assert (code, "node1" in out) == (0, True)


def test_bad_input_is_one_line(run, nhalf, tmp_path):
    damaged = tmp_path / "damaged.toml"
    damaged.write_text("schema = 1\n")
    few = make_run(tmp_path / "few", [point(0, 0, 1e-6), point(8, 0, 1e-6)])
    cases = [
        (2, ("fit", tmp_path / "none")),
        (2, ("fit", few.path)),
        (3, ("fit", run.path, "--out", damaged / "m.toml")),
        (2, ("machines", "show", damaged)),
        (2, ("machines", "show", tmp_path / "none")),
        (2, ("machines", "list", tmp_path / "none")),
        (2, ("fit",)),
    ]
    for expected, words in cases:
        code, out, err = nhalf(*words)
        assert (code, out) == (expected, ""), words
        assert err.startswith("nhalf: error: ")
        assert err.count("\n") == 1
    assert not (few.path / "machine.toml").exists()


def test_parameters_of_logp_stand_in_json_file_and_table(tmp_path, nhalf):
    formulas = {"overhead-send": 1e-6, "overhead-recv": 2e-6, "gap": 4e-6, "roundtrip": 16e-6}
    rows = [
        point(size, launch, time_s + (size * 1e-9 if pattern in ("gap", "roundtrip") else 0),
              pattern=pattern)
        for pattern, time_s in formulas.items()
        for launch in range(2)
        for size in (0, 1, 4096, 65536)
    ]  # fmt: skip
    run = make_run(tmp_path / "run", rows)
    code, out, err = nhalf("fit", run.path, "--json")
    assert (code, err) == (0, "")
    (found,) = json.loads(out)["loggp"]
    assert found["latency_s"] == pytest.approx(5.001e-6)
    (written,) = read(run.path / "machine.toml").loggp
    assert written.latency_s == found["latency_s"]
    code, out, err = nhalf("machines", "show", run.path / "machine.toml", "--json")
    assert json.loads(out)["loggp"] == [found]
    code, out, err = nhalf("machines", "show", run.path / "machine.toml")
    assert "LogGP" in out
    assert "5 µs" in out
    assert "1 GB/s" in out


def run_of_ranks(folder, ranks, sizes=(1, 64, 4096)):
    rows = [
        point(size, 0, 1e-6 * p + 1e-9 * size, pattern="bcast", ranks=p, placement=f"{p}x1")
        for size in sizes
        for p in ranks
    ]
    return make_run(folder, rows)


def test_models_over_ranks_are_listed_and_shown(tmp_path, nhalf):
    run_of_ranks(tmp_path / "run", (2, 4, 8, 16))
    path = tmp_path / "machine.toml"
    code, out, _ = nhalf("fit", tmp_path / "run", "--json", "--out", path)
    told = json.loads(out)
    (model,) = told["patterns"]
    assert code == 0
    assert (model["pattern"], model["from_ranks"], model["to_ranks"]) == ("bcast", 2, 16)
    assert model["startup_s"] == {"p": pytest.approx(1e-6)}
    assert model["heldout_p95"] == pytest.approx(0, abs=1e-6)
    assert told["not_modelled"] == []
    _, shown, _ = nhalf("fit", tmp_path / "run", "--out", path)
    assert "bcast, native, lib [1], any x 1, p = 2 to 16 ranks" in shown
    assert "error on cells left out of the fit: median 0.0 %" in shown
    _, text, _ = nhalf("show", path, "--formula", "text")
    assert "T(n, p) = 1 µs · p + 1 ns · n   for 1 ≤ n ≤ 4096, 2 ≤ p ≤ 16" in text


def test_too_few_ranks_are_said(tmp_path, nhalf):
    run_of_ranks(tmp_path / "run", (2, 4, 8))
    words = "no model of ranks: bcast of lib [1], measured at 3 numbers of ranks, 4 are needed"
    assert words in nhalf("fit", tmp_path / "run")[1]
    told = json.loads(nhalf("fit", tmp_path / "run", "--json")[1])
    assert told["patterns"] == []
    assert told["not_modelled"][0]["ranks"] == [2, 4, 8]


def test_formulas_of_runs_and_of_unknown_forms_are_refused(tmp_path, nhalf):
    run_of_ranks(tmp_path / "run", (2, 4, 8))
    code, _, err = nhalf("show", tmp_path / "run", "--formula", "text")
    assert code == 2 and "--formula is for machines" in err
    code, _, err = nhalf("show", "sp2-mpl", "--formula", "word")
    assert code == 2 and "unknown form 'word'" in err


@needs_probes
def test_one_launch_has_no_interval_and_none_of_no_width_is_printed(
    call: Callable[..., Any],
) -> None:
    assert call(*model("one", "--launches", "1", "--bytes", "0:64K")).code == 0
    text = call("fit", "one").out
    assert "no interval: one launch" in text
    assert call(*model("two", "--bytes", "0:64K")).code == 0
    text = call("fit", "two").out
    assert "no interval" not in text
    assert "no spread" in text
    assert "∞ – ∞" not in text
    for line in text.splitlines():
        ends = re.findall(r"(\S+ \S+) – (\S+ \S+)", line)
        assert all(low != high for low, high in ends), line
