"""Where a search keeps what ranks read.

How much a change can save at most equals the closed form of programs whose calls are known.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import MissingError
from nhalf.experiment.improve.situation import Situation, parent_folder, search_folder, upper_share
from nhalf.facts.program.program import Program
from nhalf.measure.traced.collect import LOST
from nhalf.measure.traced.layout import TIMELINE_CUT
from nhalf.mpi.launch_settings import parse_launch
from nhalf.mpi.switch import ALL, MESSAGES, MPI, Affected
from tests.nhalf.traced_programs import call, program, timed

ONE = {"SLURM_JOB_NODELIST": "n1", "SLURM_JOB_CPUS_PER_NODE": "4"}
TWO = {"SLURM_JOB_NODELIST": "n[1-2]", "SLURM_JOB_CPUS_PER_NODE": "4(x2)"}


@pytest.mark.parametrize(
    ("words", "environment", "is_shared"),
    [
        ("mpiexec -n 2 ./p", {}, False),
        ("mpiexec -n 2 ./p", ONE, False),
        ("mpiexec -n 2 ./p", TWO, True),
        ("mpiexec -n 2 ./p", {"SLURM_JOB_NODELIST": "n[1-"}, False),
        ("mpiexec -hosts a,b -n 2 ./p", {}, True),
        ("mpirun --host a:1,b:1 -n 2 ./p", {}, True),
        ("srun --nodes=2 ./p", {}, True),
        ("srun -N 2 ./p", {}, True),
        ("./run.sh -N 2", {}, False),
    ],
)
def test_files_are_where_all_hosts_see_them(
    words: str, environment: dict[str, str], is_shared: bool
) -> None:
    launch = parse_launch(words.split(), environment)
    assert parent_folder(launch) == (Path.cwd() if is_shared else None)
    assert Situation(launch, None).is_on_one_host == (not is_shared)


def test_a_folder_that_cannot_be_made_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(**_: object) -> None:
        raise OSError(30, "Read-only file system")

    launch = parse_launch(["mpiexec", "-hosts", "a,b", "./p"], {})
    monkeypatch.chdir(tmp_path)
    with search_folder(launch) as name:
        assert Path(name).parent == tmp_path
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr("tempfile.TemporaryDirectory", refused)
    with pytest.raises(MissingError, match=f"cannot write in {tmp_path}: Read-only.*all hosts"):
        search_folder(launch).__enter__()
    with pytest.raises(MissingError, match="TMPDIR"):
        search_folder(parse_launch(["./p"], {})).__enter__()


BARRIER = Affected(operations=("barrier",))


def calls(*rows: tuple[int, str, str, int, float], **more: Any) -> Program:
    """A program of ranks that are in these calls for some seconds, of ten."""
    names = ("rank", "call", "kind", "size_bytes", "time_s")
    rows_of = [dict(zip(names, row, strict=True)) for row in rows]
    return program(2, rows_of, elapsed_s=10.0, **more)


def test_nothing_known_bounds_nothing() -> None:
    assert upper_share(None, BARRIER) == 1.0
    assert upper_share(calls(), ALL) == 1.0
    assert upper_share(program(2, [], elapsed_s=0.0), MPI) == 1.0


def test_a_program_without_calls_gains_nothing() -> None:
    assert upper_share(calls(), MPI) == 0.0
    assert upper_share(calls(), BARRIER) == 0.0


def test_no_rank_ends_before_its_computing_does() -> None:
    both = calls((0, "MPI_Barrier", "collective", 0, 4.0), (1, "MPI_Barrier", "collective", 0, 3.0))
    assert upper_share(both, BARRIER) == pytest.approx(0.3)
    assert upper_share(both, MPI) == pytest.approx(0.3)
    assert upper_share(both, MESSAGES) == 0.0


def test_waiting_is_saved_only_with_what_is_waited_for() -> None:
    waits = calls(
        (0, "MPI_Allreduce", "collective", 8, 6.0),
        (1, "MPI_Allreduce", "collective", 8, 5.0),
        (0, "MPI_Barrier", "collective", 0, 0.1),
        (1, "MPI_Barrier", "collective", 0, 0.1),
    )
    assert upper_share(waits, BARRIER) == pytest.approx(0.02)


def test_sizes_and_operations_in_any_form_count() -> None:
    rows = [
        (0, "MPI_Send", "sent", 100, 1.0),
        (1, "MPI_Irecv", "received", 100, 0.0),
        (1, "MPI_Wait", "waiting", 0, 1.5),
        (0, "MPI_Ibcast", "collective", 8, 0.2),
        (1, "MPI_Ibcast", "collective", 8, 0.2),
    ]
    messages = Affected(messages=True, from_bytes=64, to_bytes=128)
    assert upper_share(calls(*rows), messages) == pytest.approx(0.12)
    large = Affected(messages=True, from_bytes=101)
    assert upper_share(calls(*rows), large) == 0.0
    # The wait may be that of the broadcast.
    assert upper_share(calls(*rows), Affected(operations=("bcast",))) == pytest.approx(0.12)


def barriers(
    *operations: tuple[tuple[float, float], ...], ends_s: tuple[float, ...] = ()
) -> Program:
    """A program of ten seconds whose ranks enter and leave barriers at these times."""
    rows = [
        call(rank, "MPI_Barrier", "collective", -2, *times_s, size_bytes=0)
        for operation in operations
        for rank, times_s in enumerate(operation)
    ]
    return timed(len(operations[0]), *rows, ends_s=ends_s)


def cut(*notes: str) -> Program:
    """The counts of a barrier for which a rank waits, and a timeline that lacks it."""
    rows = [(rank, "MPI_Barrier", "collective", 0, time_s) for rank, time_s in ((0, 6.1), (1, 0.1))]
    made = calls(*rows)
    made.trace.complete = False
    made.trace.notes = [LOST[TIMELINE_CUT], *notes]
    return made


def test_a_timeline_that_is_cut_off_leaves_the_bound_of_the_counts() -> None:
    whole = barriers(((0.0, 6.1), (6.0, 6.1)))
    assert upper_share(whole, BARRIER) == pytest.approx(0.01)
    assert upper_share(cut(), Affected(operations=("barrier",))) == pytest.approx(0.01)
    assert upper_share(cut("nothing is known of rank 2"), BARRIER) == 1.0
    unfinished = cut()
    unfinished.trace.ranks[1].finished = False
    assert upper_share(unfinished, BARRIER) == 1.0


def test_what_passes_before_the_last_rank_comes_is_not_the_operations() -> None:
    late = barriers(((0.0, 6.1), (6.0, 6.1)), ((6.1, 9.2), (9.0, 9.2)))
    # Without arrivals it were min(9.2, 0.3) and the sum of all calls, 9.5 s.
    assert upper_share(late, BARRIER) == pytest.approx(0.03)
    assert upper_share(late, MPI) == pytest.approx(0.03)
    early = barriers(((0.0, 3.0), (0.0, 2.0)))
    assert upper_share(early, BARRIER) == pytest.approx(0.2)


def test_the_bound_of_alternating_late_ranks_is_what_an_ideal_operation_saves() -> None:
    # Ranks compute 1 s and 3 s in turns, and each barrier takes 0.5 s: 4 of them in 14 s.
    rows, now_s = [], 0.0
    for number in range(4):
        came_s = [now_s + (3.0 if (rank + number) % 2 else 1.0) for rank in range(2)]
        now_s = max(came_s) + 0.5
        rows.append(tuple((begin_s, now_s) for begin_s in came_s))
    made = barriers(*rows)
    made.trace.end_s = now_s
    assert upper_share(made, BARRIER) == pytest.approx(4 * 0.5 / 14)


def test_only_operations_on_so_many_ranks_count() -> None:
    made = barriers(((0.0, 1.0), (0.0, 1.0)))
    for ranks, share in ((0, 0.1), (2, 0.1), (3, 0.0)):
        affected = Affected(operations=("barrier",), ranks=ranks)
        assert upper_share(made, affected) == pytest.approx(share)


def test_what_somebody_begins_is_waited_for_and_what_blocks_is_not() -> None:
    rows = [
        *(call(rank, "MPI_Allreduce", "collective", -2, 0.0, 0.5) for rank in range(2)),
        *(call(rank, "MPI_Wait", "waiting", -2, 1.0, 4.0) for rank in range(2)),
    ]
    assert upper_share(timed(2, *rows), Affected(operations=("allreduce",))) == pytest.approx(0.05)
    begun = [
        *rows,
        *(call(rank, "MPI_Iallreduce", "collective", -2, 0.5, 0.6) for rank in range(2)),
    ]
    affected = Affected(operations=("allreduce",))
    assert upper_share(timed(2, *begun), affected) == pytest.approx(0.36)
