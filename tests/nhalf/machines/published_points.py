"""Published points of the machines of record, by what each figure means.

Written from the notes of the publications, not from the records: microseconds, MB/s (10^6 bytes
per second) and ratios.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tests.nhalf.machines.recorded import OTHER, SAME

KIB, MIB = 1024, 2**20
US, MBPS, RATIO = "us", "MBps", "ratio"
Meaning = tuple[str, str, int, int | None, str, str, str]
"""Machine, pattern, ranks, bytes, placement, axes, and the unit of the figure."""
Figure = tuple[Meaning, float]


def by_ranks(
    machine: str, pattern: str, times_us: Mapping[int, float], place: str, axes: str = ""
) -> Iterator[Figure]:
    for ranks, time_us in times_us.items():
        yield (machine, pattern, ranks, None, place, axes, US), time_us


def by_size(machine: str, times_us: Sequence[float], place: str) -> Iterator[Figure]:
    for power, time_us in enumerate(times_us):
        yield (machine, "latency", 2, 2**power, place, "", US), time_us


def pair(
    machine: str,
    pattern: str,
    figure: float,
    unit: str = US,
    place: str = "",
    axes: str = "",
    size: int | None = None,
) -> Figure:
    return (machine, pattern, 2, size, place, axes, unit), figure


def traffic(
    machine: str, ranks: int, rule: str, other: float | None, same: float | None = None
) -> Iterator[Figure]:
    for place, rate in ((OTHER, other), (SAME, same)):
        if rate is not None:
            yield (machine, "traffic", ranks, 10 * KIB, place, f"to={rule}", MBPS), rate


def sunfire() -> Iterator[Figure]:
    name = "sunfire-link"
    yield from by_size(name, [2.8, 2.8, 2.8, 2.8, 2.9, 3.1], SAME)
    yield from by_size(name, [5, 4.9, 5, 5, 5.9, 6], OTHER)
    yield pair(name, "latency", 7, place=SAME, size=KIB)
    yield pair(name, "latency", 9, place=SAME, size=KIB)
    yield pair(name, "stream", 2, place=OTHER, size=1)
    yield pair(name, "pingpong-bsend", 6, place=OTHER, size=1)
    yield pair(name, "pingpong", 3.7, place=OTHER, axes="by=maker")
    yield pair(name, "pingpong", 792, MBPS, OTHER, "by=maker")
    yield pair(name, "bidirectional", 658.6, MBPS, SAME)
    yield pair(name, "bidirectional", 659.5, MBPS, OTHER)
    yield pair(name, "stream", 695, MBPS)
    yield pair(name, "pingpong-bsend", 346, MBPS)
    yield pair(name, "pingpong-diffbuf", 582, MBPS)
    for ranks, size, rate in (
        *((16, 8 * KIB, 1500), (32, 8 * KIB, 2400), (64, 8 * KIB, 2900)),
        (64, 16 * KIB, 3128),
    ):
        yield (name, "aggregate", ranks, size, OTHER, "", MBPS), rate
    for ranks, rate in {16: 900, 32: 1500, 64: 2000}.items():
        yield from traffic(name, ranks, "uniform", rate)
    yield from traffic(name, 32, "complement", 3100)
    yield from traffic(name, 32, "cube", 3100)
    yield from traffic(name, 32, "cube", 3100)
    yield from traffic(name, 32, "neighbour", None, 4000)
    yield from traffic(name, 32, "transpose", 2400, 1200)
    yield from traffic(name, 32, "butterfly", 2400, 1200)
    yield from traffic(name, 32, "bit-reversal", 2500, 2000)
    yield from traffic(name, 32, "baseline", 2500, 2000)
    yield from traffic(name, 32, "others", 2000, 4000)
    for size, time_us in {8: 6, 16: 7, 32: 10}.items():
        yield pair(name, "pairs-latency", time_us, place=OTHER, size=size)
    yield pair(name, "put", 35, place=OTHER)
    yield pair(name, "put", 0.6, place=OTHER, size=64)
    yield pair(name, "put", 28, place=OTHER, size=16 * KIB)
    yield pair(name, "get", 373, place=OTHER, size=16 * KIB)
    for primitive, time_us in PRIMITIVES_US.items():
        size = 16 * KIB if primitive == "put" else None
        yield pair(name, "primitive", time_us, axes=f"primitive={primitive}", size=size)
    yield from by_ranks(name, "barrier", {2: 1.21, 4: 1.80, 8: 1.80, 16: 3.10}, SAME)
    apart_us = {4: 1156.05, 8: 1355.17, 16: 966.50, 32: 971.45, 64: 1785.60}
    yield from by_ranks(name, "barrier", apart_us, OTHER)


PRIMITIVES_US = {
    "get-topology": 12.65,
    "get-controller": 841,
    "export-create": 103.61,
    "publish": 119.36,
    "unpublish": 73.48,
    "destroy": 16.73,
    "release-controller": 3.63,
    "connect": 173.45,
    "map": 13.56,
    "init-barrier": 0.33,
    "set-mode": 0.38,
    "open-barrier": 9.93,
    "order-barrier": 16.80,
    "put": 27.73,
    "close-barrier": 7.13,
    "destroy-barrier": 0.14,
    "signal": 23.78,
    "unmap": 21.40,
    "disconnect": 486.31,
}
"""In the order in which a message layer calls them; the put is of 16 KiB."""


def myrinet() -> Iterator[Figure]:
    name = "myrinet-gm"
    yield from by_size(name, [1.5, 1.5, 1.5, 1.6, 1.5, 1.6], SAME)
    yield from by_size(name, [6.2, 5.8, 5.9, 6.0, 6.2, 6.2], OTHER)
    yield pair(name, "stream", 1.3, place=SAME)
    yield pair(name, "pingpong-bsend", 2.5, place=SAME)
    yield pair(name, "stream", 5, place=OTHER)
    yield pair(name, "pingpong-bsend", 7, place=OTHER)
    yield pair(name, "pingpong-ssend", 23, place=OTHER)
    yield pair(name, "bidirectional", 720.4, MBPS, SAME)
    yield pair(name, "bidirectional", 443.9, MBPS, OTHER)
    yield pair(name, "bidirectional", 360, MBPS, OTHER, "send=buffered")
    yield pair(name, "bidirectional", 700, MBPS, SAME, size=4 * KIB)
    for size, rate in ((8 * KIB, 1260), (16 * KIB, 1460), (32 * KIB, 1530), (None, 2500)):
        yield (name, "aggregate", 16, size, OTHER, "", MBPS), rate
    yield from traffic(name, 16, "uniform", 1600)
    yield from traffic(name, 16, "complement", 2000)
    yield from traffic(name, 16, "neighbour", 2000)
    yield from traffic(name, 16, "cube", None, 3600)
    for rule in ("bit-reversal", "transpose", "baseline"):
        yield from traffic(name, 16, rule, 2000, 1500)
    for rule in ("butterfly", "shuffle"):
        yield from traffic(name, 16, rule, 1500)
    yield from by_ranks(name, "barrier", {2: 9.84, 4: 19.12, 8: 29.50, 16: 52.44}, OTHER)
    for network, (time_us, rate) in {
        "qsnet": (4.6, 308),
        "qsnet-ii": (3, 900),
        "myrinet-d": (6.7, 235),
        "myrinet-e": (3.5, 495),
        "infiniband": (6.8, 841),
    }.items():
        yield pair(name, "pingpong", time_us, axes=f"network={network}")
        yield pair(name, "pingpong", rate, MBPS, axes=f"network={network}")


def servers() -> Iterator[Figure]:
    yield pair("poweredge-6650", "pingpong", 10, place=SAME)
    yield pair("sunfire-15k", "pingpong", 5, place=SAME)
    yield pair("sunfire-15k", "pingpong", 550, MBPS, SAME)
    yield pair("poweredge-6650", "pingpong-ssend", 32, place=SAME)
    yield pair("poweredge-6650", "stream", 12, place=SAME)
    yield pair("sunfire-15k", "stream", 3, place=SAME)
    yield pair("sunfire-15k", "pingpong-bsend", 6, place=SAME)


def altix() -> Iterator[Figure]:
    name = "altix-bx2"
    for distances, rate in {
        **{(1,): 1762, (2, 4): 1264, (8, 16): 1191},
        **{(32, 64): 1097, (128,): 1016, (256,): 917},
    }.items():
        for distance in distances:
            yield pair(name, "distance", rate, MBPS, axes=f"distance={distance}")
    yield pair(name, "distance", 1762 * 2 / 3, MBPS, axes="distance=1", size=4 * MIB)
    yield from b_eff(name, 256, (47166, 123579, 167071, 1069), 1.267)
    yield pair(name, "dense", 5, RATIO)
    yield (name, "dense-cumulative", 512, None, "", "", RATIO), 0.8
    yield pair(name, "ping-ping", 0.5, RATIO)
    for slower, ratio in {"poweredge-ib": 6, "opteron-myrinet": 13}.items():
        yield (name, "barrier", 64, None, "", f"over={slower}", RATIO), ratio


def b_eff(machine: str, ranks: int, rates: Sequence[float], latency_us: float) -> Iterator[Figure]:
    names = ("b_eff", "at-longest", "rings-at-longest", "pingpong")
    for figure, rate in zip(names, rates, strict=True):
        yield (machine, "b_eff", ranks, 1 << 20, "", f"figure={figure}", MBPS), rate
    yield (machine, "b_eff", ranks, None, "", "figure=latency", US), latency_us


def x1() -> Iterator[Figure]:
    name = "x1-ssp"
    yield pair(name, "pingpong", 4231, MBPS, SAME, size=MIB)
    for ranks, time_us in {8: 9.0, 32: 10.4, 48: 10.4}.items():
        yield (name, "latency", ranks, None, "", "", US), time_us
    yield from b_eff(name, 8, (1858, 5742, 5838, 4231), 9.044)
    yield pair(name, "dense", 2, RATIO)
    yield (name, "dense-cumulative", 48, None, "", "", RATIO), 3
    # 10, 8.6 and 20 times as fast as Altix, PowerEdge and Opteron, of 1 MB; the fastest of 8 B
    # and 1 KB.
    for slower, ratio in {"altix-bx2": 10, "poweredge-ib": 8.6, "opteron-myrinet": 20}.items():
        for size, times in ((8, 1), (KIB, 1), (MIB, ratio)):
            yield (name, "reduce", 32, size, "", f"over={slower}", RATIO), times
            yield (name, "alltoall", 32, size, "", f"over={slower}", RATIO), 1
    for slower in ("poweredge-ib", "opteron-myrinet"):
        yield (name, "barrier", 64, None, "", f"over={slower}", RATIO), 1
    yield pair(name, "ping-ping", 0.5, RATIO)
    name = "x1-msp"
    yield pair(name, "pingpong", 9400, MBPS, SAME, size=MIB)
    yield pair(name, "pingpong", 13000, MBPS, SAME)
    yield from b_eff(name, 8, (7686, 35089, 45049, 9400), 10.559)
    yield pair(name, "ping-ping", 0.7, RATIO, SAME)


def clusters() -> Iterator[Figure]:
    name = "opteron-myrinet"
    yield pair(name, "pingpong", 900, MBPS, SAME, size=128 * KIB)
    yield pair(name, "pingpong", 670, MBPS, SAME, size=4 * MIB)
    yield pair(name, "pingpong", 234, MBPS, OTHER)
    yield from b_eff(name, 8, (530, 1203, 1745, 711), 0.718)
    yield pair(name, "dense", 5, RATIO)
    yield pair(name, "dense", 0.6, RATIO)
    yield pair(name, "dense-cumulative", 1, RATIO)
    yield pair(name, "ping-ping", 0.5, RATIO)
    name = "poweredge-ib"
    yield pair(name, "pingpong", 2.0, place=SAME)
    yield pair(name, "pingpong", 399, MBPS, SAME)
    yield pair(name, "ping-ping", 0.5, RATIO)
    yield (name, "dense-cumulative", 512, None, "", "", RATIO), 0.8
    yield pair("sci-torus", "pingpong", 14.63, place=OTHER)
    yield pair("gige-pair", "pingpong", 54, place=OTHER)
    yield pair("gige-pair", "pingpong", 76.5, MBPS, OTHER)
    yield pair("sci-torus", "active-message", 3.28, place=OTHER)
    yield pair("sci-torus", "sockets", 5, place=OTHER)
    yield pair("sci-torus", "sockets", 255, MBPS, OTHER)
    yield pair("sci-torus", "dma-queue", 100)
    yield pair("sci-torus", "active-message-crossover", 1, RATIO, size=8 * KIB)
    yield pair("gige-pair", "pingpong", 6.28, axes="network=infiniband-1x", size=64)


def pentium_pro() -> Iterator[Figure]:
    name = "pentiumpro-ethernet"
    library_ms = {3: 15.23, 5: 30.31, 7: 45.23, 9: 65.32, 12: 80.34, 14: 110.23, 16: 150.46}
    yield from by_ranks(name, "barrier", {p: 1e3 * t for p, t in library_ms.items()}, OTHER)
    for algorithm, times_ms in {
        "dissemination": (7.12, 12.23, 23, 30),
        "mcs-tree": (5.56, 9.45, 15.56, 19.45),
        "n-way": (6.63, 10.33, 17.43, 22.32),
        "total-exchange": (9.13, 30.12, 53.21, 86.45),
        "tournament": (7.12, 6.34, 9.23, 11.35),
    }.items():
        times_us = {p: 1e3 * t for p, t in zip((3, 5, 7, 9), times_ms, strict=True)}
        yield from by_ranks(name, "barrier", times_us, OTHER, f"algorithm={algorithm}")


def power2() -> Iterator[Figure]:
    for kernel, cycles in {1: 0.3, 7: 0.25}.items():
        yield ("sp2-mpl", "node", 1, None, "", f"figure=kernel-{kernel}-cpf", RATIO), cycles


def all_points() -> Iterator[Figure]:
    """Yield every figure with what it means."""
    for part in (power2, sunfire, myrinet, servers, altix, x1, clusters, pentium_pro):
        yield from part()
