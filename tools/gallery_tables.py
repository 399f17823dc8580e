"""Tables of the gallery of the documentation."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable

import gallery_left_out
import gallery_orders
from gallery_comparisons import Comparison, Kept, comparisons, is_one_node, kept, names, where
from gallery_traffic import table_of
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.decide.b_eff import predict_b_eff
from nhalf.machines import catalogue
from nhalf.present.terminal.machine_list import message_cost
from nhalf.store.keys import parse_axes
from nhalf.studies.phases import middle_phases

DENSE_FALLING = ("dense-alltoall", "dense-pairwise")
CALLS = "what each call costs its processor is not published, nor what a byte costs it"
SHARED = (
    "the library's way is not published; in the simulator the short messages of a rank leave at "
    "the same time and share its adapter, not one after the other"
)
FAN = "the machine file has how far its messages are apart; the simulated fan is answered, too"
SUMS = "adding up takes no time in the simulator: nothing is known of the processors"
WHY: dict[tuple[str, str], str] = {
    ("sp2-mpl", "exchange"): "the simulated exchange takes no less than a message does",
    ("sunfire-link", "stream"): "with o_s = 3 µs no message can leave every 2 µs: the published "
    "numbers do not fit together",
    ("sp1-mpl", "barrier"): "84 µs a step is the time of two messages, in MPICH's barrier of one",
    (
        "sp2-mpl",
        "barrier",
    ): "84 µs a step is nearly that of two messages, in MPICH's barrier of one",
    ("sp2-pvme", "barrier"): "1.47 ms are there without any step, 14 times a message: not made of "
    "messages as ping-pong sends them",
    ("spp1000-pvm", "barrier in a node"): "39 µs + 0.465 µs p³ is no tree of messages",
    ("pentiumpro-ethernet", "barrier"): "messages follow each other on the wire that all share; "
    "the simulator has a switch, `nhalf predict` counts them",
    ("sunfire-link", "barrier"): "about 1 ms at a latency of 5 µs cannot come from messages",
    (
        "sunfire-link",
        "barrier in a node",
    ): "2 ranks take less than one message does: flags in shared memory, not messages",
    ("myrinet-gm", "barrier"): "9.8 µs a step at a latency of 6.2 µs: " + CALLS,
    ("sp1-mpl", "allreduce"): SUMS,
    ("sp2-mpl", "allreduce"): SUMS,
    ("sp1-mpl", "bcast"): SHARED,
    ("sp2-mpl", "bcast"): SHARED,
    ("sp2-pvme", "bcast"): "PVMe's broadcast is its one-to-many (one formula for both), the "
    "simulator's a tree",
    ("spp1000-pvm", "bcast"): "all ranks read the sender's memory, n/23 whatever their number; the "
    "simulator sends messages",
    ("sp1-mpl", "many-to-many"): CALLS,
    ("sp2-mpl", "many-to-many"): CALLS,
    ("sp2-pvme", "many-to-many"): "300 + 750 (p − 2) µs: 7 messages' time for each partner, "
    "which a ping-pong does not show",
    ("spp1000-pvm", "many-to-many"): "what the memory of the node moves in all is not published",
    ("sp1-mpl", "many-to-one"): FAN,
    ("sp2-mpl", "many-to-one"): FAN,
    ("sp1-mpl", "one-to-many"): FAN,
    ("sp2-mpl", "one-to-many"): FAN,
    ("sp2-pvme", "one-to-many"): FAN,
    ("spp1000-pvm", "one-to-many"): FAN,
}
"""By machine and subject: what the simulation does not know."""


def percent(share: float) -> str:
    """A relative error in words; as a factor where the published time is several times as long."""
    if share < -0.9:
        return f"1/{1 / (1 + share):.0f}"
    return f"×{1 + share:.1f}" if share > 2 else f"{share:+.0%}".replace("-", "−")


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    lines = [list(head), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def link(machine: str) -> str:
    """The name of a machine, as a link to its record."""
    return f"[`{machine}`](machines.md#{machine})"


def errors() -> str:
    """What was published, and how far off the simulation is, by study, machine and pattern."""
    rows = []
    for study in ("pair", "barrier", "collectives"):
        groups: dict[tuple[str, str], list[Comparison]] = {}
        for each in comparisons(study):
            groups.setdefault((each.machine, subject(each)), []).append(each)
        for (machine, words), found in groups.items():
            worst = max(found, key=lambda each: abs(math.log1p(each.error))).error
            middle = statistics.median(abs(each.error) for each in found)
            numbers = (str(len(found)), f"{middle:.0%}", percent(worst))
            rows.append([link(machine), words, *numbers, WHY[machine, words]])
    return table(["machine", "of", "figures", "median error", "worst", "why"], rows)


def subject(of: Comparison) -> str:
    """What a comparison is about: barriers within a node apart from others."""
    within = of.study == "barrier" and is_one_node(of.placement)
    return f"{of.pattern} in a node" if within else of.pattern


def times(study: str) -> str:
    """Every comparison of a study."""
    wanted = comparisons(study)
    sized = any(each.size_bytes for each in wanted)
    rows = []
    for each in wanted:
        size = [format_size(each.size_bytes)] if sized else []
        compared = (format_time(each.published_s), format_time(each.simulated_s))
        point = (link(each.machine), each.pattern, str(each.ranks), *size, where(each.placement))
        rows.append([*point, *compared, percent(each.error)])
    head = ["machine", "pattern", "ranks", *(["size"] if sized else []), "on"]
    return table([*head, "published", "simulated", "error"], rows)


FALLS = {"altix-bx2": "above 5", "opteron-myrinet": "above 5", "x1-ssp": "2"}
PUBLISHED_FALL = {
    **{(name, kind): fall for name, fall in FALLS.items() for kind in DENSE_FALLING},
    ("altix-bx2", "dense-cumulative"): "up to 1.25",
    ("poweredge-ib", "dense-cumulative"): "up to 1.25",
    ("opteron-myrinet", "dense-cumulative"): "1",
    ("x1-ssp", "dense-cumulative"): "up to 3",
}
"""By machine and pattern: what was published of the first phases over the middle ones; of pairs
in growing number, one over all of them (Adamidis et al. 2005)."""


def dense() -> str:
    """What a process gets in the phases of the dense patterns, beside the best ping-pong."""
    rows = []
    for name in names("dense"):
        content = kept(name)
        machine = catalogue.machine(content["machine"])
        alone_Bps = message_cost(machine)[1]
        for group in content["groups"]:
            rates = dict(phases(group))
            low = min(rates, key=lambda phase: (rates[phase], phase))
            middle_Bps = statistics.median(middle_phases(rates))
            rows.append(
                [
                    *(link(machine.name), str(group["ranks"]), group["pattern"]),
                    *(format_rate(rates[1]), format_rate(middle_Bps)),
                    *(f"{format_rate(rates[low])} ({low})", f"{middle_Bps / alone_Bps:.2f}"),
                    f"{rates[1] / middle_Bps:.1f}",
                    PUBLISHED_FALL.get((machine.name, group["pattern"]), "–"),
                ]
            )
    head = ["machine", "ranks", "pattern", "first phase", "middle phases", "lowest (phase)"]
    head += ["middle over ping-pong", "first over middle", "published"]
    return table(head, rows)


def phases(group: Kept) -> list[tuple[int, float]]:
    """By phase the bytes that a process sends per second, until the slowest is done."""
    found = [
        (int(parse_axes(axes)["phase"]), group["bytes"] / time_s)
        for axes, time_s in zip(group["axes"], group["time_s"], strict=True)
    ]
    return sorted(found)


B_EFF = (
    *(("sp1-mpl", 32), ("sp2-mpl", 32), ("sp2-ip", 32), ("sp2-pvme", 16), ("spp1000-pvm", 8)),
    *(("pentiumpro-ethernet", 16), ("sci-torus", 32), ("gige-pair", 2), ("sunfire-link", 96)),
    *(("sunfire-15k", 72), ("myrinet-gm", 16), ("poweredge-6650", 4), ("altix-bx2", 256)),
    *(("x1-ssp", 8), ("x1-msp", 8), ("opteron-myrinet", 8), ("poweredge-ib", 256)),
)
"""Machines and ranks: all of a machine, or as many as were published."""


def b_eff() -> str:
    """The effective bandwidth of all machines: predicted, and published where it is."""
    rows = []
    for name, ranks in B_EFF:
        found = predict_b_eff(catalogue.machine(name), ranks, without_own=True)
        for figure in ("b_eff", "at-longest", "rings-at-longest"):
            rate, published_Bps = found.figures[figure], found.published_Bps.get(figure)
            if published_Bps is None and figure != "b_eff":
                continue
            between = f"{format_rate(rate.low)} – {format_rate(rate.high)}"
            error = "" if published_Bps is None else percent(rate.middle_Bps / published_Bps - 1)
            published = format_rate(published_Bps) if published_Bps else "–"
            of = {"b_eff": "b_eff", "at-longest": "at L_max"}.get(figure, "rings at L_max")
            point = (link(name), str(ranks), of)
            rows.append([*point, published, format_rate(rate.middle_Bps), between, error])
    return table(["machine", "ranks", "of", "published", "predicted", "interval", "error"], rows)


def traffic() -> str:
    """Permutations, beside what was published of them."""
    return table_of(percent, link, table)


TABLES: dict[str, Callable[[], str]] = {
    "gallery-errors": errors,
    "gallery-pairs": lambda: times("pair"),
    "gallery-barriers": lambda: times("barrier"),
    "gallery-collectives": lambda: times("collectives"),
    "gallery-dense": dense,
    "gallery-b-eff": b_eff,
    "gallery-traffic": traffic,
    "gallery-order-times": lambda: gallery_orders.times(link, table),
    "gallery-orders": lambda: gallery_orders.orders(link, table),
    "gallery-left-out": lambda: gallery_left_out.table_of(percent, link, table),
}
"""By their marks in docs/gallery.md."""
