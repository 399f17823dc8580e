"""Options, patterns and transports by the names they have elsewhere, and what they are here."""

from collections.abc import Collection, Sequence

from nhalf.base.errors import InputError, UnknownName

COUNTERPARTS: dict[str, tuple[str, ...]] = {
    "--ranks": (
        *("-n", "-np", "--np", "-p", "--nprocs", "--nproc", "--ntasks", "--processes", "--rank"),
        *("--num-procs", "--procs", "--tasks", "--npmin", "--nranks", "--num-ranks"),
    ),
    "--bytes": (
        *("--size", "--sizes", "--message-size", "--message-sizes", "--msg-size", "--msgsize"),
        *("--msglog", "--msglen", "--length", "--lengths", "--minbytes", "--maxbytes", "--byte"),
        *("--min-size", "--max-size", "-m", "-s", "-b", "-e"),
    ),
    "--launches": (
        *("--iterations", "--iters", "--iter", "-i", "--nrep", "--repetitions", "--repeat", "-r"),
        *("--repeats", "--runs", "--warmup", "--warmup-iters", "--samples", "--trials"),
    ),
    "--mpi": ("--library", "--libraries", "--lib", "--libs", "--implementation", "--vendor"),
    "--mpi-prefix": ("--prefix", "--path", "--mpi-path", "--mpi-home"),
    "--pattern": (
        *("--test", "--tests", "--benchmark", "--benchmarks", "--bench", "--collective"),
        *("--operation", "--op", "--patterns", "--include"),
    ),
    "--budget": ("--duration", "--time-limit", "--walltime", "--time", "--max-time", "-t"),
    "--hosts": ("--host", "--nodes", "--nodelist", "-w", "-H", "-N"),
    "--host-file": ("--hostfile", "--machinefile", "--machine-file", "-f"),
    "--out": ("-o", "--output", "--output-dir", "--outdir", "--save", "--to", "--file"),
    "--placement": ("--bind-to", "--bind", "--map-by", "--binding", "--mapping", "--cpu-bind"),
    "--setting": ("-x", "-g", "--env", "--mca", "--environment", "--variable"),
    "--launcher": ("--mpiexec", "--mpirun", "--srun"),
    "--precision": ("--accuracy", "--confidence", "--error", "--tolerance"),
    "--tolerance": ("--threshold", "--max-slowdown", "--precision", "--limit"),
    "--against": ("--baseline", "--reference", "--like", "--compare"),
    "--like": ("--baseline", "--reference", "--against", "--compare"),
    "--transport": ("--transports", "--fabric", "--network", "--provider", "--device", "-d"),
    "--algorithm": ("--algorithms", "--algo", "--alg"),
    "--quiet": ("-q", "--silent"),
    "--json": ("-j", "--as-json"),
    "--list": ("-l", "--list-patterns", "--list-tests"),
}
"""The spellings that people bring along, by the option that does the same. Of several, the first
that a verb has counts."""
EXAMPLES = {"--ranks": "4", "--bytes": "8", "--budget": "60s"}
"""Values for where none was typed."""
OF_SLURM = ("--ntasks", "--nodes", "--nodelist", "-N", "-w", "--cpu-bind")
"""Options of launchers that srun has and mpiexec has not."""
LAUNCHES = "use --launches 10 or --budget 60s; nhalf chooses the samples within a launch"


def remedy(typed: str, words: Sequence[str], options: Collection[str]) -> str:
    """What to write instead of an option that a verb does not have; '' if nothing is like it.

    `words` are those of the command line, `options` the spellings that the verb has.
    """
    typed_whole, value = _option_and_value(typed, words)
    if "--axis" in options and not {typed, typed_whole}.isdisjoint(BUFFER_OPTIONS):
        return USE_BUFFERS
    if typed == "-d" and value in BUFFERS and "--axis" in options:
        return USE_BUFFERS
    for ours, theirs in COUNTERPARTS.items():
        if ours in options and not {typed, typed_whole}.isdisjoint(theirs):
            if ours == "--launches":
                return LAUNCHES
            return f"use {ours} {value or EXAMPLES.get(ours, '')}".rstrip()
    return ""


def is_of_launcher(typed: str) -> bool:
    """Whether launchers have this option."""
    places = ("--ranks", "--hosts", "--host-file", "--placement", "--setting")
    return any(typed in COUNTERPARTS[ours] for ours in places)


def with_launcher(typed: str, words: Sequence[str]) -> list[str]:
    """A command line with the launcher that its option `typed` is of: `-- mpiexec -n 4 ./program`.

    What stands before the option stays an option of the verb.
    """
    place = next(number for number, word in enumerate(words) if _is_spelled(typed, word))
    command = [word for word in words[place:] if word != "--"]
    has_own_value = "=" in command[0] or command[0][2:].isdigit()
    option_words = 1 if has_own_value else 2
    if len(command) < option_words:
        command = ["-n", "4"]
    if len(command) == option_words:
        command.append("./program")
    launcher = "srun" if typed in OF_SLURM else "mpiexec"
    return [*words[:place], "--", launcher, *command]


def _is_spelled(typed: str, word: str) -> bool:
    """Whether a word is the option that the parser calls `typed`: `-np` and `-n4` are its `-n`."""
    return word.partition("=")[0] == typed or (len(typed) == 2 and word.startswith(typed))


def _option_and_value(typed: str, words: Sequence[str]) -> tuple[str, str]:
    """An option as it stands on the command line, and its value.

    The parser calls `-np 4` and `-n4` by their first letter, `-n`.
    """
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, has_value, value = word.partition("=")
        if not _is_spelled(typed, word):
            continue
        if name[2:].isdigit() and len(typed) == 2:
            return typed, name[2:]
        return name, value if has_value or following.startswith("-") else following
    return typed, ""


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
BUFFERS = ("cuda", "gpu", "gpus", "gdr", "device")
USE_BUFFERS = "use --axis memory=device, or a pair such as memory=device-host"
BUFFER_OPTIONS = ("-mem_alloc_type", "--mem_alloc_type", "--cuda", "--use_cuda", "--gpu")
GPU = ("rccl", "rocm", "hip", "nvlink", "nvshmem")
NO_GPU = "use nccl-tests, or OSU with CUDA, and read the log: nhalf import nccl.log"


VERBS = {
    **dict.fromkeys(("plot", "chart", "charts", "graph", "html", "view"), "nhalf report"),
    **dict.fromkeys(("timeline", "vampir", "perfetto"), "nhalf export runs/traced --to chrome"),
    **dict.fromkeys(("monitor", "top", "live"), "nhalf watch runs/traced"),
    **dict.fromkeys(("optimize", "optimise", "analyze", "analyse", "speedup"), "nhalf improve"),
    **dict.fromkeys(("list", "patterns", "studies"), "nhalf run --list"),
    **dict.fromkeys(("install", "libraries"), "nhalf mpi list, nhalf mpi install mpich"),
    **dict.fromkeys(("health", "healthcheck", "health-check"), "nhalf gate"),
    **dict.fromkeys(("test", "tests", "self-test"), "nhalf doctor --selftest"),
    **dict.fromkeys(("submit", "slurm", "sbatch", "srun", "pbs", "flux"), "nhalf run --submit"),
    **dict.fromkeys(("gpu", "gpus", "cuda"), "nhalf node --gpu, nhalf run --axis memory=device"),
    "nccl": "nhalf run --transport nccl",
    "npb": "nhalf app npb",
    "preload": "nhalf mpi preload mpich",
}
"""Words that people try as verbs, and the command that does it here."""


def explained(error: UnknownName) -> InputError:
    """The error for an unknown name with the name that nhalf has for it, if it has any."""
    is_pattern = error.kind in ("pattern", "study", "benchmark", "study or pattern")
    if error.name.lower() in GPU and (is_pattern or error.kind == "transport"):
        return InputError(f"{error.name}: nhalf does not measure it", NO_GPU)
    if error.name.lower() == "nccl" and is_pattern:
        return InputError("nccl: that is a transport", "use --transport nccl --pattern allreduce")
    if error.name.lower() in BUFFERS and (is_pattern or error.kind == "transport"):
        return InputError(f"{error.name}: memory is an axis of every pattern", USE_BUFFERS)
    remedy = ""
    if error.kind == "verb":
        remedy = _verb_remedy(error.name.lower())
    elif error.kind == "transport":
        remedy = _transport_remedy(error.name)
    elif is_pattern:
        remedy = _pattern_remedy(error)
    return InputError(error.message, remedy) if remedy else error


def _verb_remedy(word: str) -> str:
    """The command that answers a word that is no verb; '' if it is none of the field."""
    from nhalf.measure.plan import catalogue

    if word in VERBS:
        return f"try {VERBS[word]}"
    if word in catalogue.names():
        return f"try nhalf run {word}"
    if (pattern := _of_field(word) or word) in PATTERNS.values():
        return f"try nhalf run --pattern {pattern}"
    suite = _suite_of(word)
    return suite and f"try nhalf run --style {suite} --pattern {word}"


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
