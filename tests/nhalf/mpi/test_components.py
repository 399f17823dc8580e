"""Components of Open MPI's collectives that are off: which there are, and what switches one on."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from nhalf.base.errors import FailedError, InputError, MissingError
from nhalf.mpi import Library
from nhalf.mpi.components import Components, component_switches, switched_off
from nhalf.mpi.decision_table import Rule
from nhalf.mpi.switch import one_host

OLD = {"coll_tuned_priority": "30", "coll_sm_priority": "0", "coll_adapt_priority": "0"}
LATER = {**OLD, "coll_acoll_priority": "0", "coll_xhc_priority": "0"}


def library(version: str) -> Library:
    return Library(
        f"openmpi-{version}", "openmpi", version, Path("/opt/mpi"),
        mpiexec=None, launcher="openmpi", abi=False, compiler=None, origin="path",
    )  # fmt: skip


def components(version: str, values: dict[str, str]) -> Components:
    return Components(library(version), values)


def test_a_library_that_has_them_is_raced_with_them() -> None:
    later = components("6.0.0", LATER)
    assert later.note == ""
    assert later.algorithms("bcast") == ["acoll", "xhc", "sm"]
    assert later.algorithms("alltoall") == ["acoll"]
    assert later.algorithms("scan") == []
    assert later.force({"bcast": "xhc"}) == {"OMPI_MCA_coll_xhc_priority": "90"}


def test_a_version_without_them_is_refused_in_a_line() -> None:
    old = components("5.0.11", OLD)
    absent = "openmpi-5.0.11 has no coll/acoll and no coll/xhc, which come with Open MPI 6"
    assert old.note == absent
    assert old.algorithms("bcast") == ["sm"]
    with pytest.raises(MissingError) as caught:
        components("5.0.11", {"coll_tuned_priority": "30"})
    assert str(caught.value.message) == absent
    # What is on already is no candidate.
    assert switched_off({**LATER, "coll_xhc_priority": "40"}) == ["acoll", "sm"]
    with pytest.raises(MissingError, match="no component of collectives that is off"):
        components("6.0.0", dict.fromkeys(LATER, "40"))


def test_they_take_the_ranks_of_a_node() -> None:
    later = components("6.0.0", LATER)
    assert later.suits("bcast", "xhc", 2)
    assert not later.suits("bcast", "acoll", 15)
    assert later.suits("bcast", "acoll", 16)
    assert not later.placed(lambda ranks: 2).suits("bcast", "xhc", 4)
    with pytest.raises(InputError, match="take no virtual time"):
        later.placed(lambda ranks: 1, shares_memory=False)


def test_one_takes_all_sizes_of_its_operations(tmp_path: Path) -> None:
    later = components("6.0.0", LATER)
    rules = [
        Rule("bcast", 4, 4, 8, 1023, "xhc"),
        Rule("bcast", 4, 4, 1024, math.inf, "sm"),
        Rule("barrier", 4, 4, 0, math.inf, "xhc"),
    ]
    expressed = later.expressible(rules)
    assert expressed == [
        Rule("bcast", 0, math.inf, 0, math.inf, "xhc"),
        Rule("barrier", 0, math.inf, 0, math.inf, "xhc"),
    ]
    assert later.expressible([]) == []
    path = tmp_path / later.file_name
    later.write(path, expressed)
    assert later.activate(path) == {"OMPI_MCA_coll_xhc_priority": "90"}
    assert later.operations_in(path) == ["allreduce", "barrier", "bcast", "reduce"]
    later.write_with(path, Rule("bcast", 4, 4, 8, 8, "acoll"), path)
    assert later.activate(path) == {"OMPI_MCA_coll_acoll_priority": "90"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("export OMPI_MCA_coll_ucc_priority=90\n", "switches no component of openmpi-6.0.0 on"),
        ("export OMPI_MCA_coll_xhc_priority=0\n", "is no priority above 0"),
        ("export OMPI_MCA_coll_xhc_priority=high\n", "is no priority above 0"),
        ("", "it sets no variable"),
    ],
)
def test_mistakes_are_said(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "openmpi.env"
    path.write_text(text)
    with pytest.raises(FailedError, match=said):
        components("6.0.0", LATER).read(path)


def test_they_are_switches_of_a_whole_program() -> None:
    names = [switch.name for switch in component_switches(LATER)]
    assert names == [f"collectives by coll/{name}" for name in ("acoll", "xhc", "sm")]
    (switch,) = component_switches(OLD)
    assert switch.variables == {"OMPI_MCA_coll_sm_priority": "90"}
    assert switch.needs is one_host
    assert list(component_switches({})) == []
