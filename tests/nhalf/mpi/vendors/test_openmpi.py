"""Open MPI: how its ranks are started and bound, and what its programs need."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import FailedError
from nhalf.mpi import Library
from nhalf.mpi.decision_table import Rule, choice
from nhalf.mpi.han import is_choice
from nhalf.mpi.job import MpiJob
from nhalf.mpi.vendors import eager_limits
from nhalf.mpi.vendors import openmpi as module
from nhalf.mpi.vendors.openmpi import OpenMpi
from tests.nhalf.experiment.improve.listed_tuner import library
from tests.nhalf.measure.virtual.programs import library_of

OPENMPI = OpenMpi()

COMMAND = "./probe --ranks a b"
MPIEXEC = "/opt/mpi/bin/mpiexec"
JOB = MpiJob(
    command=("./probe", "--ranks", "a b"),
    ranks=4,
    mpiexec=Path(MPIEXEC),
    environment={"LD_LIBRARY_PATH": "/opt/mpi/lib"},
)


@pytest.fixture
def prefix(empty_machine: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A prefix on a machine that hides nothing and has a fabric."""
    monkeypatch.setattr(module, "can_read_neighbours", lambda: True)
    monkeypatch.setattr(module, "has_fabric", lambda: True)
    (empty_machine / "mpi/lib").mkdir(parents=True)
    return empty_machine / "mpi"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, f"{MPIEXEC} -n 4 --map-by core --bind-to core {COMMAND}"),
        ({"bind": False}, f"{MPIEXEC} -n 4 --map-by core --bind-to none {COMMAND}"),
        (
            {"oversubscribe": True},
            f"{MPIEXEC} -n 4 --map-by core:OVERSUBSCRIBE --bind-to core:overload-allowed {COMMAND}",
        ),
        (
            {"oversubscribe": True, "bind": False},
            f"{MPIEXEC} -n 4 --map-by core:OVERSUBSCRIBE --bind-to none {COMMAND}",
        ),
        (
            {"hosts": ("a", "b", "c")},
            f"{MPIEXEC} -n 4 --host a:2,b:2,c:2 -x LD_LIBRARY_PATH --map-by slot --bind-to core "
            f"{COMMAND}",
        ),
        (
            {"hosts": ("a", "b"), "cyclic": True, "oversubscribe": True, "bind": False},
            f"{MPIEXEC} -n 4 --host a:2,b:2 -x LD_LIBRARY_PATH --map-by node:OVERSUBSCRIBE "
            f"--bind-to none {COMMAND}",
        ),
        ({"mpiexec": None}, f"mpirun -n 4 --map-by core --bind-to core {COMMAND}"),
    ],
)
def test_words(changes: dict[str, Any], expected: str) -> None:
    assert " ".join(OPENMPI.tokens(replace(JOB, **changes))) == expected


def test_it_may_run_as_root_only_when_the_user_is() -> None:
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    assert allowed.items() <= OPENMPI.environment(replace(JOB, as_root=True)).items()
    assert not allowed.keys() & OPENMPI.environment(JOB).keys()


def test_it_of_another_prefix_is_not_followed(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "OPAL_PREFIX" not in OPENMPI.variables(prefix)
    monkeypatch.setenv("OPAL_PREFIX", "/elsewhere")
    assert OPENMPI.variables(prefix)["OPAL_PREFIX"] == str(prefix)


def test_it_copies_twice_where_reading_is_forbidden(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    single = {"OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_smsc": "^cma"}
    assert not single.keys() & OPENMPI.variables(prefix).keys()
    monkeypatch.setattr(module, "can_read_neighbours", lambda: False)
    assert single.items() <= OPENMPI.variables(prefix).items()


@pytest.mark.parametrize("chosen", ["", "environment", "site", "user"])
def test_it_does_not_wait_for_a_fabric_unless_told(
    chosen: str, prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "OMPI_MCA_btl" not in OPENMPI.variables(prefix)
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
    found = OPENMPI.variables(prefix)
    assert found.get("OMPI_MCA_btl") == (None if chosen else "^ofi")


@pytest.mark.parametrize(
    ("version", "components", "speaks"),
    [
        ("5.0.11", ["s2"], ("pmix",)),
        ("4.1.4", ["isolated", "pmix3x"], ("pmix",)),
        ("4.1.4", ["ext3x", "s1", "s2"], ("pmix", "pmi2")),
        ("4.1.4", [], ("pmix",)),
    ],
)
def test_it_speaks_pmi2_where_version_4_was_built_with_it(
    tmp_path: Path,
    script: Callable[[Path, str], Path],
    version: str,
    components: list[str],
    speaks: tuple[str, ...],
) -> None:
    lines = [f"echo mca:pmix:{one}:version:component:4.1.4" for one in components]
    script(tmp_path / "bin/ompi_info", "\n".join(lines) or "exit 1")
    mpiexec = tmp_path / "bin/mpiexec"
    library = Library("o", "openmpi", version, tmp_path, mpiexec, "openmpi", False, None, "path")
    assert OPENMPI.speaks(library) == speaks


VADER = "btl_vader_eager_limit"
INFO = """\
mca:btl:self:param:btl_self_eager_limit:value:1024
mca:btl:ofi:param:btl_ofi_eager_limit:value:0
mca:btl:sm:param:btl_sm_rndv_eager_limit:value:32768
mca:btl:sm:param:btl_sm_eager_limit:value:4096
mca:btl:sm:param:btl_sm_eager_limit:source:default
mca:btl:vader:param:btl_vader_eager_limit:value:4096
mca:btl:tcp:param:btl_tcp_eager_limit:value:65536
"""


def test_it_names_the_eager_limits_between_ranks() -> None:
    assert module.parse_eager_limits(INFO) == {
        "btl_sm_eager_limit": 4096,
        "btl_tcp_eager_limit": 65536,
    }
    assert VADER in module.parse_eager_limits(INFO.replace("btl:sm", "btl:none"))


def test_a_library_that_cannot_be_asked_has_no_eager_limits(tmp_path: Path) -> None:
    absent, unasked = (
        Library(
            f"{vendor}-5", vendor, "5", tmp_path,
            mpiexec=None, launcher=vendor, abi=True, compiler=None, origin="path",
        )
        for vendor in ("openmpi", "mpich")
    )  # fmt: skip
    assert eager_limits([absent, unasked]) == {}


def test_both_files_are_written_and_removed_together(tmp_path: Path) -> None:
    tuner = OPENMPI.tuner(library_of("openmpi")).placed(lambda ranks: 4)
    path = tmp_path / tuner.file_name
    beside = tmp_path / f"han-{tuner.file_name}"
    rules = [
        Rule("allreduce", 8, 8, 0, math.inf, "tuned"),
        Rule("alltoall", 8, 8, 0, math.inf, "pairwise"),
        Rule("bcast", 8, 8, 0, 1023, "binomial"),
        Rule("bcast", 8, 8, 1024, math.inf, "han-intra/up=adapt"),
    ]
    tuner.write(path, rules)
    assert sorted(tuner.read(path), key=repr) == sorted(rules, key=repr)
    assert (
        tuner.activate(path).items()
        >= {
            "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(path),
            "OMPI_MCA_coll_han_dynamic_rules_filename": str(beside),
            "OMPI_MCA_coll_han_bcast_up_module": "1",
        }.items()
    )
    # Both would be rejected as a whole: so is what is read.
    beside.write_text(beside.read_text().replace("han @intra", "hans @intra"))
    with pytest.raises(FailedError, match="no component 'hans'"):
        tuner.read(path)
    tuner.remove(path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_without_rules_for_han_puts_it_aside(tmp_path: Path) -> None:
    tuner = OPENMPI.tuner(library_of("openmpi"))
    path, worse = tmp_path / "site.rules", tmp_path / "worse.rules"
    path.write_text(tuner.text([Rule("bcast", 8, 8, 0, math.inf, "binomial")]))
    (tmp_path / "han-worse.rules").write_text("of an earlier search")
    tuner.write_with(path, Rule("bcast", 8, 8, 8, 8, "pipeline"), worse)
    assert choice(tuner.read(worse), "bcast", 8, 8) == "pipeline"
    assert choice(tuner.read(worse), "bcast", 8, 9) == "binomial"
    for file in (path, worse):
        variables = tuner.activate(file)
        assert variables["OMPI_MCA_coll_han_priority"] == "0"
        assert "OMPI_MCA_coll_han_use_dynamic_file_rules" not in variables


def test_candidates_of_several_nodes_are_for_several_nodes() -> None:
    tuner = OPENMPI.tuner(library_of("openmpi"))
    divided = [name for name in tuner.algorithms("bcast") if is_choice(name)]
    assert "tuned" in divided
    for nodes, ranks, suits in ((1, 8, False), (4, 8, True), (8, 8, False), (0, 8, False)):
        tuner.placed(lambda _, nodes=nodes: nodes)
        assert {tuner.suits("bcast", name, ranks) for name in divided} == {suits}
        assert tuner.suits("bcast", "binomial", ranks)
    assert not any("=sm" in name for name in divided) or tuner.shares_memory
    tuner.placed(lambda ranks: 4, shares_memory=False)
    assert not any("=sm" in name for name in tuner.algorithms("bcast"))


@pytest.mark.parametrize(
    ("priorities", "reach"),
    [
        ({"tuned": 30}, "rules"),
        ({"tuned": 30, "xhc": 0}, "rules"),
        ({"tuned": 30, "xhc": 40}, "collectives"),
        # One that has no file of rules for each level.
        ({"tuned": 30, "han": 35}, "collectives"),
    ],
)
def test_rules_change_more_where_a_rival_makes_room_for_them(
    priorities: dict[str, int], reach: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        f"mca:coll:{name}:param:coll_{name}_priority:value:{number}"
        for name, number in priorities.items()
    ]
    monkeypatch.setattr("nhalf.mpi.coll_tuned.printed", lambda library, framework: "\n".join(lines))
    assert OPENMPI.tuner(library("openmpi")).reach("bcast", "binomial") == reach
