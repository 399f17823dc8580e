"""One idea is one file: a pattern, an algorithm, a vendor, a panel and so on, added to a copy of
the tree, are found and used, and no other file has changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.patience import duration, patience_s

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "examples" / "extend"
BUILD_TOOLS = Path(os.environ.get("NHALF_BUILD_ENV", ROOT / "build" / "env")) / "bin"
MACHINE = "o_s=1e-6,o_r=1e-6,g=2e-6,L=5e-6,G=1e-9"
PATTERNS = ("ask_twice", "block_operations", "exchange_pingping", "pingpong")
"""What is asked of the probes here; others would only be compiled."""
OTHER_PROGRAMS = ("node/node_probe.cpp", "composer/library.cpp")
"""Nothing can be added to them by a file here: they are installed empty."""
Script = Callable[[Path, str], Path]
Cmake = Callable[..., None]
ADDED = {
    "ask_twice.hpp": "native/patterns/pairs",
    "pipes.hpp": "native/transports",
    "relay.hpp": "native/algorithms/bcast",
    "two_chains.hpp": "native/multicast",
    "constant.py": "src/nhalf/models/forms",
    "effort.py": "src/nhalf/present/panels",
    "long_wait.py": "src/nhalf/present/findings",
    "slowest_point.py": "src/nhalf/results",
    "aprun.py": "src/nhalf/sites/launchers",
    "lsf.py": "src/nhalf/sites/batch",
    "house_mpi.py": "src/nhalf/mpi/vendors",
    "bare.py": "src/nhalf/exchange/styles",
    "two_columns.py": "src/nhalf/exchange/importers",
    "plain_points.py": "src/nhalf/exchange/exporters",
    "two-boxes.toml": "src/nhalf/machines/records",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree, with one file of each kind added."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("apps", "native", "src"):
        ignored = shutil.ignore_patterns("__pycache__", "_native")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copy(ROOT / "CMakeLists.txt", folder)
    for name, room in ADDED.items():
        assert not (folder / room / name).exists(), f"{name} is no addition"
        shutil.copy(SAMPLES / name, folder / room)
    return folder


@pytest.fixture(scope="module")
def cmake() -> Cmake:
    """CMake with the tools of the build, which has to succeed."""
    path = f"{BUILD_TOOLS}:{os.environ['PATH']}"
    program = shutil.which("cmake", path=path)
    if program is None or shutil.which("ninja", path=path) is None:
        pytest.skip("cmake or ninja is missing: run `make setup`, or set NHALF_BUILD_ENV")

    def called(*arguments: str | Path) -> None:
        done = subprocess.run(
            [program, *arguments],
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    return called


@pytest.fixture(scope="module")
def configured(tree: Path, cmake: Cmake) -> Path:
    """The folder in which the tree would be built, before anything is compiled."""
    kind = ("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=", "-DNHALF_MPICXX_ABI=OFF")
    cmake("-S", tree, "-B", tree / "build", "-G", "Ninja", *kind)
    return tree / "build"


@pytest.fixture(scope="module")
def native(tree: Path, configured: Path, cmake: Cmake) -> Path:
    """A probe of the added transport and one that knows its times, built quickly and installed."""
    for header in (tree / "native" / "transports").glob("*.hpp"):
        if header.stem not in ("pipes", "model"):
            header.unlink()
    for program in (tree / "apps").glob("*/*.cpp"):
        program.unlink()
    for name in OTHER_PROGRAMS:
        (tree / "native" / name).write_text("int main() {}\n")
    for part in (*(tree / "native/node/units").glob("*.cpp"), tree / "native/fabric/provider.cpp"):
        part.write_text("")
    for header in (tree / "native" / "patterns").glob("*/*.hpp"):
        if header.parent.name != "bases" and header.stem not in PATTERNS:
            header.unlink()
    cmake("-S", tree, "-B", configured)
    cmake("--build", configured)
    cmake("--install", configured, "--prefix", tree / "native-install")
    return tree / "native-install"


def python(tree: Path, *arguments: str, native: Path | None = None, **variables: str) -> str:
    """What Python prints in that tree; fails with what it complains."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), **variables}
    if native is not None:
        environment["NHALF_NATIVE_DIR"] = str(native)
    done = subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
        timeout=patience_s(200),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


KINDS = {
    "nhalf.models.forms": ("Model", "constant"),
    "nhalf.present.panels": ("Panel", "effort"),
    "nhalf.present.findings": ("Finder", "long-wait"),
    "nhalf.results": ("Result", "slowest-point"),
    "nhalf.mpi.vendors": ("Vendor", "house-mpi"),
    "nhalf.sites.launchers": ("Launcher", "aprun"),
    "nhalf.sites.batch": ("BatchSystem", "lsf"),
    "nhalf.exchange.importers": ("Importer", "two-columns"),
    "nhalf.exchange.exporters": ("Exporter", "plain-points"),
    "nhalf.exchange.styles": ("Style", "bare"),
}


def test_a_python_file_is_found_by_its_folder(tree: Path) -> None:
    kinds = {package: kind for package, (kind, _) in KINDS.items()}
    program = (
        "import importlib, json; from nhalf.base.plugins import load\n"
        "print(json.dumps({package: sorted(load(package, getattr("
        f"importlib.import_module(package), kind))) for package, kind in {kinds}.items()}}))"
    )
    with_them = json.loads(python(tree, "-c", program))
    without = json.loads(python(ROOT, "-c", program))
    for package, (_, name) in KINDS.items():
        assert sorted([*without[package], name]) == with_them[package]


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


@pytest.fixture
def house(tmp_path: Path, script: Script) -> Path:
    """A prefix of the added vendor: an mpiexec that says its version, an mpicxx that makes a probe
    out of the one that there is."""
    prefix = tmp_path / "house"
    script(prefix / "bin/mpiexec", "echo 'House MPI 3.1'")
    made = "printf '#!/bin/sh\\nexec $NHALF_NATIVE_DIR/bin/probe-model \"$@\"\\n'"
    text = f'for last; do :; done\n{made} > "$last"\nchmod +x "$last"'
    script(prefix / "bin/mpicxx", text)
    return prefix


def test_an_added_vendor_is_recognised_and_tuned(tree: Path, house: Path, tmp_path: Path) -> None:
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "NHALF_MPI_PREFIXES": str(house)}
    listed = json.loads(python(tree, "-m", "nhalf", "mpi", "list", "--json", **cache))
    (known,) = (one for one in listed["libraries"] if one["vendor"] == "house-mpi")
    assert (known["name"], known["launcher"]) == ("house-mpi-3.1", "house")
    program = (
        "from nhalf.mpi.decision_table import Rule; from nhalf.mpi.discover import find\n"
        "from nhalf.mpi.tuning import tuner_for\n"
        "library = find('house-mpi'); print(library.title)\n"
        "print(tuner_for(library).text([Rule('bcast', 0, 8, 0, 99, 'tree')]))"
    )
    said = python(tree, "-c", program, **cache)
    assert "House MPI 3.1 (prefix)" in said
    assert "export HOUSE_BCAST=tree" in said


@pytest.mark.full
def test_an_added_vendor_and_an_added_launcher_start_ranks(
    tree: Path, native: Path, house: Path, tmp_path: Path
) -> None:
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "NHALF_MPI_PREFIXES": str(house)}
    arguments = ["-m", "nhalf", "run", "--dry-run", "--mpi", "house-mpi-3.1", "--ranks", "3"]
    (own,) = python(tree, *arguments, native=native, **cache).splitlines()
    assert f"{house}/bin/mpiexec -n 3 --pin cores " in own
    assert f"HOUSE_HOME={house}" in own
    (line,) = python(tree, *arguments, "--launcher", "aprun", native=native, **cache).splitlines()
    assert " aprun -n 3 -cc cpu " in line
    assert line.endswith("/probe-mpi")


def test_a_job_goes_to_an_added_batch_system(tree: Path, tmp_path: Path, script: Script) -> None:
    script(tmp_path / "tools/bsub", f'cat > {tmp_path}/submitted; echo "Job <7> is submitted"')
    run = str(tmp_path / "run")
    arguments = ["-m", "nhalf", "run", "--submit", "--no-wait", "--json", "--placement", "4x2"]
    arguments += ["--budget", "60s", "--job=-q short", "--out", run, "--batch-system", "lsf"]
    path = f"{tmp_path / 'tools'}:{os.environ['PATH']}"
    told = {"schema": "run/1", "job": "7", "run": run}
    assert json.loads(python(tree, *arguments, PATH=path)) == told
    submitted = (tmp_path / "submitted").read_text(encoding="utf-8")
    assert "#BSUB -nnodes 4\n" in submitted
    assert "#BSUB -q short\n" in submitted
    assert "-m nhalf run --placement=4x2 --budget=60s --out" in submitted


@pytest.mark.full
def test_an_added_algorithm_is_measured(tree: Path, native: Path, tmp_path: Path) -> None:
    arguments = ["-m", "nhalf", "run", "--transport", "model", "--pattern", "bcast", "--json"]
    arguments += ["--algorithm", "relay", "--ranks", "5", "--bytes", "0", "--launches", "2"]
    arguments += ["--model", MACHINE, "--out", str(tmp_path / "run")]
    (point,) = json.loads(python(tree, *arguments, native=native))["points"]
    assert (point["algorithm"] or point["axes"]["algorithm"]) == "relay"
    # One message of 7 us to the next rank; from there the third copy leaves 4 us after the first.
    assert point["median_s"] == pytest.approx(18e-6, rel=1e-6)


def test_an_added_style_prints_its_table(tree: Path, tmp_path: Path) -> None:
    arguments = ["-m", "nhalf", "run", "--transport", "model", "--style", "bare"]
    arguments += ["--pattern", "pp", "--bytes", "0,1000", "--launches", "2", "--model", MACHINE]
    said = python(tree, *arguments, "--out", str(tmp_path / "run"))
    assert said == "model:\npp 0 7.000\npp 1000 8.000\n"


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("native/generated/patterns/all_patterns.hpp", "patterns/pairs/ask_twice.hpp"),
        ("native/generated/algorithms/all_bcast.hpp", "algorithms/bcast/relay.hpp"),
        ("native/generated/multicast/all_multicasts.hpp", "multicast/two_chains.hpp"),
        ("build.ninja", "native/CMakeFiles/probe-pipes.dir"),
    ],
)
def test_a_header_is_compiled_where_its_folder_says(
    configured: Path, place: str, said: str
) -> None:
    assert said in (configured / place).read_text(encoding="utf-8")


@pytest.mark.full
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


@pytest.mark.full
def test_a_way_to_multicast_is_simulated(tree: Path, native: Path, tmp_path: Path) -> None:
    arguments = [
        "-m",
        "nhalf",
        "predict",
        "multicast",
        "--machine",
        "sci-torus",
        "--json",
    ]
    arguments += ["--bytes", "0", "--axis", "group=4", "--axis", "forwarding=nic"]
    said = python(tree, *arguments, "--out", str(tmp_path / "run"), native=native)
    points = {point["axes"]["algorithm"]: point for point in json.loads(said)["points"]}
    assert len(points) == 9
    # Of two chains to four nodes, one is entered a step after the other.
    assert points["two-chains"]["values"]["steps"] == 3
    assert points["serial"]["values"]["steps"] == 4


@pytest.mark.full
@pytest.mark.parametrize("transport", ["model", "pipes"])
def test_they_are_measured_and_reported(
    tree: Path, native: Path, tmp_path: Path, transport: str
) -> None:
    run = tmp_path / "run"
    arguments = ["-m", "nhalf", "run", "--transport", transport, "--pattern", "ask-twice"]
    arguments += ["--bytes", "0,1000", "--launches", "2", "--budget", duration(5), "--json"]
    arguments += ["--out", str(run)]
    if transport == "model":
        arguments += ["--model", MACHINE]
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
