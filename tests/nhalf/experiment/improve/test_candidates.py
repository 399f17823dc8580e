"""Which candidates a launch has, in their order, and what each of them changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from nhalf.experiment.improve.candidates import candidates
from nhalf.experiment.improve.candidates.settings import limits_beside, settings_of
from nhalf.experiment.improve.change import Candidate, LaunchChange, applied, in_order
from nhalf.experiment.improve.situation import Situation, with_trace
from nhalf.facts.program.program import Program
from nhalf.mpi.launch_settings import parse_launch
from nhalf.mpi.vendors import vendors
from tests.nhalf.experiment.improve.listed_tuner import ListedTuner, library
from tests.nhalf.traced_programs import call, program, sent, stored, timed, trace


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


def names(tried: list[Candidate]) -> list[str]:
    return [candidate.name for candidate in tried]


@pytest.fixture(autouse=True)
def _no_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """The libraries are nowhere, and their vendors cannot ask them anything."""

    for vendor in vendors().values():
        monkeypatch.setattr(
            type(vendor), "tuner", lambda self, library, form="": ListedTuner(library)
        )
        monkeypatch.setattr(type(vendor), "eager_limits", lambda self, library: {"LIMIT": 4096})


def test_each_setting_is_taken_away_and_all_of_them() -> None:
    inherited = {"FI_PROVIDER": "tcp", "MPIR_CVAR_NOLOCAL": "1", "HOME": "/", "I_MPI_PIN": "0"}
    tried = situation("mpich", "mpiexec -genv UCX_TLS tcp -n 2 ./p", **inherited)
    assert settings_of(tried) == ["FI_PROVIDER", "MPIR_CVAR_NOLOCAL", "UCX_TLS"]
    by_name = {candidate.name: candidate for candidate in candidates(tried)}
    everything = applied([by_name["without any setting"].change], tried.launch)
    assert everything.words == ["mpiexec", "-n", "2", "./p"]
    assert everything.environment == {"HOME": "/", "I_MPI_PIN": "0"}
    without_it = applied([by_name["without UCX_TLS"].change], tried.launch)
    assert without_it.words == everything.words
    assert without_it.environment == inherited


def test_settings_of_other_libraries_and_those_that_are_needed_stay() -> None:
    environment = {
        "OMPI_MCA_plm": "isolated",
        "OMPI_MCA_btl": "tcp,self",
        "MPIR_CVAR_NOLOCAL": "1",
        "FI_PROVIDER_PATH": "/opt",
    }
    tried = situation("openmpi", "mpirun --mca coll ^tuned -n 2 ./p", **environment)
    assert settings_of(tried) == ["OMPI_MCA_btl", "OMPI_MCA_coll"]


def test_binding_is_tried_where_ranks_have_cores_and_are_not_bound() -> None:
    def bound(words: str, ranks: int, vendor: str = "mpich") -> list[str]:
        tried = candidates(situation(vendor, words, all_to(1, ranks)))
        return [name for name in names(tried) if "bound" in name or "pinned" in name]

    assert bound("mpiexec -n 2 ./p", 2) == ["bound to cores"]
    assert bound("mpiexec -n 2 ./p", 5) == []
    assert bound("mpiexec -bind-to core -n 2 ./p", 2) == ["not bound"]
    assert bound("mpiexec --bind-to none -n 2 ./p", 2) == ["bound to cores"]
    assert bound("mpirun --bind-to none -n 2 ./p", 2, "openmpi") == ["bound to cores"]
    assert bound("mpiexec -n 2 ./p", 2, "intel") == ["pinned to cores", "not pinned"]
    tried = situation("openmpi", "mpirun --bind-to none -n 2 ./p", all_to(1))
    (change,) = [c.change for c in candidates(tried) if c.name == "bound to cores"]
    words = applied([change], tried.launch).words
    assert words == ["mpirun", "--bind-to", "core", "--map-by", "core", "-n", "2", "./p"]


def test_srun_has_options_of_its_own() -> None:
    launch = parse_launch(["srun", "--mpi=pmi2", "--cpu-bind=none", "-n", "2", "./p"], {})
    tried = Situation(
        launch, library("mpich"), [library("mpich"), library("intel")], all_to(1), cores=4
    )
    by_name = {candidate.name: candidate for candidate in candidates(tried)}
    assert [name for name in by_name if "bound" in name or name.startswith("with ")] == [
        "bound to cores"
    ]
    bound = applied([by_name["bound to cores"].change], launch)
    assert bound.words == ["srun", "--cpu-bind=cores", "--mpi=pmi2", "-n", "2", "./p"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("MPICH Version:      5.0.2", "mpich-5.0.2"),
        ("Open MPI v5.0.2, package", "openmpi-5.0.2"),
        ("Another MPI 1.0", None),
    ],
)
def test_of_a_launcher_of_all_the_trace_names_the_library(
    text: str, named: str | None, tmp_path: Path
) -> None:
    traced = program(2)
    traced.trace.library = text
    installed = [library("mpich"), library("openmpi")]
    for words, expected in (("srun -n 2 ./p", named), ("nhalf try -- ./p", None)):
        launch = parse_launch(words.split(), {})
        opened = Program.open(stored(traced, tmp_path / words[:4]))
        seen = with_trace(Situation(launch, None, installed), opened, None)
        assert (seen.library.name if seen.library else None) == expected
        assert seen.ranks == 2


def test_all_that_is_saved_may_be_saved_of_the_time_that_counts() -> None:
    launch = parse_launch(["mpiexec", "-n", "2", "./p"], {"UCX_TLS": "tcp"}, "hydra")
    begun = Situation(launch, library("mpich"), [library("mpich")])
    traced = program(2, sent({(0, 1): 1, (1, 0): 1}, 10_000, time_s=0.1))
    upper = {}
    for printed_s in (None, 0.5, 0.05, 0.0, 7.0):
        tried = candidates(with_trace(begun, traced, printed_s))
        (without,) = [c for c in tried if c.name == "without UCX_TLS"]
        upper[printed_s] = without.upper_share
    # The launch takes 1 s, of which each rank is 0.2 s in MPI.
    assert upper == pytest.approx({None: 0.2, 0.5: 0.4, 0.05: 1.0, 0.0: 0.2, 7.0: 0.2})


def test_of_a_program_without_times_nothing_is_bounded() -> None:
    schedule = program(2, sent({(0, 1): 1}, 10_000), detail="schedule")
    tried = candidates(situation("mpich", "mpiexec -n 2 ./p", schedule, UCX_TLS="tcp"))
    assert {candidate.upper_share for candidate in tried} == {1.0}


def overlapping(computes_s: float) -> Program:
    """A rank that begins to receive, computes, and waits for what was sent long before."""
    end_s = computes_s + 2.0
    return timed(
        2,
        call(1, "MPI_Irecv", "received", 0, 0.0, end_s),
        call(1, "MPI_Wait", "waiting", -2, computes_s, end_s),
        call(0, "MPI_Send", "sent", 1, 0.0, end_s),
    )


@pytest.mark.parametrize(
    ("vendor", "words", "name"),
    [
        ("mpich", "mpiexec", "MPIR_CVAR_ASYNC_PROGRESS"),
        ("intel", "mpiexec", "I_MPI_ASYNC_PROGRESS"),
        ("openmpi", "mpirun --mca btl tcp,self", "OMPI_MCA_btl_tcp_progress_thread"),
        ("openmpi", "mpirun --mca btl ^tcp", ""),
        ("openmpi", "mpirun", ""),
    ],
)
def test_a_thread_makes_progress_where_something_can_overlap(
    vendor: str, words: str, name: str
) -> None:
    def threads(traced: Program, **environment: str) -> list[Candidate]:
        tried = candidates(situation(vendor, f"{words} -n 2 ./p", traced, **environment))
        return [candidate for candidate in tried if candidate.name == "progress while computing"]

    variables = [dict(thread.change.variables) for thread in threads(overlapping(4.0))]
    assert variables == ([{name: "1"}] if name else [])
    assert threads(overlapping(0.0)) == threads(all_to(1)) == []
    if name:
        (thread,) = threads(overlapping(4.0))
        # Of ten seconds two of one of two ranks may be hidden; a thread takes time from computing.
        assert (thread.upper_share, thread.expected_share) == (1.0, pytest.approx(0.5 * 0.1))
        assert threads(overlapping(4.0), **{name: "1"}) == []


@pytest.mark.parametrize(("computes_s", "hosts", "number"), [(4.0, 1, 1), (4.0, 2, 0), (0.0, 1, 0)])
def test_copies_in_parts_by_a_thread_are_tried_within_a_host(
    computes_s: float, hosts: int, number: int
) -> None:
    traced = overlapping(computes_s)
    described = msgspec.structs.replace(traced.trace, ranks=trace(2, hosts, 10.0).ranks)
    traced = dataclasses.replace(traced, trace=described)
    tried = candidates(situation("mpich", "mpiexec -n 2 ./p", traced))
    changes = [dict(one.change.variables) for one in tried if one.name.endswith(" in parts")]
    both = {"MPIR_CVAR_ASYNC_PROGRESS": "1", "MPIR_CVAR_CH4_CMA_ENABLE": "0"}
    assert changes == [both] * number


def on_hosts(hosts: str, partner_of: Mapping[int, int]) -> Program:
    """Ranks on hosts of one letter each, which send to their partners all the time."""
    traced = program(
        len(hosts), sent({(r, p): 1 for r, p in partner_of.items()}, 10_000, time_s=0.4)
    )
    for record, host in zip(traced.trace.ranks, hosts, strict=True):
        record.host = host
    return traced


HALVES = {0: 2, 1: 3, 2: 0, 3: 1}
ENDS = {0: 3, 1: 2, 2: 1, 3: 0}


@pytest.mark.parametrize(
    ("hosts", "partners", "placements"),
    [
        ("aaaa", HALVES, {}),
        ("aabb", HALVES, {"cyclic distribution": "-ppn 1"}),
        ("abab", HALVES, {"block distribution": "-ppn 2"}),
        ("aabb", ENDS, {"placed by traffic": "-rankmap", "cyclic distribution": "-ppn 1"}),
        ("aaab", HALVES, {"cyclic distribution": "-ppn 1", "block distribution": "-ppn 2"}),
        ("abc", {0: 1}, {}),
        ("aab", {0: 2, 1: 1}, {"placed by traffic": "-rankmap"}),
        ("", {}, {}),
        pytest.param("ab" * 600, {0: 1}, {}, id="many ranks"),
    ],
)
def test_ranks_are_placed_where_it_may_save_traffic_between_hosts(
    hosts: str, partners: Mapping[int, int], placements: Mapping[str, str]
) -> None:
    tried = candidates(situation("mpich", "mpiexec -n 4 ./p", on_hosts(hosts, partners)))
    found = {
        candidate.name: " ".join(candidate.change.options)
        for candidate in in_order(tried)
        if "distribution" in candidate.name or "placed" in candidate.name
    }
    assert list(found) == list(placements)
    assert all(found[name].startswith(words) for name, words in placements.items()), found


def test_placements_are_ordered_by_the_bytes_that_stay_within_hosts() -> None:
    tried = candidates(situation("mpich", "mpiexec -n 4 ./p", on_hosts("aabb", ENDS)))
    by_name = {candidate.name: candidate for candidate in tried}
    placed, cyclic = by_name["placed by traffic"], by_name["cyclic distribution"]
    assert placed.expected_share == pytest.approx(0.6 * placed.upper_share)
    assert cyclic.expected_share == pytest.approx(0.05 * cyclic.upper_share)
    assert placed.excludes(cyclic)


def by_algorithms(traced: Program, ranks: int, vendor: str = "mpich") -> list[Candidate]:
    tried = candidates(situation(vendor, f"mpiexec -n {ranks} ./p", traced))
    return [candidate for candidate in tried if candidate.change.rules]


def test_algorithms_are_those_that_suit_the_ranks() -> None:
    assert names(by_algorithms(all_to(1, 3), 3)) == ["barrier by ring"]
    assert names(by_algorithms(all_to(1, 2), 2)) == ["barrier by ring", "barrier by tree"]


def reducing(ranks: int, *sizes: tuple[int, float]) -> Program:
    """Ranks that allreduce data of these sizes for these seconds of one."""
    return program(
        ranks,
        [
            {"rank": rank, "call": "MPI_Allreduce", "kind": "collective", "count": 1}
            | {"size_bytes": size_bytes, "time_s": time_s}
            for rank in range(ranks)
            for size_bytes, time_s in sizes
        ],
    )


def test_two_sizes_have_two_rules_which_go_together(tmp_path: Path) -> None:
    tried = by_algorithms(reducing(2, (8, 0.2), (1 << 20, 0.4), (64, 0.001)), 2)
    assert names(tried) == [
        *("allreduce of 1 MiB by ring", "allreduce of 1 MiB by tree"),
        "allreduce by nowhere",
        *("allreduce of 8 B by ring", "allreduce of 8 B by tree"),
    ]
    large, small = tried[0], tried[4]
    assert (large.upper_share, small.upper_share) == (pytest.approx(0.601), pytest.approx(0.4))
    assert not large.excludes(small)
    assert large.excludes(tried[1])
    launch = parse_launch(["mpiexec", "./p"], {"FORCE_allreduce": "tree", "HOME": "/"})
    without = Candidate("without", "", "", LaunchChange({"FORCE_allreduce": None}))
    assert not large.excludes(without), "what is not set any more leaves sizes to be chosen"
    assert without.excludes(large), "rules have taken the variable away"
    tuning = tmp_path / "rules"
    both = applied([large.change, small.change], launch, tuning)
    assert both.environment == {"HOME": "/", "RULES": str(tuning)}
    assert ListedTuner(library("mpich")).read(tuning) == [*large.change.rules, *small.change.rules]


def test_what_no_file_holds_is_forced_for_all_sizes(tmp_path: Path) -> None:
    traced = reducing(2, (8, 0.2))
    (forced,) = [c for c in by_algorithms(traced, 2) if c.name.endswith("by nowhere")]
    launch = parse_launch(["mpiexec", "./p"], {})
    changed = applied([forced.change], launch, tmp_path / "rules")
    assert changed.environment == {"FORCE_allreduce": "nowhere"}
    assert list(tmp_path.iterdir()) == []


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
    tried = candidates(situation("mpich", "mpiexec -n 2 ./p", all_to(1)))
    (limit,) = [candidate for candidate in tried if candidate.name == "LIMIT=16384"]
    # Rank 0 sends for 0.4 s of 1 s, as rank 1 receives; each is 0.8 s in MPI.
    assert limit.upper_share == pytest.approx(0.8)
    unused = situation("mpich", "mpiexec -n 2 ./p", program(2, sent({(0, 1): 1}, 500)))
    (limit,) = [c for c in candidates(unused) if c.name.startswith("LIMIT")]
    assert not limit.is_worth_a_launch


def test_candidates_are_ordered_by_what_they_may_save() -> None:
    tried = situation("mpich", "mpiexec -n 2 ./p", all_to(1), FI_PROVIDER="tcp")
    ordered = in_order(candidates(tried))
    shares = [candidate.expected_share for candidate in ordered]
    assert shares == sorted(shares, reverse=True)
    assert ordered[0].name == "without FI_PROVIDER"


def test_every_candidate_says_what_it_changes_and_how_to_undo_it() -> None:
    for vendor in ("mpich", "intel", "openmpi"):
        tried = situation(vendor, "mpiexec -n 2 ./p", all_to(1), FI_PROVIDER="tcp")
        for candidate in candidates(tried):
            assert candidate.text
            assert candidate.undo
            assert 0 <= candidate.expected_share <= candidate.upper_share <= 1
            if candidate.is_worth_a_launch and candidate.change.subjects:
                changed = applied([candidate.change], tried.launch)
                assert (changed.words, changed.environment) != (
                    tried.launch.words,
                    tried.launch.environment,
                )


def test_a_launch_of_which_nothing_is_known_still_has_its_settings() -> None:
    launch = parse_launch(["./run.sh"], {"I_MPI_FABRICS": "ofi", "UCX_TLS": "tcp"})
    tried = names(candidates(Situation(launch, None)))
    assert tried == ["without I_MPI_FABRICS", "without UCX_TLS", "without any setting"]
    assert names(candidates(Situation(parse_launch(["./run.sh"], {}), None))) == []


class _Abi:
    content: ClassVar[bytes] = b"\x7fELF libmpi_abi.so.0"


def test_a_program_of_the_standard_abi_runs_on_another_library(tmp_path: Path) -> None:
    file = tmp_path / "program"
    file.write_bytes(_Abi.content)
    installed = [library(vendor) for vendor in ("mpich", "intel", "openmpi")]
    launch = parse_launch(["mpiexec", "-n", "2", str(file)], {}, "hydra")
    tried = candidates(Situation(launch, installed[0], installed))
    (with_intel,) = [c for c in tried if c.name.startswith("with ")]
    changed = applied([with_intel.change], launch)
    assert changed.words == ["/nowhere/intel/mpiexec", "-n", "2", str(file)]
    assert changed.environment == {"LD_LIBRARY_PATH": "/nowhere/intel/lib"}
    trial = parse_launch(["nhalf", "try", "--mpi", "mpich", "--", str(file)], {})
    tried = candidates(Situation(trial, installed[0], installed))
    (with_intel,) = [c for c in tried if c.name.startswith("with ")]
    assert applied([with_intel.change], trial).words == [
        *("nhalf", "try", "--mpi", "intel-5.0.2", "--", str(file)),
    ]


def test_what_another_library_does_not_honour_is_not_tried_upon_it(tmp_path: Path) -> None:
    file = tmp_path / "program"
    file.write_bytes(_Abi.content)
    installed = [library(vendor) for vendor in ("intel", "mpich")]
    environment = {"I_MPI_PIN": "0", "FI_PROVIDER": "tcp"}
    launch = parse_launch(["mpiexec", "-n", "2", str(file)], environment, "hydra")
    tried = candidates(Situation(launch, installed[0], installed, all_to(100)))
    (with_mpich,) = [c for c in tried if c.name.startswith("with ")]
    upon_it = {c.name for c in tried if not c.excludes(with_mpich)}
    assert "without FI_PROVIDER" in upon_it
    assert "without any setting" in upon_it
    assert "without I_MPI_PIN" not in upon_it
    assert not any(name.startswith(("I_MPI_", "barrier")) for name in upon_it)
    (without,) = [c for c in tried if c.name == "without I_MPI_PIN"]
    assert not with_mpich.excludes(without)
