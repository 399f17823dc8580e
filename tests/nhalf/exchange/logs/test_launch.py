"""Commands of launchers: how many ranks they start, and what is not understood."""

from __future__ import annotations

import pytest

from nhalf.exchange.logs.launch import launch_of


@pytest.mark.parametrize(
    ("line", "ranks"),
    [
        ("mpirun -np 4 ./osu_bcast", 4),
        ("$ mpiexec -n9 ./osu_reduce", 9),
        ("mpiexec --n 3 osu_bcast", 3),
        ("mpirun -c 5 osu_bcast", 5),
        ("/opt/mpi/bin/mpirun.openmpi --np=6 osu_bcast", 6),
        ("mpirun -np 2 ./a : -np 3 ./b", 5),
        ("mpirun -np 2 ./a : ./b", 0),
        ("mpirun ./a -n 4", 0),
        ("mpirun --mca btl tcp,self -np 8 ./a -n 4", 8),
        ("mpirun --oversubscribe ./a -n 4", 0),
        ("mpirun --hostfile ./hosts -np 8 osu_bcast", 8),
        ("mpirun -ppn 4 -hosts a,b osu_bcast", 0),
        ("mpirun -np $N osu_bcast", 0),
        ("mpirun_rsh -np 4 a b c d ./osu_bcast", 4),
        ("srun -c 6 -N 2 -n 12 ./osu_bcast", 12),
        ("srun -c 6 ./osu_bcast", 0),
        ("srun -N 5 --ntasks-per-node=3 ./osu_gather", 15),
        ("srun --nodes=2 --ntasks-per-node 4 osu_bcast", 8),
        ("srun -N2-4 --ntasks-per-node 4 osu_bcast", 0),
        ("srun -N 5 ./osu_gather", 0),
        ("srun --ntasks=7 --cpus-per-task=2 ./osu_gather", 7),
        ("srun -n4 a : -n2 b", 6),
        ("jsrun -n 10 ./osu_scatter", 10),
        ("jsrun -n 10 -a 4 -c 4 ./osu_scatter", 40),
        ("jsrun --np 12 ./osu_scatter", 12),
        ("aprun -n 64 -N 32 ./osu_bcast", 64),
        ("aprun -n 4 ./a : -n 2 ./b", 6),
        ("flux run -N 2 --tasks-per-node=8 ./osu_bcast", 16),
        ("flux run -n 3 ./osu_bcast", 3),
        ("flux jobs -n 3", None),
        ("ibrun -n 8 -o 0 ./osu_bcast", 8),
        ("ibrun ./osu_bcast", 0),
        ("lrun -N 2 -T 4 ./osu_bcast", 8),
        ("torchrun --nnodes 2 --nproc_per_node 4 osu_latency.py", 8),
        ("UCX_TLS=tcp mpirun -np 4 osu_bcast > log.txt", 4),
        ("mpirun -np 99999999 osu_bcast", 0),
        ("mpirun noticed that process rank 3 exited on signal 9", None),
        ("srun: error: node1: task 3: Killed", None),
        ("the mpirun of Open MPI", None),
        ("16   3.00", None),
    ],
)
def test_ranks_of_commands(line: str, ranks: int | None) -> None:
    launch = launch_of(line)
    assert (launch and launch.ranks) == ranks


def test_words_that_tell_measurements_apart() -> None:
    tcp = launch_of("mpirun -np 2 -host a,b --mca btl tcp /opt/osu_latency -m 8 > tcp.txt")
    vader = launch_of("mpirun -np 4 -host c,d --mca btl vader ./osu_latency -m 8 | tee vader.txt")
    assert tcp is not None
    assert vader is not None
    assert (tcp.program, tcp.per_node) == ("osu_latency", 0)
    assert set(tcp.words) ^ set(vader.words) == {"tcp", "vader"}
    again = launch_of("mpirun -np 2 -host e,f --mca btl tcp ./osu_latency -m 8")
    assert again is not None
    assert again.words == tcp.words
    fan = launch_of("srun -N 2 --ntasks-per-node=3 ./osu_bw_fan_in")
    assert fan is not None
    assert fan.per_node == 3
