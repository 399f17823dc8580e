"""The tests of the OSU Micro-Benchmarks 7.4, and the partitioned one of 7.5."""

from nhalf.base.operations import TABLE
from nhalf.exchange.coverage.suite import Suite, Test

IMPORTED = "`nhalf import` reads the tables, with the axis `memory`"
OPERATIONS = {
    row.name: row.pattern
    for row in sorted(TABLE, key=lambda row: row.name)
    if row.flow not in ("among_neighbours", "up_to_each")
}
"""Our pattern by the suite's name of an operation."""
NOTES = {
    "reduce_scatter": "with counts: `MPI_Reduce_scatter`",
    "reduce_scatter_block": "equal blocks: `MPI_Reduce_scatter_block`",
}
NEIGHBOUR_OPERATIONS = ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")

THREADS = 'with `--setting "several: mpi.threads=1"`'

RMA = "rma"
SHMEM = "shmem"
NO_NBI = "puts and gets of `shmem` block until the data may be used again"
NOT_ITS_OWN = "collective operations over `shmem` are nhalf's, made of its puts"
NCCL = "nccl"

OSU = Suite(
    "osu",
    "OSU Micro-Benchmarks 7.4",
    {
        "Point to point": [
            Test("osu_latency", "pingpong"),
            Test("osu_latency_mt", "pingpong-threads", "communicators=one,threads=2", note=THREADS),
            Test("osu_latency_persistent", "pingpong-persistent"),
            Test(
                "osu_latency_mp",
                why_not="asks whether the library survives a fork of its ranks, which is no "
                "measurement; several processes at once are `pairs-latency`",
            ),
            Test("osu_bw", "stream"),
            Test("osu_bw_persistent", "stream-persistent"),
            Test("osu_bibw", "bibw"),
            Test("osu_bibw_persistent", "bibw-persistent"),
            Test("osu_mbw_mr", "pairs-bandwidth", "pairs=ranks/2"),
            Test("osu_multi_lat", "pairs-latency", "pairs=ranks/2"),
        ],
        "Collective operations": [
            Test(f"osu_{name}", pattern, note=NOTES.get(name, ""))
            for name, pattern in OPERATIONS.items()
        ],
        "Non-blocking collective operations": [
            Test(f"osu_i{name}", f"i{pattern}", "work=1") for name, pattern in OPERATIONS.items()
        ],
        "Persistent collective operations": [
            Test(f"osu_{name}_persistent", f"{pattern}-persistent", "work=1")
            for name, pattern in OPERATIONS.items()
            if name != "reduce_scatter_block"
        ],
        "Collective operations among neighbours": [
            *(Test(f"osu_neighbor_{name}", f"neighbor-{name}") for name in NEIGHBOUR_OPERATIONS),
            *(
                Test(f"osu_ineighbor_{name}", f"ineighbor-{name}", "work=1")
                for name in NEIGHBOUR_OPERATIONS
            ),
        ],
        "One-sided": [
            Test("osu_put_latency", "rma-put", transport=RMA),
            Test("osu_get_latency", "rma-get", transport=RMA),
            Test("osu_put_bw", "rma-put", "operations=64", RMA),
            Test("osu_get_bw", "rma-get", "operations=64", RMA),
            Test("osu_put_bibw", "rma-put", "operations=64,ways=both", RMA),
            Test("osu_acc_latency", "rma-accumulate", transport=RMA),
            Test("osu_get_acc_latency", "rma-get-accumulate", transport=RMA),
            Test("osu_fop_latency", "rma-fetch-and-op", transport=RMA),
            Test("osu_cas_latency", "rma-compare-and-swap", transport=RMA),
        ],
        "Partitioned messages": [
            Test("osu_partitioned_latency", "pingpong-partitioned", "parts=4", note="since OSU 7.5")
        ],
        "Congestion": [
            Test(
                "osu_bw_fan_in",
                "many-to-one",
                note="ranks, not nodes: place one per node for those",
            ),
            Test("osu_bw_fan_out", "one-to-many", note="the same"),
        ],
        "Start-up": [
            Test("osu_init", "startup", "part=init"),
            Test(
                "osu_hello",
                "startup",
                "part=launch",
                note="until MPI is ready; its end: `finalize`",
            ),
        ],
        "OpenSHMEM": [
            Test("osu_oshm_put", "put", transport=SHMEM, note="with its completion"),
            Test("osu_oshm_get", "get", transport=SHMEM),
            Test("osu_oshm_put_mr", "put-stream", transport=SHMEM, note="of one pair"),
            Test("osu_oshm_barrier", "barrier", transport=SHMEM),
            *(Test(f"osu_oshm_{name}", why_not=NO_NBI) for name in ("put_nb", "get_nb")),
            *(Test(f"osu_oshm_{name}_mr_nb", why_not=NO_NBI) for name in ("put", "get")),
            Test("osu_oshm_put_overlap", why_not=NO_NBI),
            Test(
                "osu_oshm_atomics",
                why_not="of atomic operations only those of MPI's windows are measured: "
                "`rma-fetch-and-op`, `rma-compare-and-swap`",
            ),
            *(
                Test(f"osu_oshm_{name}", why_not=NOT_ITS_OWN)
                for name in ("broadcast", "collect", "fcollect", "reduce")
            ),
        ],
        "NCCL": [
            Test("osu_xccl_latency", "pingpong", transport=NCCL),
            Test("osu_xccl_bw", "stream", transport=NCCL),
            Test("osu_xccl_bibw", "bibw", transport=NCCL),
            *(
                Test(f"osu_xccl_{name}", pattern, transport=NCCL)
                for name, pattern in OPERATIONS.items()
                if name in ("allgather", "allreduce", "alltoall", "bcast", "reduce")
            ),
            Test("osu_xccl_reduce_scatter", "reduce-scatter", transport=NCCL, note="equal blocks"),
        ],
        "Other interfaces": [
            Test("osu_xccl_* with RCCL", why_not=f"GPUs of AMD: not yet. {IMPORTED}"),
            Test(
                "-d cuda, D, H, M",
                "pingpong",
                note="and all patterns marked so above: `--axis memory=device-host`",
            ),
            Test(
                "-d rocm",
                "pingpong",
                note="the same axis, with HIP: compiles, untested on a GPU of AMD",
            ),
            Test(
                "-d sycl",
                "pingpong",
                note="the same axis, with Level Zero: compiles, untested on a GPU of Intel",
            ),
            Test("-d openacc", why_not="the same memory as `-d cuda`, taken by a compiler"),
            Test(
                "osu_upc_*, osu_upcxx_*", why_not="UPC and UPC++: no compiler of theirs is at hand"
            ),
            Test(
                "the suite in Java and in Python",
                why_not="bindings of other languages: what they add to the same calls",
            ),
        ],
    },
)

TITLES = {
    "osu_latency": "Latency Test",
    "osu_latency_persistent": "Persistent Latency Test",
    "osu_bw": "Bandwidth Test",
    "osu_bw_persistent": "Persistent Bandwidth Test",
    "osu_bibw": "Bi-Directional Bandwidth Test",
    "osu_bibw_persistent": "Persistent Bi-Directional Bandwidth Test",
    "osu_multi_lat": "Multi Latency Test",
    "osu_mbw_mr": "Multiple Bandwidth / Message Rate Test",
    "osu_latency_mt": "Multi-threaded Latency Test",
    "osu_init": "Init Test",
    "osu_hello": "Hello Test",
    "osu_partitioned_latency": "Partitioned Latency Test",
    "osu_bw_fan_in": "Bandwidth Congestion In Test",
    "osu_bw_fan_out": "Bandwidth Congestion Out Test",
}
ONE_SIDED_TITLES = {
    "osu_put_latency": "MPI_Put Latency Test",
    "osu_get_latency": "MPI_Get Latency Test",
    "osu_acc_latency": "MPI_Accumulate Latency Test",
    "osu_get_acc_latency": "MPI_Get_accumulate Latency Test",
    "osu_fop_latency": "MPI_Fetch_and_op Latency Test",
    "osu_cas_latency": "MPI_Compare_and_swap Latency Test",
    "osu_put_bw": "MPI_Put Bandwidth Test",
    "osu_get_bw": "MPI_Get Bandwidth Test",
    "osu_put_bibw": "MPI_Put Bi-directional Bandwidth Test",
}
OPENSHMEM_TITLES = {
    "osu_oshm_put": "OpenSHMEM Put Test",
    "osu_oshm_get": "OpenSHMEM Get Test",
    "osu_oshm_put_mr": "OpenSHMEM Put Message Rate Test",
    "osu_oshm_barrier": "OpenSHMEM Barrier Latency Test",
}
"""What tests print of themselves, but for the collective operations."""
