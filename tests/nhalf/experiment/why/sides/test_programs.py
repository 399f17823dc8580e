"""Real programs on real libraries: exactly in virtual time, and by the wall clock."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.nhalf.measure.virtual.programs import built, library_of

Call = Callable[..., Any]
pytestmark = pytest.mark.full


def test_a_placement_among_variables_in_virtual_time(call: Call, tmp_path: Path) -> None:
    program = built("mpich", "pingpong", tmp_path)
    start = f"{sys.executable} -m nhalf try --machine altix-bx2 --ranks 2 --mpi mpich"
    idle = "MPIR_CVAR_COLL_ALIAS_CHECK=0 FI_LOG_LEVEL=warn OMP_NUM_THREADS=3"
    a, b = f"{start} --placement 1x2 -- {program}", f"{idle} {start} --placement 2x1 -- {program}"
    said = json.loads(call("why", "--a", a, "--b", b, "--json", "--least", "0.01%").out)
    assert said["timed"] == "virtual time"
    (cause,) = said["causes"]
    assert [member["switches"][0]["name"] for member in cause["members"]] == ["--placement"]
    assert cause["share"]["value"] == pytest.approx(1.0, abs=0.05)
    assert said["launches"] <= 8


def test_sockets_among_options_of_open_mpi(call: Call, tmp_path: Path) -> None:
    """Long messages through sockets take several times as long as through memory."""
    library = library_of("openmpi")
    program = built("openmpi", "pingpong", tmp_path)
    variables = {**library.environment, "OMPI_ALLOW_RUN_AS_ROOT": "1"}
    variables["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    around = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
    launcher = f"{around} %s {library.mpiexec} -n 2 --oversubscribe %s {program}"
    a = launcher % ("", "")
    b = launcher % ("OMP_NUM_THREADS=3", "--mca btl tcp,self --mca pml ob1 --tag-output")
    said = json.loads(call("why", "--a", a, "--b", b, "--json", "--budget", "20m").out)
    names = {
        switch["name"]
        for cause in said["causes"]
        for m in cause["members"]
        for switch in m["switches"]
    }
    assert names <= {"OMPI_MCA_btl", "OMPI_MCA_pml"}
