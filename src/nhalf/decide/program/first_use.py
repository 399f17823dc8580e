"""What another library does once: connections, and choices at the first use of an operation.

A trace has that of its own library only. In virtual time on four ranks, Open MPI 5.0.11 spent on it
what 150 empty messages take one after the other, MPICH 5.0.2 and Intel MPI 2021.19 less than 10.
"""

import numpy as np

from nhalf.facts.program.program import Program
from nhalf.machines.message import Message, Messages
from nhalf.mpi.vendors import libraries_in, vendors

FIRST_USE_MESSAGES = 200
"""How many empty messages long it may be, a third more than was seen."""


def first_use_s(program: Program, messages: Messages, library: str) -> float:
    """By how many seconds a run on a library may differ for that; 0 with that of the trace.

    It is 0 as well if either library is not known, as those of machines of record.
    """
    if library.partition("-")[0] not in vendors() or not program.library:
        return 0.0
    if libraries_in(program.library, [library]):
        return 0.0
    _, curve = messages.between_nodes[0]
    return FIRST_USE_MESSAGES * float(Message(curve).time_s(np.array([0.0]))[0])
