"""Calls MPI by ctypes, itself and through the library halo.cpp, which is given by its path."""

import ctypes
import sys
import threading

halo = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
holding_the_lock = ctypes.PyDLL(sys.argv[1])
mpi = ctypes.CDLL(None)
halo.start.restype = ctypes.c_void_p
world = ctypes.c_void_p(halo.start())


def send():
    halo.late_send()  # through MPI_Send 1


def itself():
    mpi.MPI_Barrier(world)  # at MPI_Barrier 3 itself


for _ in range(3):
    itself()
for _ in range(2):
    halo.exchange()  # through MPI_Barrier 2
halo.exchange()  # through MPI_Barrier 1
halo.exchange_aside()
sender = threading.Thread(target=send)
sender.start()
# Keeps Python's lock: whoever needs it to count the other thread's send waits forever.
holding_the_lock.receive()  # through MPI_Recv 1
sender.join()
halo.stop()
