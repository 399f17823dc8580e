from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.mpi import surroundings as module
from nhalf.mpi.surroundings import can_read_neighbours, has_fabric, library_path, variables
from nhalf.mpi.vendors import vendors

MPICH, OPENMPI = vendors()["mpich"], vendors()["openmpi"]


@pytest.fixture(autouse=True)
def _steady(empty_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nhalf.mpi.vendors.openmpi.can_read_neighbours", lambda: True)
    monkeypatch.setattr("nhalf.mpi.vendors.openmpi.has_fabric", lambda: True)


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    for name in ("lib/mpich", "bin"):
        (tmp_path / "mpi" / name).mkdir(parents=True)
    return tmp_path / "mpi"


def test_mpich_wheels_have_two_folders(prefix: Path) -> None:
    expected = f"{prefix}/lib:{prefix}/lib/mpich"
    assert variables(prefix, MPICH) == {"LD_LIBRARY_PATH": expected}
    # Before it is known whose a prefix is, it may be MPICH's.
    assert variables(prefix) == {"LD_LIBRARY_PATH": expected}
    assert variables(prefix, OPENMPI) == {"LD_LIBRARY_PATH": f"{prefix}/lib"}


def test_only_folders_that_exist(tmp_path: Path) -> None:
    assert variables(tmp_path / "nothing", MPICH) == {}
    assert library_path(tmp_path / "nothing", OPENMPI) == []


def test_other_mpi_libraries_do_not_leak_in(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, tools = tmp_path / "other", tmp_path / "tools"
    for folder in (other, tools):
        folder.mkdir()
    (other / "libmpi.so.12").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{other}::{tools}:{prefix / 'lib'}")
    assert variables(prefix, OPENMPI)["LD_LIBRARY_PATH"] == f"{prefix}/lib:{tools}"
    assert variables(Path("/usr"), MPICH)["LD_LIBRARY_PATH"] == f"{tools}:{prefix / 'lib'}"
    monkeypatch.setenv("LD_LIBRARY_PATH", str(other))
    assert variables(Path("/usr"), MPICH) == {"LD_LIBRARY_PATH": ""}


def test_system_libraries_need_nothing() -> None:
    assert variables(Path("/usr"), MPICH) == {}


def test_a_fabric_is_seen_by_its_devices(tmp_path: Path) -> None:
    assert not has_fabric(tmp_path)
    (tmp_path / "sys/class/infiniband").mkdir(parents=True)
    assert not has_fabric(tmp_path)
    (tmp_path / "sys/class/infiniband/mlx5_0").mkdir()
    assert has_fabric(tmp_path)


def test_the_check_for_reading_answers() -> None:
    # Either answer may be right here; in a container that forbids it, the other one.
    can_read_neighbours.cache_clear()
    assert can_read_neighbours() in (True, False)


@pytest.mark.parametrize(
    ("function", "allowed"), [("getpid", False), ("no_such_function", False), (None, True)]
)
def test_the_check_tells_forbidden_from_unknown(
    function: str | None, allowed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Path(module.__file__).with_name("neighbours.py")
    broken = tmp_path / "neighbours.py"
    if function:  # without one, there is no script at all
        broken.write_text(script.read_text().replace("process_vm_readv", function))
    monkeypatch.setattr(module, "__file__", str(tmp_path / "surroundings.py"))
    can_read_neighbours.cache_clear()
    assert can_read_neighbours() is allowed
    can_read_neighbours.cache_clear()
