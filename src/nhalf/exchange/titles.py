"""What other suites call their tests, as patterns, axes and transports of nhalf.

Titles are those of the coverage, of OSU 3.x to 7.5 in C and in Python; a title's words have changed
their order and letters over time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from nhalf.exchange.coverage.osu import ONE_SIDED_TITLES, OPENSHMEM_TITLES, OSU, TITLES
from nhalf.exchange.coverage.suite import Test
from nhalf.exchange.logs.part import slug


@dataclass(frozen=True)
class TableIdentity:
    """What a table measures, in nhalf's names.

    `ranks` is the number that the test always has, 0 if it is that of the program. `is_known` is
    False for a test that nhalf has no name for.
    """

    pattern: str
    axes: Mapping[str, str] = field(default_factory=dict)
    transport: str = "mpi"
    ranks: int = 0
    is_known: bool = True


def axes_of(text: str) -> dict[str, str]:
    """Axes by name, from `name=value,name=value`."""
    return dict(part.split("=") for part in text.split(",") if part)


def memory_axis(*sides: str, usual: str = "host") -> dict[str, str]:
    """The axis of where the buffers of each side are; none if that is the `usual` memory.

    Sides are `host`, `pinned`, `managed` or `device`: of the sender and the receiver, or of one for
    all. Different ones are a pair, such as `device-host`.
    """
    if set(sides) <= {usual}:
        return {}
    return {"memory": sides[0] if len(set(sides)) == 1 else "-".join(sides)}


def own_axes(test: Test) -> dict[str, str]:
    """The axes of a test, but for what its tables say: the time beside work is another point."""
    axes = axes_of(test.axes)
    return {name: axes[name] for name in axes if name not in ("work", "pairs", "threads")}


def _by_title(titles: Mapping[str, str], prefix: str = "") -> dict[str, str]:
    """The tests by their titles in small letters, without what all of them have in common."""
    return {
        title.removeprefix(prefix).removesuffix(" Test").lower(): name
        for name, title in titles.items()
    }


_PAIRS = {
    **_by_title(TITLES),
    "bidirectional bandwidth": "osu_bibw",
    "multi-pair latency": "osu_multi_lat",
    "multi bandwidth / message rate": "osu_mbw_mr",
}
_ONE_SIDED = {**_by_title(ONE_SIDED_TITLES, "MPI_"), "put bidirectional bandwidth": "osu_put_bibw"}
_SHMEM = _by_title(OPENSHMEM_TITLES, "OpenSHMEM ")
_OPERATIONS = {
    "broadcast": "bcast",
    "all-to-all": "alltoall",
    "all-to-allv": "alltoallv",
    "all-to-allw": "alltoallw",
    "reduce scatter": "reduce_scatter",
    "reduce-scatter": "reduce_scatter",
    "reduce_scatter block": "reduce_scatter_block",
}
_MANY = ("osu_multi_lat", "osu_mbw_mr", "osu_bw_fan_in", "osu_bw_fan_out", "osu_init", "osu_hello")
_TESTS = {test.name: test for test in OSU.tests if test.is_covered}


def identity_of(title: str) -> tuple[str, TableIdentity]:
    """The suite's name of the test, '' if it is not known, and what it measures.

    `title` is what follows `# OSU `, such as `MPI-CUDA Broadcast Latency Test v5.8`.
    """
    words = title[:200].partition(" Test")[0].split()
    if [word.lower() for word in words[:2]] == ["one", "sided"]:
        words = words[2:]
    head, _, memory = (words[0] if words else "").partition("-")
    operation = " ".join(words[1:]).lower()
    kind = head.lower()
    if memory and operation.startswith("managed "):
        memory, operation = "managed", operation.removeprefix("managed ")
    elif memory:
        memory = "device"
    if kind.startswith("mpi_"):
        name = _ONE_SIDED.get(f"{kind[4:]} {operation}", "")
        operation = f"{kind[4:]} {operation}"
    elif kind == "openshmem":
        name = _SHMEM.get(operation, "")
    else:
        name = _test_name(operation)
    transport = {"openshmem": "shmem"}.get(kind, "mpi" if kind.startswith("mpi") else slug(head))
    identity = _identity(name, operation, transport)
    if memory:
        axes = memory_axis(memory, usual=usual_memory(transport))
        identity = replace(identity, axes={**identity.axes, **axes})
    return name if identity.is_known else "", identity


def usual_memory(transport: str) -> str:
    """Where buffers of a transport are that says nothing else: NCCL and RCCL know GPU memory."""
    return "device" if transport in ("nccl", "rccl") else "host"


def identity_of_test(name: str) -> TableIdentity | None:
    """What a test measures, by the name of its program; None for an unknown one."""
    return _of_test(name) if _TESTS.get(name) else None


def _test_name(operation: str) -> str:
    """The test of a title without the words before it; '' if it is not known."""
    is_persistent = "persistent" in operation.split()
    plain = " ".join(word for word in operation.split() if word != "persistent")
    if plain in _PAIRS:
        return _PAIRS[plain] + ("_persistent" if is_persistent else "")
    is_begun = plain.startswith("non-blocking ")
    plain = plain.removeprefix("non-blocking ").removesuffix(" latency")
    is_among_neighbours = plain.startswith("neighborhood ")
    plain = plain.removeprefix("neighborhood ").removesuffix(" personalized exchange")
    base = _OPERATIONS.get(plain, plain)
    among = "neighbor_" if is_among_neighbours else ""
    return f"osu_{'i' if is_begun else ''}{among}{base}{'_persistent' if is_persistent else ''}"


def _identity(name: str, operation: str, transport: str) -> TableIdentity:
    of_nccl = name.replace("osu_", "osu_xccl_", 1) if usual_memory(transport) == "device" else ""
    of_test = identity_of_test(of_nccl) or identity_of_test(name)
    if of_test is None:
        pattern = slug(operation.removesuffix(" latency"))
        return TableIdentity(pattern, {}, transport, 0, is_known=False)
    is_of_mpi = transport == "mpi" and of_test.transport == "rma"
    # The same operation by another library, such as NCCL's, has its own transport.
    return of_test if is_of_mpi else replace(of_test, transport=transport)


def _of_test(name: str) -> TableIdentity:
    test = _TESTS[name]
    name = name.replace("osu_xccl_", "osu_", 1)
    is_pair = name in (*_PAIRS.values(), *_ONE_SIDED.values(), *_SHMEM.values())
    is_pair = is_pair or name.removesuffix("_persistent") in _PAIRS.values()
    many = name in _MANY or name == "osu_oshm_barrier"
    return TableIdentity(
        test.pattern, own_axes(test), test.transport, 2 if is_pair and not many else 0
    )
