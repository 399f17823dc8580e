# SPDX-License-Identifier: Apache-2.0
"""Which candidates a launch has, in their order, and what each of them changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from nhalf.decide.improve.candidate import Candidate, in_order
from nhalf.decide.improve.candidates import candidates
from nhalf.decide.improve.candidates.algorithms import most_used
from nhalf.decide.improve.candidates.eager_limits import limits_beside
from nhalf.decide.improve.candidates.inherited import settings_of
from nhalf.decide.improve.change import applied
from nhalf.decide.improve.situation import Situation
from nhalf.facts.program.program import Program
from nhalf.mpi import Library
from nhalf.mpi.launch_settings import parse_launch
from nhalf.mpi.vendors import vendors
from tests.nhalf.traced_programs import program, sent


def library(vendor: str, version: str = "5.0.2") -> Library:
    return Library(
        name=f"{vendor}-{version}",
        vendor=vendor,
        version=version,
        prefix=Path("/nowhere"),
        mpiexec=Path(f"/nowhere/{vendor}/mpiexec"),
        launcher=vendors()[vendor].launcher,
        abi=vendor != "openmpi",
        compiler=None,
        origin="prefix",
        environment={"LD_LIBRARY_PATH": f"/nowhere/{vendor}/lib"},
    )


def situation(
    vendor: str, words: str, traced: Program | None = None, **environment: str
) -> Situation:
    its_library = library(vendor)
    launch = parse_launch(words.split(), environment, its_library.launcher)
    return Situation(launch, its_library, [its_library], traced, cores=4)


def all_to(count: int, ranks: int = 2) -> Program:
    """Ranks that are in barriers for all of their time, and in messages of 10000 bytes."""
    barriers: list[Mapping[str, Any]] = [
        {"rank": rank, "call": "MPI_Barrier", "kind": "collective", "time_s": 0.4, "count": count}
        for rank in range(ranks)
    ]
    return program(ranks, [*barriers, *sent({(0, 1): 1}, 10_000, time_s=0.4)])


def names(found: list[Candidate]) -> list[str]:
    return [candidate.name for candidate in found]


@pytest.fixture(autouse=True)
def _no_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """The libraries are nowhere, and their vendors cannot ask them anything."""

    class NoTuner:
        def placed(self, nodes_of: Callable[[int], int], *, shares_memory: bool) -> NoTuner:
            assert (nodes_of(2), shares_memory) == (1, True)
            return self

        def algorithms(self, operation: str) -> list[str]:
            return {"barrier": ["ring", "tree"]}.get(operation, [])

        def suits(self, operation: str, algorithm: str, ranks: int) -> bool:
            return algorithm != "tree" or ranks != 3

        def force(self, chosen: Mapping[str, str]) -> dict[str, str]:
            return {f"FORCE_{name}": value for name, value in chosen.items()}

    for vendor in vendors().values():
        monkeypatch.setattr(type(vendor), "tuner", lambda self, library, form="": NoTuner())
        monkeypatch.setattr(type(vendor), "eager_limits", lambda self, library: {"LIMIT": 4096})


def test_each_setting_is_taken_away_and_all_of_them() -> None:
    inherited = {"FI_PROVIDER": "tcp", "MPIR_CVAR_NOLOCAL": "1", "HOME": "/", "I_MPI_PIN": "0"}
    found = situation("mpich", "mpiexec -genv UCX_TLS tcp -n 2 ./p", **inherited)
    assert settings_of(found) == ["FI_PROVIDER", "MPIR_CVAR_NOLOCAL", "UCX_TLS"]
    by_name = {candidate.name: candidate for candidate in candidates(found)}
    everything = applied([by_name["without any setting"].change], found.launch)
    assert everything.words == ["mpiexec", "-n", "2", "./p"]
    assert everything.environment == {"HOME": "/", "I_MPI_PIN": "0"}
    one = applied([by_name["without UCX_TLS"].change], found.launch)
    assert one.words == everything.words
    assert one.environment == inherited


def test_settings_of_other_libraries_and_those_that_are_needed_stay() -> None:
    environment = {
        "OMPI_MCA_plm": "isolated",
        "OMPI_MCA_btl": "tcp,self",
        "MPIR_CVAR_NOLOCAL": "1",
        "FI_PROVIDER_PATH": "/opt",
    }
    found = situation("openmpi", "mpirun --mca coll ^tuned -n 2 ./p", **environment)
    assert settings_of(found) == ["OMPI_MCA_btl", "OMPI_MCA_coll"]


def test_binding_is_tried_where_ranks_have_cores_and_are_not_bound() -> None:
    def bound(words: str, ranks: int, vendor: str = "mpich") -> list[str]:
        found = candidates(situation(vendor, words, all_to(1, ranks)))
        return [name for name in names(found) if "bound" in name or "pinned" in name]

    assert bound("mpiexec -n 2 ./p", 2) == ["bound to cores"]
    assert bound("mpiexec -n 2 ./p", 5) == []
    assert bound("mpiexec -bind-to core -n 2 ./p", 2) == ["not bound"]
    assert bound("mpiexec --bind-to none -n 2 ./p", 2) == ["bound to cores"]
    assert bound("mpirun --bind-to none -n 2 ./p", 2, "openmpi") == ["bound to cores"]
    assert bound("mpiexec -n 2 ./p", 2, "intel") == ["pinned to cores", "not pinned"]
    found = situation("openmpi", "mpirun --bind-to none -n 2 ./p", all_to(1))
    (change,) = [c.change for c in candidates(found) if c.name == "bound to cores"]
    words = applied([change], found.launch).words
    assert words == ["mpirun", "--bind-to", "core", "--map-by", "core", "-n", "2", "./p"]


def test_algorithms_are_those_of_the_operations_that_take_most() -> None:
    found = candidates(situation("mpich", "mpiexec -n 3 ./p", all_to(1, 3)))
    assert [name for name in names(found) if " by " in name] == ["barrier by ring"]
    found = candidates(situation("mpich", "mpiexec -n 2 ./p", all_to(1, 2)))
    assert [name for name in names(found) if " by " in name] == [
        "barrier by ring",
        "barrier by tree",
    ]


def test_operations_are_counted_in_all_their_blocking_forms() -> None:
    rows = [
        {"call": name, "kind": "collective", "time_s": time_s}
        for name, time_s in [
            ("MPI_Bcast", 1.0),
            ("MPI_Ibcast", 50.0),
            ("MPI_Reduce_scatter", 2.0),
            ("MPI_Reduce_scatter_block", 2.0),
            ("MPI_Barrier", 3.0),
            ("MPI_Scan", 0.0),
        ]
    ]
    assert most_used(program(1, rows)) == {
        "reduce-scatter": ("reduce_scatter", "reduce_scatter_block"),
        "barrier": ("barrier",),
    }
    assert most_used(program(1)) == {}


def test_limits_are_beside_the_sizes_that_take_most() -> None:
    def sizes(*pairs: tuple[int, float]) -> Program:
        return program(2, [row for size, s in pairs for row in sent({(0, 1): 1}, size, time_s=s)])

    assert limits_beside(sizes((10_000, 1.0)), 4096) == [16384]
    assert limits_beside(sizes((1000, 1.0)), 4096) == [512]
    assert limits_beside(sizes((1000, 1.0), (2000, 0.1), (9000, 1.0)), 4096) == [16384, 512]
    assert limits_beside(sizes((64, 1.0)), 64) == [512]
    assert limits_beside(sizes((1 << 30, 1.0)), 4096) == []
    assert limits_beside(program(2), 4096) == []


def test_a_limit_concerns_the_sizes_between_it_and_the_present_one() -> None:
    found = candidates(situation("mpich", "mpiexec -n 2 ./p", all_to(1)))
    (limit,) = [candidate for candidate in found if candidate.name == "LIMIT=16384"]
    # Rank 0 sends for 0.4 s of 1 s, as rank 1 receives; each is 0.8 s in MPI.
    assert limit.upper_share == pytest.approx(0.8)
    unused = situation("mpich", "mpiexec -n 2 ./p", program(2, sent({(0, 1): 1}, 500)))
    (limit,) = [c for c in candidates(unused) if c.name.startswith("LIMIT")]
    assert not limit.is_worth_a_launch


def test_candidates_are_ordered_by_what_they_may_save() -> None:
    found = situation("mpich", "mpiexec -n 2 ./p", all_to(1), FI_PROVIDER="tcp")
    ordered = in_order(candidates(found))
    shares = [candidate.expected_share for candidate in ordered]
    assert shares == sorted(shares, reverse=True)
    assert ordered[0].name == "without FI_PROVIDER"


def test_every_candidate_says_what_it_changes_and_how_to_undo_it() -> None:
    for vendor in ("mpich", "intel", "openmpi"):
        found = situation(vendor, "mpiexec -n 2 ./p", all_to(1), FI_PROVIDER="tcp")
        for candidate in candidates(found):
            assert candidate.text
            assert candidate.undo
            assert 0 <= candidate.expected_share <= candidate.upper_share <= 1
            if candidate.is_worth_a_launch and candidate.change.subjects:
                changed = applied([candidate.change], found.launch)
                assert (changed.words, changed.environment) != (
                    found.launch.words,
                    found.launch.environment,
                )


def test_a_launch_of_which_nothing_is_known_still_has_its_settings() -> None:
    launch = parse_launch(["./run.sh"], {"I_MPI_FABRICS": "ofi", "UCX_TLS": "tcp"})
    found = names(candidates(Situation(launch, None)))
    assert found == ["without I_MPI_FABRICS", "without UCX_TLS", "without any setting"]
    assert names(candidates(Situation(parse_launch(["./run.sh"], {}), None))) == []


class _Abi:
    content: ClassVar[bytes] = b"\x7fELF libmpi_abi.so.0"


def test_a_program_of_the_standard_abi_runs_on_another_library(tmp_path: Path) -> None:
    file = tmp_path / "program"
    file.write_bytes(_Abi.content)
    installed = [library(vendor) for vendor in ("mpich", "intel", "openmpi")]
    launch = parse_launch(["mpiexec", "-n", "2", str(file)], {}, "hydra")
    found = candidates(Situation(launch, installed[0], installed))
    (with_intel,) = [c for c in found if c.name.startswith("with ")]
    changed = applied([with_intel.change], launch)
    assert changed.words == ["/nowhere/intel/mpiexec", "-n", "2", str(file)]
    assert changed.environment == {"LD_LIBRARY_PATH": "/nowhere/intel/lib"}
    trial = parse_launch(["nhalf", "try", "--mpi", "mpich", "--", str(file)], {})
    found = candidates(Situation(trial, installed[0], installed))
    (with_intel,) = [c for c in found if c.name.startswith("with ")]
    assert applied([with_intel.change], trial).words == [
        *("nhalf", "try", "--mpi", "intel-5.0.2", "--", str(file)),
    ]
