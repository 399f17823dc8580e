"""The wheels: what is in them, and that they measure where there is no compiler."""

from __future__ import annotations

import fcntl
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.patience import duration, patience_s

ROOT = Path(__file__).resolve().parent.parent
BUILD_ENVIRONMENT = Path(os.environ.get("NHALF_BUILD_ENV", ROOT / "build" / "env"))
COMPILERS = re.compile(r"(.*-)?(g\+\+|gcc|cc|c\+\+|c[89]9|clang.*|cpp|ld.*|as|mpi.*|tcc)(-[\d.]+)?")
PROBES = {"probe-model", "probe-threads", "probe-mpi-abi", "multicast"}


ARM_LIBRARIES = Path("/usr/aarch64-linux-gnu")


@pytest.fixture(
    scope="module",
    params=[
        "as installed",
        pytest.param("from nothing", marks=pytest.mark.full),
        pytest.param("portable", marks=pytest.mark.full),
    ],
)
def wheel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree: of `make setup`, built in an empty folder, or of `make wheels`."""
    if request.param == "from nothing":
        return build_from_nothing(tmp_path_factory.mktemp("wheel"))
    if request.param == "portable":
        return build_portable(platform.machine())
    made = os.environ.get("NHALF_WHEEL", "")
    found = [Path(made)] if made else sorted((ROOT / "build" / "dist").glob("nhalf-*.whl"))
    if len(found) != 1:
        pytest.skip("no wheel in build/dist: run `make setup`, or set NHALF_WHEEL")
    return found[0]


def build_from_nothing(folder: Path) -> Path:
    tools = BUILD_ENVIRONMENT / "bin"
    if not (tools / "python").exists():
        pytest.skip(f"no build tools in {tools}: run `make setup`, or set NHALF_BUILD_ENV")
    command = [str(tools / "python"), "-m", "build", "--wheel", "--no-isolation"]
    command += [f"--config-setting=build-dir={folder / 'build'}", "--outdir", str(folder / "dist")]
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    done = subprocess.run(
        [*command, str(ROOT)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (folder / "dist").iterdir()
    return path


def build_portable(processor: str) -> Path:
    """The wheel of `make wheels`, for glibc 2.28, which needs no compiler of this machine."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in {"CXXFLAGS", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"}
    }
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build" / "wheels.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other tests build here, too
        done = subprocess.run(
            ["make", "wheels", f"PROCESSORS_OF_WHEELS={processor}"],
            cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (ROOT / "build" / "wheelhouse").glob(f"nhalf-*-manylinux_2_28_{processor}.whl")
    return path


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel installed into a folder, with its programs executable."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*command, "--target", str(folder), str(wheel)], check=True)
    return folder


def test_serves_every_python(wheel: Path) -> None:
    assert re.fullmatch(r"nhalf-[\d.]+-py3-none-[\w.]*linux[\w.]*\.whl", wheel.name)


def test_holds_the_package_the_probes_and_the_sources_for_other_libraries(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"nhalf/_native/bin/{probe}" for probe in PROBES} <= names
    kinds = ("*.py", "*.toml", "*.j2")
    files = (path for kind in kinds for path in (ROOT / "src").rglob(kind))
    ours = {path.relative_to(ROOT / "src").as_posix() for path in files}
    assert "nhalf/machines/records/sp2-mpl.toml" in ours
    assert ours <= names
    for room in ("contract", "probe", "transports", "patterns", "algorithms"):
        for header in (ROOT / "native" / room).rglob("*.hpp"):
            path = header.relative_to(ROOT / "native").as_posix()
            assert f"nhalf/_native/include/{path}" in names
    assert "nhalf/_native/include/patterns/all_patterns.hpp" in names
    strays = [n for n in names if not n.startswith(("nhalf/", "nhalf-")) or "__pycache__" in n]
    assert strays == []


def test_names_no_place_of_the_machine_that_built_it(unpacked: Path, wheel: Path) -> None:
    if shutil.which("readelf") is None:
        pytest.skip("readelf is missing (binutils)")
    for probe in sorted(PROBES):
        path = unpacked / "nhalf" / "_native" / "bin" / probe
        dynamic = subprocess.run(
            ["readelf", "-d", path], capture_output=True, text=True, check=True
        ).stdout
        assert "(NEEDED)" in dynamic
        assert not re.search(r"\((RPATH|RUNPATH)\)", dynamic), dynamic
        assert not re.search(r"NEEDED.*\[[^]]*/", dynamic), dynamic
        content = path.read_bytes()
        for place in (ROOT, wheel.parent.parent, BUILD_ENVIRONMENT, Path.home() / "x"):
            assert f"{place}/".encode() not in content


@pytest.fixture(scope="module")
def no_compiler(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every command of this machine except compilers and MPI."""
    folder = tmp_path_factory.mktemp("bin")
    for place in ("/usr/bin", "/bin"):
        for program in Path(place).iterdir():
            if not COMPILERS.fullmatch(program.name) and not (folder / program.name).exists():
                (folder / program.name).symlink_to(program)
    assert shutil.which("c++", path=str(folder)) is None
    return folder


def nhalf(unpacked: Path, path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the installed package with `path` as the only place of commands."""
    keep = {"HOME", "LANG", "XDG_DATA_HOME", "TMPDIR"}
    environment = {name: value for name, value in os.environ.items() if name in keep}
    environment |= {"PATH": str(path), "PYTHONPATH": str(unpacked)}
    environment["XDG_CACHE_HOME"] = str(unpacked.parent / "cache")
    command = [sys.executable, "-m", "nhalf", *arguments]
    return subprocess.run(
        command,
        env=environment,
        cwd=unpacked.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=patience_s(240),
    )


@pytest.mark.sampled(1)
@pytest.mark.parametrize("transport", ["model", "threads"])
def test_measures_without_mpi_and_compiler(
    unpacked: Path, no_compiler: Path, tmp_path: Path, transport: str
) -> None:
    done = nhalf(
        unpacked,
        no_compiler,
        *("run", "--transport", transport, "--pattern", "pingpong", "--bytes", "8,1K"),
        *("--launches", "2", "--budget", duration(2), "--out", str(tmp_path / "run"), "--json"),
    )
    assert done.returncode == 0, done.stderr
    points = json.loads(done.stdout)["points"]
    assert {point["bytes"] for point in points} >= {8, 1024}


@pytest.mark.parametrize("vendor", ["mpich", pytest.param("intel", marks=pytest.mark.full)])
def test_measures_with_mpi_wheels_without_compiler(
    unpacked: Path, no_compiler: Path, tmp_path: Path, vendor: str
) -> None:
    listed = nhalf(unpacked, no_compiler, "mpi", "list", "--json")
    assert listed.returncode == 0, listed.stderr
    libraries = [x for x in json.loads(listed.stdout)["libraries"] if x["vendor"] == vendor]
    usable = [library["name"] for library in libraries if library["abi"]]
    if not usable:
        pytest.skip(f"no {vendor} with the standard ABI here: nhalf mpi install {vendor}")
    done = nhalf(
        unpacked,
        no_compiler,
        *("run", "--mpi", usable[0], "--pattern", "pingpong", "--bytes", "8,1K"),
        *("--launches", "1", "--budget", duration(3), "--out", str(tmp_path / "run"), "--json"),
    )
    assert done.returncode == 0, done.stderr
    points = json.loads(done.stdout)["points"]
    assert {point["mpi"] for point in points} == {usable[0]}
    assert all(point["median_s"] > 0 for point in points)


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of the wheel for ARM, each behind a script that emulates its processor."""
    emulator = shutil.which("qemu-aarch64")
    if emulator is None or not ARM_LIBRARIES.exists():
        pytest.skip("needs qemu-user and g++-aarch64-linux-gnu: apt-get install both")
    path = build_portable("aarch64")
    folder = tmp_path_factory.mktemp("arm")
    with zipfile.ZipFile(path) as content:
        content.extractall(folder)
    native = folder / "nhalf" / "_native"
    libraries = ROOT / "build" / "wheels" / "mpich-aarch64" / "lib"
    for program in list((native / "bin").iterdir()):
        code = program.rename(program.with_name(f"{program.name}.arm"))
        code.chmod(0o755)
        words = f"{emulator} -L {ARM_LIBRARIES} -E LD_LIBRARY_PATH={libraries} {code}"
        program.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    return native


@pytest.mark.full
@pytest.mark.parametrize("where", ["--transport=model", "--transport=threads", "--mpi=mpich"])
def test_measures_on_arm(
    arm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setenv("NHALF_NATIVE_DIR", str(arm))
    command = [sys.executable, "-m", "nhalf", "run", where, "--pattern", "pingpong"]
    command += ["--bytes", "8,1K", "--launches", "1", "--budget", duration(20), "--json"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "run")],
        capture_output=True, text=True, check=False, timeout=patience_s(240),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    points = json.loads(done.stdout)["points"]
    assert {point["bytes"] for point in points} >= {8, 1024}
    assert all(point["verified"] for point in points)
