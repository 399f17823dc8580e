"""Unchanged programs on the libraries' own code, in virtual time."""

from __future__ import annotations

import json
import os
import re
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from nhalf.base.errors import MissingError
from nhalf.machines import catalogue
from nhalf.machines.message import Messages
from nhalf.machines.wires import nodes_of
from nhalf.measure.virtual.launch import VirtualLaunch, run
from nhalf.mpi.discover import libraries
from tests.named_memory import named_memory
from tests.nhalf.measure.virtual.programs import built, every_library, in_turn, library_of, tried
from tests.schemas import check_schema

CLOCK_PS = 500
"""A reading of the clock takes 10 ns, of which a message of 10 rounds has this share."""


@pytest.mark.sampled(2)
@every_library
@pytest.mark.parametrize(
    ("machine", "placement"), [("sp2-mpl", "2x1"), ("altix-bx2", "1x2"), ("plain", "2x1")]
)
def test_half_a_round_trip_is_the_machines_curve(
    vendor: str, machine: str, placement: str, programs: Path, plain: Path
) -> None:
    name = str(plain) if machine == "plain" else machine
    messages = Messages(catalogue.machine(name))
    within = placement.startswith("1x")
    curve = messages.within_node if within else messages.between_nodes[0][1]
    program = built(vendor, "pingpong", programs)
    outcome = tried(name, vendor, 2, program, options=f"--placement {placement}")
    assert outcome.exit_code == 0, outcome.stderr
    lines = [line.split() for line in outcome.stdout.splitlines()]
    assert len(lines) == 13
    for size, time_ps in lines:
        expected = curve.time_s(int(size)) * 1e12
        # Long messages of a library are announced and answered, which crosses others on the SP2.
        close = 1e-4 if machine == "sp2-mpl" else 1e-5
        assert float(time_ps) - CLOCK_PS == pytest.approx(expected, rel=close), size


@in_turn("mpich")
def test_a_run_repeats_itself_to_the_last_digit(vendor: str, programs: Path) -> None:
    program = built(vendor, "crowd", programs)
    runs = [tried("altix-bx2", vendor, 7, program) for _ in range(3)]
    assert {outcome.exit_code for outcome in runs} == {0}, runs[0].stderr
    assert len({outcome.stdout for outcome in runs}) == 1
    assert runs[0].stdout.count("from ") == 18
    assert "wrong" not in runs[0].stdout
    virtual = {re.sub(r"[^,]* real, ", "", outcome.stderr) for outcome in runs}
    assert len(virtual) == 1


@in_turn("openmpi")
def test_a_deadlock_is_named(vendor: str, programs: Path) -> None:
    outcome = tried("sp2-mpl", vendor, 2, built(vendor, "habits", programs), "deadlock")
    assert outcome.exit_code == 1
    assert outcome.stdout == ""
    assert outcome.stderr.splitlines()[-1] == (
        "nhalf: error: deadlock: rank 0 waits in MPI_Recv for rank 1, tag 5; rank 1 waits in "
        "MPI_Recv for rank 0, tag 5; every rank waits for another"
    )


def test_looks_for_a_message_that_nobody_sends_are_a_deadlock(programs: Path) -> None:
    outcome = tried("sp2-mpl", "mpich", 2, built("mpich", "habits", programs), "endless")
    assert outcome.exit_code == 1
    assert "rank 0 waits in MPI_Wait for rank 1, tag 5; rank 1 waits in MPI_Test" in outcome.stderr


@in_turn("openmpi")
def test_a_look_that_finds_a_message_waits_for_no_other(vendor: str, programs: Path) -> None:
    outcome = tried("sp2-mpl", vendor, 2, built(vendor, "habits", programs), "probe")
    assert outcome.stdout == "probed\n", outcome.stderr


@pytest.mark.sampled(2)
@in_turn("openmpi")
@pytest.mark.parametrize(
    ("habit", "line"),
    [("clock", "10000[01] reads"), ("test", "909[01] looks"), ("sleep", "2 seconds")],
)
def test_loops_and_sleep_end_in_virtual_time(
    vendor: str, habit: str, line: str, programs: Path
) -> None:
    outcome = tried("altix-bx2", vendor, 2, built(vendor, "habits", programs), habit)
    assert outcome.exit_code == 0, outcome.stderr
    assert len(outcome.stdout.splitlines()) == 2
    assert all(re.fullmatch(line, printed) for printed in outcome.stdout.splitlines())


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="this process has one core")
@pytest.mark.parametrize("habit", ["cores", "binding"])
@in_turn("mpich")
def test_ranks_keep_the_cores_that_they_may_use(vendor: str, habit: str, programs: Path) -> None:
    outcome = tried("altix-bx2", vendor, 3, built(vendor, "habits", programs), habit)
    assert outcome.stdout.split() == ["as", "before"] * 3, outcome.stderr


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("habit", "words", "code"),
    [
        ("exit", r"rank 1 \(process \d+\) ended without MPI_Finalize", 1),
        # Launchers say the number of the signal, or as shells do.
        ("kill", r"rank 1 \(process \d+\) ended without MPI_Finalize", 9),
        ("abort", r"rank 1 called MPI_Abort with code 7", 7),
    ],
)
@pytest.mark.parametrize("vendor", ["mpich", "intel"])
def test_a_rank_that_dies_is_named_and_leaves_nothing(
    vendor: str, habit: str, words: str, code: int, programs: Path
) -> None:
    before = named_memory()
    program = built(vendor, "habits", programs)
    outcome = tried("altix-bx2", vendor, 4, program, habit)
    assert outcome.exit_code in (code, 128 + code)
    assert re.search(f"nhalf: error: {words}$", outcome.stderr.strip())
    assert named_memory() <= before


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("habit", "words"),
    [
        (
            "outside",
            r"rank 1 \(process \d+\) computes \(then raise --timeout\) or waits outside MPI",
        ),
        ("poll", r"rank 1 \(process \d+\) computes \(then raise --timeout\) or waits outside MPI"),
        (
            "after",
            r"rank 1 \(process \d+\) works on after MPI_Finalize \(then raise --timeout\) or .*",
        ),
        ("never", r"rank 0 and 2 more did not get to its first message"),
    ],
)
def test_ranks_that_wait_outside_mpi_are_given_up(habit: str, words: str, programs: Path) -> None:
    program = built("mpich", "habits", programs)
    outcome = tried("altix-bx2", "mpich", 3, program, habit, options="--timeout 2s")
    assert outcome.exit_code == 1
    assert re.search(rf"nhalf: error: no rank went on for 2 s: {words}$", outcome.stderr.strip())
    assert subprocess.run(["pgrep", "-f", str(program)], check=False).returncode == 1


@pytest.mark.slow
def test_ranks_of_open_mpi_that_never_begin_are_ended(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = built("openmpi", "habits", programs)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    outcome = tried("altix-bx2", "openmpi", 2, program, "never", options="--timeout 2s")
    assert outcome.exit_code == 1
    assert outcome.stderr.strip().endswith("rank 0 and 1 more did not get to its first message")
    assert subprocess.run(["pgrep", "-f", str(program)], check=False).returncode == 1
    assert os.listdir(tmp_path) == []


def test_the_exit_code_is_the_programs(programs: Path) -> None:
    outcome = tried("altix-bx2", "mpich", 2, built("mpich", "habits", programs), "ring", "3")
    assert outcome.exit_code == 3


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("abort-code 17", 17),
        ("abort-code 0", 0),
        ("abort-code 259", 3),
        ("exit-code 3", 3),
        ("end-code 5", 5),
        ("quick-code 7", 7),
        ("signal 11", 139),
        ("exit-late 4 4", 4),
        ("return 0 6", 6),
        ("signal-late 11 11", 139),
    ],
)
@in_turn("mpich")
def test_the_exit_code_is_that_of_the_plain_program(
    vendor: str, words: str, code: int, programs: Path
) -> None:
    program = built(vendor, "habits", programs)
    outcome = tried("altix-bx2", vendor, 2, program, *words.split())
    # MPICH's launcher passes the number of a signal on as it is.
    assert outcome.exit_code in ({code, code - 128} if code > 128 else {code}), outcome.stderr


def test_a_program_that_ends_before_it_begins(programs: Path) -> None:
    library_of("mpich")
    outcome = tried("altix-bx2", "mpich", 2, Path("/bin/false"))
    assert outcome.exit_code == 1
    assert outcome.stderr.strip().endswith("ended with exit code 1 before MPI_Init did")


@pytest.mark.sampled(2)
@every_library
def test_the_rank_of_a_job_around_it_is_another(
    vendor: str, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_JOB_ID", "PBS_JOBID"):
        monkeypatch.setenv(name, "1")
    for name in ("PBS_NODEFILE", "LSB_HOSTS", "PE_HOSTFILE", "HYDRA_HOST_FILE"):
        monkeypatch.setenv(name, "/nowhere")
    for name in ("HYDRA_BOOTSTRAP", "I_MPI_HYDRA_BOOTSTRAP", "PRTE_MCA_plm", "PRTE_MCA_ras"):
        monkeypatch.setenv(name, "slurm")
    outcome = tried("altix-bx2", vendor, 2, built(vendor, "habits", programs), "barriers")
    assert outcome.exit_code == 0, outcome.stderr


def test_messages_that_nobody_receives_fill_the_memory(programs: Path) -> None:
    program = built("mpich", "habits", programs)
    outcome = tried("altix-bx2", "mpich", 2, program, "pile", under="ulimit -v 2000000; exec")
    assert outcome.exit_code == 3
    words = (
        r"rank 0 sends in MPI_Send, and messages that nobody has received fill .* \(488 MiB\); let"
    )
    assert re.search(words, outcome.stderr), outcome.stderr


def _memory_group(limit_bytes: int) -> Path:
    """A new control group with this limit, below that of this process; skips without one."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        folder = Path("/sys/fs/cgroup", controllers) / group.lstrip("/") / f"nhalf-{os.getpid()}"
        limit = folder / ("memory.limit_in_bytes" if controllers else "memory.max")
        try:
            folder.mkdir()
        except OSError:
            continue
        with suppress(OSError):
            limit.write_text(str(limit_bytes))
            return folder
        folder.rmdir()
    pytest.skip("no control group of memory can be made here")


def test_messages_keep_to_half_of_a_control_group(programs: Path) -> None:
    program = built("mpich", "habits", programs)
    group = _memory_group(300 << 20)
    try:
        under = f"echo $$ > {group}/cgroup.procs; exec"
        outcome = tried("altix-bx2", "mpich", 2, program, "pile", under=under)
    finally:
        group.rmdir()
    assert outcome.exit_code == 3, outcome.stderr
    words = r"rank 0 sends in MPI_Send, and messages that nobody has received .* \(150 MiB\); let"
    assert re.search(words, outcome.stderr), outcome.stderr


def test_a_limit_of_memory_is_kept(programs: Path) -> None:
    program = built("mpich", "habits", programs)
    outcome = tried("altix-bx2", "mpich", 2, program, "barriers", under="ulimit -v 8000000; exec")
    assert outcome.exit_code == 0, outcome.stderr


@pytest.mark.parametrize(
    ("vendor", "variable", "value", "words"),
    [
        ("intel", "I_MPI_COLL_INTRANODE", "shm", "MPI_Barrier on 4 ranks: 0 of 1 messages"),
        ("mpich", "MPIR_CVAR_NOLOCAL", "0", "took no time; it needs device ch4"),
        ("mpich", "MPIR_CVAR_CH4_NETMOD", "ucx", "the MPI library did not open the network"),
    ],
)
def test_a_library_that_bypasses_the_network_is_refused(
    vendor: str, variable: str, value: str, words: str, programs: Path
) -> None:
    machine = catalogue.machine("altix-bx2")
    program = built(vendor, "habits", programs)
    trial = VirtualLaunch(
        messages=Messages(machine),
        library=library_of(vendor),
        command=[str(program), "barriers"],
        nodes=nodes_of(machine, 4, ""),
    )
    with pytest.raises(MissingError, match=words):
        run(trial, libraries(), {variable: value})


def test_json_is_one_object_of_a_schema(programs: Path, plain: Path) -> None:
    program = built("mpich", "habits", programs)
    outcome = tried(str(plain), "mpich", 3, program, "ring", options="--json")
    check_schema(outcome.stdout)
    answer = json.loads(outcome.stdout)
    assert (answer["noise_share"], answer["seed"], answer["computing_factor"]) == (0.0, None, 0.0)
    assert (answer["machine"], answer["ranks"], answer["exit_code"]) == ("plain", 3, 0)
    # The barrier is of two rounds at least, the ring of one: each between nodes.
    assert answer["virtual_s"] >= 27e-6
    assert answer["messages"] >= 9


def test_computing_counts_by_a_factor(programs: Path) -> None:
    program = built("mpich", "habits", programs)
    times = []
    for computing in ("none", "none", "measured:1000"):
        options = f"--json --computing {computing}"
        outcome = tried("altix-bx2", "mpich", 2, program, "ring", options=options)
        times.append(json.loads(outcome.stdout)["virtual_s"])
    assert times[0] == times[1] < times[2]
