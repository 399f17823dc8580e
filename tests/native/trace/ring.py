"""A program of which every message is known, in Python."""

from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
right = (world.rank + 1) % world.size
data = array("d", [0.0] * 10)
request = world.Irecv(data, source=MPI.ANY_SOURCE, tag=1)
world.Send(array("d", [1.0] * 5), dest=right, tag=1)
request.Wait()
half = world.Split(0, -world.rank)
half.Bcast(data, root=0)
world.Allreduce(MPI.IN_PLACE, data)
world.Barrier()
