"""`nhalf doctor` as a user calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import patience_s


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose probes are not built and whose one given library hangs up."""
    for variable in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.setenv("NHALF_NATIVE_DIR", str(tmp_path / "nothing"))
    path = tmp_path / "bad/bin/mpiexec"
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\nkill -9 $$\n")
    path.chmod(0o755)
    monkeypatch.setenv("NHALF_MPI_PREFIXES", str(tmp_path / "bad"))
    return tmp_path


def doctor(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nhalf", "doctor", *words]
    return subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=patience_s(240)
    )


def test_without_probes_it_is_not_ready(bare: Path) -> None:
    done = doctor("--json")
    assert (done.returncode, done.stderr) == (3, "")
    answer = json.loads(done.stdout)
    assert answer["ready"] is False
    findings = {one["name"]: one for one in answer["findings"]}
    assert findings["probes"]["state"] == "bad"
    assert "NHALF_NATIVE_DIR" in findings["probes"]["remedy"]
    assert findings[f"mpiexec of {bare}/bad/bin"]["found"].endswith("died of signal 9")
    assert {"python", "compiler", "cores", "governor", "load", "cache"} <= findings.keys()


def test_people_see_every_remedy(bare: Path) -> None:
    done = doctor()
    assert done.returncode == 3
    assert "not ready to measure" in done.stdout
    assert "→ build it with `make setup`" in done.stdout
    assert "Traceback" not in done.stderr
