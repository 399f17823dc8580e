"""The tests of the Intel MPI Benchmarks 2021."""

from nhalf.base.operations import BY_NAME
from nhalf.exchange.coverage.suite import Suite, Test

_NAMES = (
    *("Bcast", "Scatter", "Scatterv", "Gather", "Gatherv", "Allgather", "Allgatherv", "Alltoall"),
    *("Alltoallv", "Reduce", "Allreduce", "Reduce_scatter", "Reduce_scatter_block", "Barrier"),
)
OPERATIONS = {name: BY_NAME[name.lower()].pattern for name in _NAMES}
"""Our pattern by the suite's name of an operation."""
NOTES = {
    "Reduce_scatter": "with counts; a size is that of the vector here, of a block there since 2019",
    "Reduce_scatter_block": "a size is that of the vector here, of a block there",
}
NOT_NON_BLOCKING = ("Reduce_scatter_block",)
THREADS = 'with `--setting "several: mpi.threads=1"`'
EACH = "communicators=each,threads=2"
PERSISTENT = ("Bcast", "Alltoall", "Reduce")
MEMORIES = {"device": "device", "pinned": "host", "managed": "shared", "host": "cpu"}
"""The suite's words for where buffers lie: `host` is what cudaMallocHost gives."""

RMA = "rma"
BUSY_TARGET = "target=computes"

IMB = Suite(
    "imb",
    "Intel MPI Benchmarks 2021",
    {
        "IMB-MPI1": [
            Test("PingPong", "pingpong"),
            Test("PingPongSpecificSource", "pingpong", note="the same as PingPong"),
            Test("PingPing", "pingping"),
            Test("PingPingSpecificSource", "pingping", note="the same as PingPing"),
            Test(
                "Sendrecv", "exchange", note="of 2 ranks; a chain of more: `ring`, method sendrecv"
            ),
            Test("PingPongAnySource", "pingpong-anysource"),
            Test("PingPingAnySource", "pingping-anysource"),
            Test("Exchange", "ring", "method=nonblocking,ring=6", note="both neighbours in a ring"),
            Test("Reduce_local", why_not="an addition without communication: not ours"),
            Test("Uniband", "stream", note="of 2 ranks; of more: `pairs-bandwidth`"),
            Test("Biband", "bibw"),
            *(
                Test(name, pattern, note=NOTES.get(name, ""))
                for name, pattern in OPERATIONS.items()
            ),
        ],
        "IMB-NBC": [
            test
            for name, pattern in OPERATIONS.items()
            if name not in NOT_NON_BLOCKING
            for test in (
                Test(f"I{name.lower()}", f"i{pattern}", "work=1"),
                Test(f"I{name.lower()}_pure", f"i{pattern}"),
            )
        ],
        "IMB-RMA": [
            Test("Unidir_put", "rma-put", transport=RMA),
            Test("Unidir_get", "rma-get", transport=RMA),
            Test("Bidir_put", "rma-put", "ways=both", RMA),
            Test("Bidir_get", "rma-get", "ways=both", RMA),
            Test("Put_local", "rma-put", "access=flush-local", RMA),
            Test("Get_local", "rma-get", "access=flush-local", RMA),
            Test("Put_all_local", "rma-put-all", "access=flush-local,who=one-to-all", RMA),
            Test("Get_all_local", "rma-get-all", "access=flush-local,who=one-to-all", RMA),
            Test("One_put_all", "rma-put-all", "who=one-to-all", RMA),
            Test("One_get_all", "rma-get-all", "who=one-to-all", RMA),
            Test("All_put_all", "rma-put-all", "who=all-to-all", RMA),
            Test("All_get_all", "rma-get-all", "who=all-to-all", RMA),
            Test("Exchange_put", "rma-put-all", "who=neighbours", RMA),
            Test("Exchange_get", "rma-get-all", "who=neighbours", RMA),
            Test("Accumulate", "rma-accumulate", transport=RMA),
            Test("Get_accumulate", "rma-get-accumulate", transport=RMA),
            Test("Fetch_and_op", "rma-fetch-and-op", transport=RMA),
            Test("Compare_and_swap", "rma-compare-and-swap", transport=RMA),
            Test(
                "Truly_passive_put", "rma-put", BUSY_TARGET, RMA, "with `target=waits` as `pure_s`"
            ),
        ],
        "IMB-EXT": [
            Test("Window", "rma-window", transport=RMA),
            Test("Unidir_Put", "rma-put", "access=fence", RMA),
            Test("Unidir_Get", "rma-get", "access=fence", RMA),
            Test("Bidir_Put", "rma-put", "access=fence,ways=both", RMA),
            Test("Bidir_Get", "rma-get", "access=fence,ways=both", RMA),
            Test("Accumulate (EXT)", "rma-accumulate", "access=fence", RMA),
        ],
        "IMB-P2P": [
            Test("PingPong (P2P)", "pairs-latency", "pairs=ranks/2"),
            Test("PingPing (P2P)", "pingping", note="of 2 ranks"),
            Test(
                "Sendrecv_Replace", why_not="a call that hides a copy: `exchange` has two buffers"
            ),
            Test("Unirandom", "dense-random", note="pairs reshuffled in every phase"),
            Test("Birandom", "dense-random", note="the same, both ways at once"),
            Test("Corandom", "traffic", note="destinations drawn anew"),
            Test("Stencil2D", "neighbor-alltoall", note="the exchange without the stencil"),
            Test("Stencil3D", "neighbor-alltoall", "extent=3", note="the same"),
        ],
        "IMB-MT": [
            Test("PingPongMT", "pingpong-threads", EACH, note=THREADS),
            Test("UniBandMT", "stream-threads", EACH, note=THREADS),
            Test("PingPingMT", "pingping-threads", EACH, note=THREADS),
            Test("SendRecvMT", "pingping-threads", EACH, note="of 2 ranks; the same"),
            Test("ExchangeMT", "ring-threads", EACH, note=THREADS),
            Test("BiBandMT", "bibw-threads", EACH, note=THREADS),
            *(
                Test(f"{name}MT", f"{name.lower()}-threads", "threads=2", note=THREADS)
                for name in ("Barrier", "Bcast", "Reduce", "AllReduce")
            ),
        ],
        "IMB-MPI4": [
            test
            for name in PERSISTENT
            for test in (
                Test(f"{name}_persistent", f"{OPERATIONS[name]}-persistent", "work=1"),
                Test(f"{name}_pure_persistent", f"{OPERATIONS[name]}-persistent"),
            )
        ],
        "IMB-HALO": [
            Test("simple_halo", "neighbor-alltoall", "extent=3", note="of any number of dimensions")
        ],
        "Others": [
            Test("IMB-IO", why_not="files are not communication: not ours"),
            Test(
                "IMB-MPI1-GPU, IMB-RMA-GPU, -mem_alloc_type device",
                "pingpong",
                note="and all patterns marked so above: `--axis memory=device`",
            ),
        ],
    },
)
