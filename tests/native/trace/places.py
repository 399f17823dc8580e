"""Calls of MPI at known lines: `at CALL TIMES FUNCTION` says what a line calls, on each rank."""

import atexit
import threading
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
data = array("d", [0.0] * 4)


def größe(depth):  # noqa: PLC2401
    if depth:
        return größe(depth - 1)
    world.Barrier()  # at MPI_Barrier 2 größe


def steps(count):
    for _ in range(count):
        yield world.Allreduce(MPI.IN_PLACE, data)  # at MPI_Allreduce 5 steps


def exchange():
    right, left = (world.rank + 1) % world.size, (world.rank - 1) % world.size
    request = world.Irecv(data, source=left)  # at MPI_Irecv 3 exchange
    world.Send(data, dest=right)  # at MPI_Send 3 exchange
    request.Wait()  # at MPI_Wait 3 exchange


class Worker(threading.Thread):
    def run(self):
        world.Barrier()  # at MPI_Barrier 2 run


for depth in (0, 100):
    größe(depth)
assert len(list(steps(5))) == 5
for _ in range(3):
    exchange()
for call in (
    lambda comm: comm.Barrier(),  # at MPI_Barrier 1 <lambda>
):
    call(world)
for _ in range(300):
    # New code each time, often where the last one was.
    exec("world.Barrier()", {"world": world})
    exec("\n\nworld.Barrier()", {"world": world})
for _ in range(2):
    worker = Worker()
    worker.start()
    worker.join()
world.bcast(  # at MPI_Bcast 2 <module>
    None,
)


@atexit.register
def last():
    world.Barrier()  # at MPI_Barrier 1 last
