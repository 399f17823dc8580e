# SPDX-License-Identifier: Apache-2.0
"""One pattern, transport, model, panel or launcher is one file: added to a copy of the tree, each
appears wherever it should, and no other file has changed."""

from __future__ import annotations

import ctypes.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "examples" / "extend"
BUILD_TOOLS = Path(os.environ.get("NHALF_BUILD_ENV", ROOT / "build" / "env")) / "bin"
ADDED = {
    "ask_twice.hpp": "native/patterns",
    "pipes.hpp": "native/transports",
    "two_chains.hpp": "native/multicast",
    "constant.py": "src/nhalf/models/forms",
    "effort.py": "src/nhalf/present/panels",
    "long_wait.py": "src/nhalf/present/findings",
    "slowest_point.py": "src/nhalf/results",
    "aprun.py": "src/nhalf/sites/launchers",
    "two_columns.py": "src/nhalf/exchange/importers",
    "plain_points.py": "src/nhalf/exchange/exporters",
    "two-boxes.toml": "src/nhalf/machines/records",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree, with one file of each kind added."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("native", "src"):
        ignored = shutil.ignore_patterns("__pycache__", "_native")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copy(ROOT / "CMakeLists.txt", folder)
    for name, room in ADDED.items():
        assert not (folder / room / name).exists(), f"{name} is no addition"
        shutil.copy(SAMPLES / name, folder / room)
    return folder


@pytest.fixture(scope="module")
def native(tree: Path) -> Path:
    """A probe of the added transport and one that knows its times, built quickly and installed."""
    for header in (tree / "native" / "transports").glob("*.hpp"):
        if header.stem not in ("pipes", "model"):
            header.unlink()
    path = f"{BUILD_TOOLS}:{os.environ['PATH']}"
    cmake = shutil.which("cmake", path=path)
    if cmake is None or shutil.which("ninja", path=path) is None:
        pytest.skip("cmake or ninja is missing: run `make setup`, or set NHALF_BUILD_ENV")
    build = tree / "build"
    kind = ["-DCMAKE_BUILD_TYPE=Debug", "-DNHALF_MPICXX_ABI=OFF"]
    for arguments in (
        ["-S", str(tree), "-B", str(build), "-G", "Ninja", *kind],
        ["--build", str(build)],
        ["--install", str(build), "--prefix", str(tree / "native-install")],
    ):
        done = subprocess.run(
            [cmake, *arguments],
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return tree / "native-install"


def python(tree: Path, *arguments: str, native: Path | None = None) -> str:
    """What Python prints in that tree; fails with what it complains."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    if native is not None:
        environment["NHALF_NATIVE_DIR"] = str(native)
    done = subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("package", "kind", "name"),
    [
        ("nhalf.models.forms", "Model", "constant"),
        ("nhalf.present.panels", "Panel", "effort"),
        ("nhalf.present.findings", "Finder", "long-wait"),
        ("nhalf.results", "Result", "slowest-point"),
        ("nhalf.sites.launchers", "Launcher", "aprun"),
        ("nhalf.exchange.importers", "Importer", "two-columns"),
        ("nhalf.exchange.exporters", "Exporter", "plain-points"),
    ],
)
def test_a_python_file_is_found_by_its_folder(
    tree: Path, package: str, kind: str, name: str
) -> None:
    program = (
        "import importlib, json; from nhalf.base.plugins import load\n"
        f"kind = getattr(importlib.import_module({package!r}), {kind!r})\n"
        f"print(json.dumps(sorted(load({package!r}, kind))))"
    )
    with_it = json.loads(python(tree, "-c", program))
    without = json.loads(python(ROOT, "-c", program))
    assert sorted([*without, name]) == with_it


def test_a_log_of_an_added_importer_is_read(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("# my ping-pong\n0 4e-6\n1000 6e-6\noh\n2000\n")
    arguments = ["-m", "nhalf", "import", str(tmp_path / "log"), "--json"]
    points = json.loads(python(tree, *arguments, "--out", str(tmp_path / "run")))["points"]
    median_s = {point["bytes"]: point["median_s"] for point in points}
    assert median_s == pytest.approx({0: 2e-6, 1000: 3e-6})


def test_an_added_machine_is_known_by_its_name(tree: Path) -> None:
    listed = json.loads(python(tree, "-m", "nhalf", "machines", "list", "--json"))
    assert "two-boxes" in {machine["name"] for machine in listed["machines"]}
    assert "1.3 ⌈log₂p⌉" in python(tree, "-m", "nhalf", "show", "two-boxes", "barrier")


def test_an_added_form_is_exported(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("# my ping-pong\n0 4e-6\n1000 6e-6\n")
    run = str(tmp_path / "run")
    python(tree, "-m", "nhalf", "import", str(tmp_path / "log"), "--out", run)
    said = python(tree, "-m", "nhalf", "export", run, "--to", "plain-points")
    assert said == "pingpong 0 2e-06\npingpong 1000 3e-06\n"
    assert "plain-points" in python(tree, "-m", "nhalf", "export", "--list")


def test_a_pattern_and_a_transport_are_found_by_their_folder(native: Path) -> None:
    probes = sorted(path.name for path in (native / "bin").glob("probe-*"))
    assert probes == ["probe-model", "probe-pipes"]
    for probe in probes:
        output = subprocess.check_output([native / "bin" / probe, "--describe"])
        described = json.loads(output)
        assert described["transport"] == probe.removeprefix("probe-")
        patterns = {pattern["name"]: pattern for pattern in described["patterns"]}
        assert patterns["ask-twice"]["present"]
        # What the new transport lacks is shown as absent, not left out.
        assert patterns["exchange"]["present"] == (probe != "probe-pipes")


def test_a_way_to_multicast_is_simulated(tree: Path, native: Path, tmp_path: Path) -> None:
    if ctypes.util.find_library("simgrid") is None:
        pytest.skip("SimGrid is not here: apt-get install libsimgrid-dev")
    arguments = ["-m", "nhalf", "simulate", "multicast", "--machine", "sci-torus", "--json"]
    arguments += ["--bytes", "0", "--axis", "group=4", "--axis", "forwarding=nic"]
    said = python(tree, *arguments, "--out", str(tmp_path / "run"), native=native)
    points = {point["axes"]["algorithm"]: point for point in json.loads(said)["points"]}
    assert len(points) == 9
    # Of two chains to four nodes, one is entered a step after the other.
    assert points["two-chains"]["values"]["steps"] == 3
    assert points["serial"]["values"]["steps"] == 4


@pytest.mark.parametrize("transport", ["model", "pipes"])
def test_they_are_measured_and_reported(
    tree: Path, native: Path, tmp_path: Path, transport: str
) -> None:
    run = tmp_path / "run"
    arguments = ["-m", "nhalf", "run", "--transport", transport, "--pattern", "ask-twice"]
    arguments += ["--bytes", "0,1000", "--launches", "2", "--budget", "5s", "--json"]
    arguments += ["--out", str(run)]
    if transport == "model":
        arguments += ["--model", "o_s=1e-6,o_r=1e-6,g=2e-6,L=5e-6,G=1e-9"]
    answer = json.loads(python(tree, *arguments, native=native))
    points = answer["points"]
    (slowest,) = answer["results"]["slowest_point"]["rows"]
    assert slowest["median_s"] == max(point["median_s"] for point in points)
    median_s = {point["bytes"]: point["median_s"] for point in points}
    assert {point["pattern"] for point in points} == {"ask-twice"}
    assert set(median_s) >= {0, 1000}
    if transport == "model":
        # Two sends 2 us apart: the second is there after 2 + 1 + 5 + 1, the answer 7 later.
        assert median_s[0] == pytest.approx(16e-6, rel=1e-6)
    page = tmp_path / "report.html"
    python(tree, "-m", "nhalf", "report", str(run), "--out", str(page), native=native)
    text = page.read_text(encoding="utf-8")
    assert "Effort" in text
    assert "each row counts those of one pattern" in text
