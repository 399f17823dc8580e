"""Where the library lies that a transport loads when it runs."""

from pathlib import Path

import pytest

from nhalf.base.errors import MissingError
from nhalf.mpi.transport_files import MPI, TransportFile, loaded_variables

LOADING = TransportFile(
    "fast", "MPI", loads=("libfast.so.2", "NHALF_FAST_LIBRARY", "fastwheel.fast", "fast-cu13")
)


@pytest.fixture(autouse=True)
def _nothing_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NHALF_FAST_LIBRARY", raising=False)
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    monkeypatch.setattr("ctypes.util.find_library", lambda _: None)


def wheel(folder: Path) -> Path:
    """A package of Python with the library, as NVIDIA's wheels have it."""
    file = folder / "fastwheel/fast/lib/libfast.so.2"
    file.parent.mkdir(parents=True)
    file.touch()
    return file


def test_a_transport_that_loads_nothing_needs_no_variable() -> None:
    assert loaded_variables(MPI) == {}


def test_without_the_library_the_remedy_names_its_wheel() -> None:
    with pytest.raises(MissingError) as caught:
        loaded_variables(LOADING)
    assert caught.value.message == "transport fast needs libfast.so.2, which is not here"
    assert caught.value.remedy == "pip install fast-cu13, or name its file in NHALF_FAST_LIBRARY"


def test_the_file_of_the_user_comes_before_that_of_the_wheel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    file = wheel(tmp_path)
    assert loaded_variables(LOADING) == {"NHALF_FAST_LIBRARY": str(file)}
    own = tmp_path / "own.so"
    own.touch()
    monkeypatch.setenv("NHALF_FAST_LIBRARY", str(own))
    assert loaded_variables(LOADING) == {"NHALF_FAST_LIBRARY": str(own)}
    own.unlink()
    with pytest.raises(MissingError, match="which is not a file"):
        loaded_variables(LOADING)


def test_what_the_loader_finds_by_its_name_needs_no_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("nhalf.mpi.transport_files.find_spec", lambda _: None)
    (tmp_path / "libfast.so.2").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", f":{tmp_path}")
    assert loaded_variables(LOADING) == {}
    monkeypatch.delenv("LD_LIBRARY_PATH")
    monkeypatch.setattr("ctypes.util.find_library", lambda name: f"lib{name}.so.2")
    assert loaded_variables(LOADING) == {}
    monkeypatch.setattr("ctypes.util.find_library", lambda name: f"lib{name}.so.1")
    with pytest.raises(MissingError):
        loaded_variables(LOADING)
