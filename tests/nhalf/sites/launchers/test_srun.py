"""What srun offers in any of its forms, and what is chosen from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.errors import MissingError
from nhalf.sites.launchers import srun as module
from nhalf.sites.launchers.srun import Offer, choose, offer, parse_offer

NEW = "MPI plugin types are...\n"
PMIX = "specific pmix plugin versions available: "
ANSWERS = {
    # A comment in the settings for Swift/T on Biowulf; before 2018.
    "Biowulf": (
        "srun: MPI types are...\nsrun: mpi/none\nsrun: mpi/openmpi\nsrun: mpi/pmi2\n",
        ["none", "openmpi", "pmi2"],
    ),
    # A comment in the tests of AWS ParallelCluster; Slurm 20 or before.
    "ParallelCluster": (
        "srun: MPI types are...\nsrun: none\nsrun: openmpi\nsrun: pmi2\n"
        "srun: pmix\nsrun: pmix_v3\n",
        ["none", "openmpi", "pmi2", "pmix", "pmix_v3"],
    ),
    # Recorded here: Slurm 22.05 of Debian 12.
    "22.05": (
        f"{NEW}\tpmix\n\tnone\n\tcray_shasta\n\tpmi2\n{PMIX}pmix_v4\n",
        ["pmix", "none", "cray_shasta", "pmi2", "pmix_v4"],
    ),
    # openpmix/prrte, a discussion of January 2023; a machine with Cornelis' network.
    "prrte": (f"{NEW}\tcray_shasta\n\tnone\n\tpmi2\n", ["cray_shasta", "none", "pmi2"]),
    # GoogleCloudPlatform/slurm-gcp, a change of March 2024 that speaks of 23.11 as to come.
    "23.02": (
        f"{NEW}\tpmi2\n\tnone\n\tpmix\n\tcray_shasta\n{PMIX}pmix_v3\n",
        ["pmi2", "none", "pmix", "cray_shasta", "pmix_v3"],
    ),
    # Documented, not recorded: several versions are joined by commas in one line.
    "two versions": (
        f"{NEW}\tnone\n\tpmix\n{PMIX}pmix_v5,pmix_v4\n",
        ["none", "pmix", "pmix_v5", "pmix_v4"],
    ),
    # pmodels/mpich, a report of September 2026 on TACC Horizon, Slurm 26.05.2; blanks for tabs.
    "26.05": (
        f"{NEW}        none\n        cray_shasta\n        pmi2\n        pmix\n{PMIX}pmix_v4\n\n",
        ["none", "cray_shasta", "pmi2", "pmix", "pmix_v4"],
    ),
    # pyiron/executorlib, July 2025: what is printed behind the list if a plug-in is broken.
    "an error behind": (
        f"{NEW}\tnone\n\tpmix\n\tcray_shasta\n\tpmi2\n{PMIX}pmix_v5\n"
        "srun: error:  mpi/pmix_v5: init: (null) [0]: mpi_pmix.c:193: pmi/pmix: can not load PMIx "
        "library\nsrun: error: Couldn't load specified plugin name for mpi/pmix\n",
        ["none", "pmix", "cray_shasta", "pmi2", "pmix_v5"],
    ),
}
"""What `srun --mpi=list` printed, by where it was printed, and the kinds in it."""


@pytest.fixture(autouse=True)
def ask_again() -> None:
    module._offer_of.cache_clear()


@pytest.mark.parametrize(("text", "kinds"), ANSWERS.values(), ids=list(ANSWERS))
def test_every_form_of_the_answer(text: str, kinds: list[str]) -> None:
    assert sorted(parse_offer(text).kinds) == sorted(kinds)
    assert parse_offer(text).reason == ""


@pytest.mark.parametrize("text", ["", "srun: fatal: Unable to process configuration file\n"])
def test_an_answer_without_a_list(text: str) -> None:
    assert parse_offer(text) == Offer((), "its answer has no list")


@pytest.mark.parametrize(
    ("speaks", "kinds", "chosen"),
    [
        (["pmi2"], ["none", "pmi2", "pmix"], "pmi2"),
        (["pmix", "pmi2"], ["none", "pmi2", "pmix"], "pmix"),
        (["pmix", "pmi2"], ["none", "pmi2"], "pmi2"),
        (["pmix"], ["none", "pmix_v3", "pmix_v4"], "pmix_v4"),
        (["pmix"], ["none", "pmix", "pmix_v4"], "pmix"),
        (["cray_shasta"], ["none", "cray_shasta", "pmi2"], "cray_shasta"),
        (["none"], ["none", "pmi2"], "none"),
        ([], ["none", "pmi2"], ""),
        (["pmix"], [], ""),
    ],
)
def test_the_first_that_both_know(speaks: list[str], kinds: list[str], chosen: str) -> None:
    assert choose("lib-1", speaks, Offer(tuple(kinds))) == chosen


def test_nothing_in_common_is_told_with_the_remedy() -> None:
    with pytest.raises(MissingError) as error:
        choose("openmpi-5.0.11", ["pmix"], Offer(("none", "pmi2")))
    assert str(error.value) == (
        "openmpi-5.0.11 and srun have no process management in common: openmpi-5.0.11 speaks pmix, "
        "srun --mpi=list offers pmi2; use --launcher mpirun, or choose one with SLURM_MPI_TYPE"
    )


@pytest.mark.parametrize("stream", ["", " >&2"])
def test_srun_is_asked_once(
    tmp_path: Path,
    script: Callable[[Path, str], Path],
    monkeypatch: pytest.MonkeyPatch,
    stream: str,
) -> None:
    (tmp_path / "answer").write_text(ANSWERS["22.05"][0])
    script(tmp_path / "srun", f"echo x >> {tmp_path}/asked; cat {tmp_path}/answer{stream}")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert offer() == offer() == Offer(("pmix", "none", "cray_shasta", "pmi2", "pmix_v4"))
    assert (tmp_path / "asked").read_text() == "x\n"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("echo 'srun: fatal: no configuration' >&2; exit 1", "exit code 1: srun: fatal"),
        ("echo nothing", "no list"),
        ("sleep 60", "no end within"),
    ],
)
def test_srun_that_does_not_answer(
    tmp_path: Path,
    script: Callable[[Path, str], Path],
    monkeypatch: pytest.MonkeyPatch,
    body: str,
    said: str,
) -> None:
    monkeypatch.setattr(module, "ASK_TIMEOUT_S", 1.0)
    script(tmp_path / "srun", body)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert offer().kinds == ()
    assert said in offer().reason


def test_no_srun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert offer() == Offer(reason="it is not found")
