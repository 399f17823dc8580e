"""Names that MPI, other suites and the field have for patterns and transports of nhalf."""

from __future__ import annotations

from nhalf.base.errors import InputError, UnknownName

PATTERNS = {
    **dict.fromkeys(("latency", "lat", "ping-pong", "ping_pong", "p2p-latency"), "pingpong"),
    **dict.fromkeys(("bandwidth", "bw", "unidirectional", "throughput"), "stream"),
    **dict.fromkeys(("bibw", "bi-bandwidth", "bidirectional", "sendrecv"), "exchange"),
    **dict.fromkeys(("all-reduce", "all_reduce"), "allreduce"),
    **dict.fromkeys(("all-gather", "all_gather"), "allgather"),
    **dict.fromkeys(("all-to-all", "all_to_all", "a2a"), "alltoall"),
    **dict.fromkeys(("broadcast", "bcasts"), "bcast"),
    **dict.fromkeys(("reduce_scatter", "reducescatter"), "reduce-scatterv"),
    **dict.fromkeys(("reduce_scatter_block",), "reduce-scatter"),
    **dict.fromkeys(("put", "rma-latency"), "rma-put"),
    **dict.fromkeys(("get",), "rma-get"),
}
"""Usual words for patterns."""
TRANSPORTS = {
    **dict.fromkeys(("infiniband", "ib", "verbs", "rdma", "roce"), "ucx"),
    **dict.fromkeys(("libfabric", "efa", "slingshot", "cxi", "omnipath", "psm2"), "ofi"),
    **dict.fromkeys(("ethernet", "sockets", "ip", "netpipe"), "tcp"),
    **dict.fromkeys(("openshmem", "shmem-put"), "shmem"),
    **dict.fromkeys(("memory", "sharedmem", "shared-memory", "sm", "vader"), "shm"),
    **dict.fromkeys(("openmp", "pthreads", "pthread"), "threads"),
}
"""Usual words for transports, and networks by the transport that measures them below MPI."""
LIBRARIES = ("mpich", "openmpi", "ompi", "intel", "impi", "intelmpi", "mvapich", "mvapich2")
GPU = ("nccl", "rccl", "cuda", "gpu", "gpus", "rocm", "hip", "nvlink", "nvshmem", "gdr", "device")
NO_GPU = "use nccl-tests, or OSU with CUDA, and read the log: nhalf import nccl.log"


def explained(error: UnknownName) -> InputError:
    """The error for an unknown name with the name that nhalf has for it, if it has any."""
    is_pattern = error.kind in ("pattern", "study", "benchmark", "study or pattern")
    if error.name.lower() in GPU and (is_pattern or error.kind == "transport"):
        return InputError(f"{error.name}: nhalf does not measure GPU buffers", NO_GPU)
    remedy = ""
    if error.kind == "transport":
        remedy = _transport_remedy(error.name)
    elif is_pattern:
        remedy = _pattern_remedy(error)
    return InputError(error.message, remedy) if remedy else error


def _transport_remedy(name: str) -> str:
    if name.lower() in LIBRARIES:
        return f"that is an MPI library: --mpi {name}"
    ours = TRANSPORTS.get(name.lower(), "")
    return ours and f"use --transport {ours}"


def _pattern_remedy(error: UnknownName) -> str:
    ours = _of_field(error.name)
    if ours and (ours in error.known_names or error.kind != "pattern"):
        return f"nhalf calls it {ours}: --pattern {ours}"
    suite = _suite_of(error.name)
    return suite and f"it is a test of {suite}: --style {suite} --pattern {error.name}"


def _of_field(name: str) -> str:
    """The pattern that a word of the field or a function of MPI stands for; '' for none."""
    word = name.lower()
    if word.startswith("mpi_"):
        word = word.removeprefix("mpi_").replace("_init", "-persistent")
    return PATTERNS.get(word, word if word != name else "")


def _suite_of(name: str) -> str:
    """The suite that has a test of this name, '' for none."""
    from nhalf.exchange.styles import imb, osu

    for style, suite in (("osu", osu.Osu()), ("imb", imb.Imb())):
        if name.lower() in {test.lower() for test in suite.benchmarks}:
            return style
    return ""
