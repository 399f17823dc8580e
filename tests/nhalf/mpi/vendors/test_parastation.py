"""ParaStation MPI: found by its module, or told from MPICH by its mpichversion; started by srun."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nhalf.base.errors import MissingError
from nhalf.mpi.discover import discover, libraries
from nhalf.mpi.identify import parse_version
from nhalf.mpi.vendors import libraries_in, vendor_of
from nhalf.mpi.vendors.parastation import Parastation
from nhalf.sites.launchers import srun
from nhalf.sites.start import Spread, start

VERSION_TEXT = "=== ParaStation MPI 5.10.0-1 ===\nMPICH Version:\t4.1.1\nMPICH Device:\tpsp\n"
HYDRA = "echo 'HYDRA build details:'; echo '    Version:                                 4.1.1'"

Script = Callable[[Path, str], Path]


@pytest.fixture
def module(empty_machine: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a loaded module of EasyBuild, whose library is linked with PMIx."""
    folder = empty_machine / "software/psmpi/5.10.0-1-GCC-12.3.0"
    (folder / "lib").mkdir(parents=True)
    (folder / "lib/libmpi.so.12").write_bytes(b"libpmix.so.2")
    monkeypatch.setenv("EBROOTPSMPI", str(folder))
    monkeypatch.setenv("EBVERSIONPSMPI", "5.10.0-1")
    return folder


@pytest.fixture
def slurm(
    empty_machine: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], Path]]:
    """An srun that offers the kinds named."""
    monkeypatch.delenv("SLURM_MPI_TYPE", raising=False)
    srun._offer_of.cache_clear()

    def offering(kinds: str) -> Path:
        srun._offer_of.cache_clear()
        lines = "\\n".join(f"\\t{kind}" for kind in kinds.split())
        text = f"printf 'MPI plugin types are...\\n{lines}\\n'"
        return script(empty_machine / "bin/srun", text)

    yield offering
    srun._offer_of.cache_clear()


def test_its_version_text_is_told_from_mpich() -> None:
    assert Parastation().version_in(VERSION_TEXT) == "5.10.0-1"
    assert Parastation().version_in("MPICH Version:\t4.1.1\nMPICH Device:\tch4:ofi\n") == ""
    assert parse_version(f"{HYDRA}\n{VERSION_TEXT}").vendor == "parastation"
    measured = ["mpich-4.1.1", "parastation-5.10.0-1"]
    assert libraries_in(VERSION_TEXT, measured) == ["parastation-5.10.0-1"]


def test_the_module_is_a_library_without_mpiexec(module: Path) -> None:
    (library,) = discover().libraries
    assert (library.name, library.prefix, library.mpiexec) == (
        "parastation-5.10.0-1",
        module,
        None,
    )
    assert vendor_of(library).speaks(library) == ("pspmix", "pspmi", "pmix", "pmi2")


def test_a_module_whose_folder_is_gone(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EBROOTPSMPI", f"{module}/gone")
    assert discover().libraries == []


def test_a_hydra_beside_its_mpichversion(empty_machine: Path, script: Script) -> None:
    script(empty_machine / "a/bin/mpiexec", HYDRA)
    script(empty_machine / "a/bin/mpichversion", f"printf '{VERSION_TEXT}'")
    (library,) = libraries([empty_machine / "a"])
    assert (library.name, library.launcher) == ("parastation-5.10.0-1", "hydra")
    assert vendor_of(library).speaks(library) == ("pspmi", "pmi2")


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("offered", "chosen"),
    [("none pspmi pspmix", "pspmix"), ("none pspmi", "pspmi"), ("none pmi2 pmix", "pmix")],
)
def test_srun_starts_it(slurm: Callable[[str], Path], offered: str, chosen: str) -> None:
    slurm(offered)
    (library,) = discover().libraries
    assert f"--mpi={chosen}" in start(library, ["probe"], 4, spread=Spread(launcher="srun")).command


@pytest.mark.usefixtures("module")
def test_nothing_in_common_is_one_sentence(slurm: Callable[[str], Path]) -> None:
    slurm("none cray_shasta")
    (library,) = discover().libraries
    with pytest.raises(MissingError, match="speaks pspmix or pspmi or pmix or pmi2"):
        start(library, ["probe"], 4, spread=Spread(launcher="srun"))
