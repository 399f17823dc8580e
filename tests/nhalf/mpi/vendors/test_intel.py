"""Intel MPI: its pinning, its surroundings, and its presets by size and ranks."""

from __future__ import annotations

import ctypes.util
import math
from dataclasses import replace
from pathlib import Path

import pytest

from nhalf.base.errors import FailedError, MissingError
from nhalf.mpi import Library
from nhalf.mpi.decision_table import Rule
from nhalf.mpi.job import MpiJob
from nhalf.mpi.vendors.intel import Intel, Presets, misread, value_of

INTEL = Intel()
JOB = MpiJob(command=("./probe",), ranks=4)

INFO = """#!/bin/sh
case $2 in
I_MPI_ADJUST_BCAST) echo '    range: 0-3 ';;
I_MPI_ADJUST_REDUCE_SCATTER_BLOCK) echo '    range: 0-2 ';;
*) echo nothing;;
esac
"""


@pytest.fixture
def tuner(tmp_path: Path) -> Presets:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "impi_info").write_text(INFO)
    (folder / "impi_info").chmod(0o755)
    library = Library(
        "intel-1", "intel", "1", tmp_path, folder / "mpiexec", "hydra", True, None, "prefix"
    )
    return Presets(library)


def test_presets_are_those_that_the_library_tells(tuner: Presets) -> None:
    assert tuner.algorithms("bcast") == ["1", "2", "3"]
    assert tuner.algorithms("gather") == []
    assert tuner.algorithms("nothing") == []


def test_the_file_comes_back(tuner: Presets, tmp_path: Path) -> None:
    path = tmp_path / tuner.file_name
    rules = [
        Rule("bcast", 2, 3, 0, 2047, "1"),
        Rule("bcast", 4, 4, 1024, 4095, "3"),
        Rule("bcast", 4, 4, 4096, math.inf, "2"),
        Rule("reduce-scatter", 8, 8, 0, math.inf, "2"),
    ]
    kept = tuner.expressible(rules)
    assert kept == [
        Rule("bcast", 0, math.inf, 1024, 4095, "3"),
        Rule("bcast", 0, math.inf, 4096, math.inf, "2"),
        rules[-1],
    ]
    path.write_text(tuner.text(kept))
    last = 2**31 - 1
    assert tuner.activate(path) == {
        "I_MPI_ADJUST_BCAST": "0:0-1023;3:1024-4095;2",
        "I_MPI_ADJUST_REDUCE_SCATTER_BLOCK": (f"0:0-{last}@0-7;2:0-{last}@8-8;0:0-{last}@9-{last}"),
    }
    assert tuner.read(path) == kept
    assert tuner.expressible(kept) == kept
    # The bad rule of the proof counts at its own ranks.
    assert "'3:0-0;0:1-1023;3:1024-4095;2'" in tuner.text_with(path, Rule("bcast", 4, 4, 0, 0, "3"))


@pytest.mark.parametrize(
    ("rules", "value"),
    [
        ([], ""),
        ([Rule("bcast", 2, math.inf, 0, math.inf, "1")], "1"),
        ([Rule("bcast", 2, 8, 0, math.inf, "1")], "1:0-#@0-8;0:0-#@9-#"),
        ([Rule("bcast", 4, 4, 8, math.inf, "1")], "0:0-7;1"),
        ([Rule("bcast", 4, 4, 0, 7, "1")], "1:0-7;0"),
    ],
)
def test_a_value_leaves_nothing_out(rules: list[Rule], value: str) -> None:
    written = value.replace("#", str(2**31 - 1))
    assert value_of(rules, "bcast") == written
    assert written == "" or misread(written) == ""


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("9", "bcast has no preset 9"),
        ("1:5-2", "range 5-2"),
        ("1;;2", "not written as"),
        ("binomial", "not written as"),
        ("1@2-3", "not written as"),
        ("1:1024-2047", "sizes from 0 on are of the part for 1024-2047"),
        ("1:0-7;2:16-31;0", "sizes from 8 on are of the part for 16-31"),
        ("1:0-7;2:8-31", "the last part has no end"),
        ("1;2:8-31", "a part without sizes is the last one"),
        ("1:0-1023@2-3;3:1024-2147483647@4-4", "beside ranks no sizes count"),
        ("1:0-2147483647@2-3", "ranks from 0 on"),
        ("1:0-2147483647@0-3", "the last part has no end"),
        ("1:0-2147483647@0-3;2", "beside ranks no sizes count"),
    ],
)
def test_what_the_library_reads_otherwise_is_refused(
    value: str, said: str, tuner: Presets, tmp_path: Path
) -> None:
    path = tmp_path / "x.env"
    path.write_text(f"export I_MPI_ADJUST_BCAST='{value}'")
    with pytest.raises(FailedError, match=said):
        tuner.read(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("export I_MPI_ADJUST_BCATS=1", "no variable that chooses"),
        ("I_MPI_ADJUST_BCAST", "not NAME=value"),
    ],
)
def test_mistakes_are_said(tuner: Presets, tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "x.env"
    path.write_text(text)
    with pytest.raises(FailedError, match=said):
        tuner.read(path)


def test_intel_pins_by_variables() -> None:
    pinned = INTEL.environment(JOB)
    assert (pinned["I_MPI_PIN"], pinned["I_MPI_PIN_DOMAIN"]) == ("1", "core")
    assert INTEL.environment(replace(JOB, bind=False))["I_MPI_PIN"] == "0"


def test_intel_gets_its_root_and_its_providers_where_they_are(tmp_path: Path) -> None:
    assert INTEL.variables(tmp_path) == {"I_MPI_ROOT": str(tmp_path)}
    (tmp_path / "lib/libfabric/prov").mkdir(parents=True)
    assert INTEL.variables(tmp_path)["FI_PROVIDER_PATH"] == f"{tmp_path}/lib/libfabric/prov"


def test_srun_is_told_to_it_by_a_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("I_MPI_PMI_LIBRARY", raising=False)
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: f"lib{name}.so.0")
    pmi2 = {"I_MPI_PMI_LIBRARY": "libpmi2.so.0"}
    assert INTEL.variables_under("srun", "pmi2") == pmi2
    assert INTEL.variables_under("srun", "") == pmi2
    pmix = {"I_MPI_PMI_LIBRARY": "libpmix.so.0", "I_MPI_PMI": "pmix"}
    assert INTEL.variables_under("srun", "pmix_v4") == pmix
    assert INTEL.variables_under("", "") == INTEL.variables_under("srun", "none") == {}
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: None)
    with pytest.raises(MissingError, match="libpmi2"):
        INTEL.variables_under("srun", "pmi2")
    monkeypatch.setenv("I_MPI_PMI_LIBRARY", "mine")
    assert INTEL.variables_under("srun", "pmi2") == {}


@pytest.mark.parametrize(
    ("here", "given", "speaks"),
    [
        (["pmi2", "pmix"], "", ("pmi2", "pmix")),
        (["pmix"], "", ("pmix",)),
        ([], "", ("pmi2", "pmix")),
        (["pmi2"], "/usr/lib/libpmix.so.2", ("pmix",)),
        (["pmi2"], "/usr/lib/libpmi.so.0", ()),
    ],
)
def test_it_speaks_what_its_clients_speak(
    here: list[str], given: str, speaks: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("I_MPI_PMI_LIBRARY", given)
    found = {name: f"lib{name}.so.0" for name in here}
    monkeypatch.setattr(ctypes.util, "find_library", found.get)
    library = Library("intel-1", "intel", "1", Path("/x"), Path("/x"), "hydra", True, None, "x")
    assert INTEL.speaks(library) == speaks
