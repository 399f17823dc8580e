# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.mpi import surroundings as module
from nhalf.mpi.surroundings import can_read_neighbours, has_fabric, library_path, variables


@pytest.fixture(autouse=True)
def _steady(empty_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "can_read_neighbours", lambda: True)
    monkeypatch.setattr(module, "has_fabric", lambda: True)


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    for name in ("lib/mpich", "bin"):
        (tmp_path / "mpi" / name).mkdir(parents=True)
    return tmp_path / "mpi"


def test_mpich_wheels_have_two_folders(prefix: Path) -> None:
    expected = f"{prefix}/lib:{prefix}/lib/mpich"
    assert variables(prefix, "mpich") == {"LD_LIBRARY_PATH": expected}


def test_only_folders_that_exist(tmp_path: Path) -> None:
    assert variables(tmp_path / "nothing", "mpich") == {}
    assert library_path(tmp_path / "nothing", "openmpi") == []


def test_other_mpi_libraries_do_not_leak_in(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, tools = tmp_path / "other", tmp_path / "tools"
    for folder in (other, tools):
        folder.mkdir()
    (other / "libmpi.so.12").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{other}::{tools}:{prefix / 'lib'}")
    assert variables(prefix, "openmpi")["LD_LIBRARY_PATH"] == f"{prefix}/lib:{tools}"
    assert variables(Path("/usr"), "mpich")["LD_LIBRARY_PATH"] == f"{tools}:{prefix / 'lib'}"
    monkeypatch.setenv("LD_LIBRARY_PATH", str(other))
    assert variables(Path("/usr"), "mpich") == {"LD_LIBRARY_PATH": ""}


def test_system_libraries_need_nothing() -> None:
    assert variables(Path("/usr"), "mpich") == {}


def test_intel_gets_its_root_and_its_providers_where_they_are(prefix: Path) -> None:
    assert variables(prefix, "intel") == {
        "LD_LIBRARY_PATH": f"{prefix}/lib",
        "I_MPI_ROOT": str(prefix),
    }
    (prefix / "lib/libfabric/prov").mkdir(parents=True)
    assert variables(prefix, "intel")["FI_PROVIDER_PATH"] == f"{prefix}/lib/libfabric/prov"


def test_open_mpi_of_another_prefix_is_not_followed(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "OPAL_PREFIX" not in variables(prefix, "openmpi")
    monkeypatch.setenv("OPAL_PREFIX", "/elsewhere")
    assert variables(prefix, "openmpi")["OPAL_PREFIX"] == str(prefix)


def test_open_mpi_copies_twice_where_reading_is_forbidden(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    single = {"OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_smsc": "^cma"}
    assert not single.keys() & variables(prefix, "openmpi").keys()
    monkeypatch.setattr(module, "can_read_neighbours", lambda: False)
    assert single.items() <= variables(prefix, "openmpi").items()
    assert not single.keys() & variables(prefix, "mpich").keys()


@pytest.mark.parametrize("chosen", ["", "environment", "site", "user"])
def test_open_mpi_does_not_wait_for_a_fabric_unless_told(
    chosen: str, prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "OMPI_MCA_btl" not in variables(prefix, "openmpi")
    monkeypatch.setattr(module, "has_fabric", lambda: False)
    files = {
        "site": prefix / "etc/openmpi-mca-params.conf",
        "user": tmp_path / "home/.openmpi/mca-params.conf",
    }
    for path in files.values():
        path.parent.mkdir(parents=True)
        path.write_text("# btl = a comment\nbtl_base_verbose = 0\n")
    if chosen == "environment":
        monkeypatch.setenv("OMPI_MCA_btl", "self,sm")
    elif chosen:
        files[chosen].write_text("btl = self,sm\n")
    found = variables(prefix, "openmpi")
    assert found.get("OMPI_MCA_btl") == (None if chosen else "^ofi")


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
