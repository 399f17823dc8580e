"""A package of somebody else, installed beside nhalf: what it adds is used like our own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "tests" / "data" / "plugin-package"
BUILD_ENVIRONMENT = Path(os.environ.get("NHALF_BUILD_ENV", ROOT / "build" / "env"))
CURVE = "# OSU MPI Latency Test v7.5\n# Size       Latency (us)\n0 1.0\n1024 2.0\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, built and installed by pip into its own folder."""
    tools = BUILD_ENVIRONMENT / "bin" / "python"
    if not tools.exists():
        pytest.skip(f"no build tools in {BUILD_ENVIRONMENT}: run `make setup`")
    folder = tmp_path_factory.mktemp("installed")
    command = [str(tools), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--target", str(folder), str(PACKAGE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def nhalf(installed: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT / "src"), str(installed)])
    return subprocess.run(
        [sys.executable, "-m", "nhalf", *words],
        env={**os.environ, "PYTHONPATH": path},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_its_launcher_is_known_by_name(installed: Path, tmp_path: Path) -> None:
    asked = nhalf(installed, tmp_path, "run", "--launcher", "yob", "--dry-run")
    assert asked.returncode == 2
    assert "did you mean yod" in asked.stderr
    # Its program is not here: that it is looked for shows that the launcher was chosen.
    started = nhalf(installed, tmp_path, "run", "--launcher", "yod", "--transport", "model")
    assert started.returncode == 3
    assert "yod is not found" in started.stderr


def test_its_finding_is_in_the_report(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(CURVE)
    made = nhalf(installed, tmp_path, "import", "log", "--out", "run")
    assert made.returncode == 0, made.stderr
    told = nhalf(installed, tmp_path, "report", "run", "--json")
    assert told.returncode == 0, told.stderr
    assert "cluster-tools counted 2 samples." in told.stdout


def test_a_broken_one_is_named(installed: Path, tmp_path: Path) -> None:
    about = tmp_path / "site" / "rotten-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: rotten\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[nhalf.launchers]\nyod = rotten.yod\n")
    ended = nhalf(about.parent, tmp_path, "run", "--launcher", "yod", "--dry-run")
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr.startswith("nhalf: error: rotten (nhalf.launchers: yod = rotten.yod)")
    assert ended.stderr.count("\n") == 1
    # Only who needs a launcher is told.
    assert nhalf(about.parent, tmp_path, "machines", "list").returncode == 0
