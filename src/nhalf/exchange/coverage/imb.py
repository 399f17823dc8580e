# SPDX-License-Identifier: Apache-2.0
"""The tests of the Intel MPI Benchmarks 2021."""

from __future__ import annotations

from nhalf.exchange.coverage.suite import Part, Suite, Test

OPERATIONS = {
    "Bcast": "bcast",
    "Scatter": "scatter",
    "Scatterv": "scatterv",
    "Gather": "gather",
    "Gatherv": "gatherv",
    "Allgather": "allgather",
    "Allgatherv": "allgatherv",
    "Alltoall": "alltoall",
    "Alltoallv": "alltoallv",
    "Reduce": "reduce",
    "Allreduce": "allreduce",
    "Reduce_scatter": "reduce-scatter",
    "Reduce_scatter_block": "reduce-scatter",
    "Barrier": "barrier",
}
"""Our pattern by the suite's name of an operation."""
SAID = {
    "Reduce_scatter": "equal blocks; with counts, as the suite calls it: `reduce-scatterv`",
    "Reduce_scatter_block": "a size is that of the vector here, of a block there",
}
NOT_NON_BLOCKING = ("Reduce_scatter_block",)
PERSISTENT = ("Bcast", "Alltoall", "Reduce")

MPI1 = Part(
    "IMB-MPI1",
    [
        Test("PingPong", "pingpong"),
        Test("PingPongSpecificSource", "pingpong", said="the same as PingPong"),
        Test("PingPing", "pingping"),
        Test("PingPingSpecificSource", "pingping", said="the same as PingPing"),
        Test("Sendrecv", "exchange", said="of 2 ranks; a chain of more: `ring`, method sendrecv"),
        Test("Uniband", "stream", said="of 2 ranks; of more: `pairs-bandwidth`"),
        Test("Biband", "bibw"),
        *(Test(name, pattern, said=SAID.get(name, "")) for name, pattern in OPERATIONS.items()),
    ],
)
NBC = Part(
    "IMB-NBC",
    [
        test
        for name, pattern in OPERATIONS.items()
        if name not in NOT_NON_BLOCKING
        for test in (
            Test(f"I{name.lower()}", f"i{pattern}", "work=1"),
            Test(f"I{name.lower()}_pure", f"i{pattern}"),
        )
    ],
)
MPI4 = Part(
    "IMB-MPI4",
    [
        test
        for name in PERSISTENT
        for test in (
            Test(f"{name}_persistent", f"{OPERATIONS[name]}-persistent", "work=1"),
            Test(f"{name}_pure_persistent", f"{OPERATIONS[name]}-persistent"),
        )
    ],
)
OTHERS = Part(
    "Others",
    [
        Test("IMB-IO", why_not="files are not communication: not ours"),
        Test("IMB-MPI1-GPU, IMB-RMA-GPU, -mem_alloc_type device", why_not="GPU buffers: not yet"),
    ],
)

IMB = Suite("imb", "Intel MPI Benchmarks 2021", [MPI1, NBC, MPI4, OTHERS])
