"""The gallery's table of permutations beside what was published, and why they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gallery_comparisons import Kept, kept, names
from nhalf.base.errors import InputError
from nhalf.base.units import format_rate
from nhalf.decide.traffic import PLACES, PermutationRate, predict_traffic, published_Bps
from nhalf.machines import catalogue
from nhalf.machines.layout import parse_layout
from nhalf.machines.machine import Machine

STAGED = ("butterfly", "baseline", "cube")
"""Permutations of which there is one for each bit."""
EXPLAINED = 0.2
"""Smaller errors need no reason."""

LIMITED = "2 GB/s are published, and nothing that limits messages to it is in any test of two ranks"
WHY = {
    ("myrinet-gm", "complement"): LIMITED,
    ("myrinet-gm", "neighbour"): LIMITED,
    ("sunfire-link", "uniform"): "what the switches lose where messages for one node come from "
    "several sides is not published",
    ("myrinet-gm", "cube"): "two ranks of a node move 720 MB/s in the study's test of bandwidth, "
    "450 in its traffic; the simulator takes the former, the prediction a range for what caches "
    "and copies leave of it",
}
"""By machine and rule: what the simulation does otherwise, or does not know."""


def table_of(
    percent: Callable[[float], str],
    link: Callable[[str], str],
    table: Callable[[Iterable[str], Iterable[Iterable[str]]], str],
) -> str:
    """What goes through where nobody pauses, by where messages go, beside what was published."""
    rows = []
    for name in names("traffic"):
        machine = catalogue.machine(kept(name)["machine"])
        for row in kept(name)["results"]["traffic"]:
            published_Bps, found_Bps = published(machine, row), parts_Bps(row)
            words, simulated = (
                ", ".join(f"{format_rate(rate)} {place}" for place, rate in parts.items())
                for parts in (published_Bps, found_Bps)
            )
            compared = compared_place(published_Bps, found_Bps)
            error = found_Bps[compared] / published_Bps[compared] - 1 if compared else 0.0
            why = WHY[machine.name, row["to"]] if abs(error) > EXPLAINED else ""
            point = (link(machine.name), str(row["ranks"]), rule(row), str(row["senders"]))
            compared_words = percent(error) if compared else ""
            foreseen = predictions(machine, row)
            predicted = "<br>".join(predicted_words(each, percent) for each in foreseen)
            rows.append([*point, words or "–", predicted, simulated, compared_words, why])
    head = ["machine", "ranks", "to", "senders", "published", "predicted", "simulated"]
    return table([*head, "error of the simulation", "why"], rows)


def predicted_words(each: PermutationRate, percent: Callable[[float], str]) -> str:
    """A rate, its interval where it has one, and its error."""
    rate = each.rate
    error = percent(rate.middle_Bps / (each.published_Bps or rate.middle_Bps) - 1)
    between = f"{format_rate(rate.low)} to {format_rate(rate.high)}, " if rate.is_wide else ""
    return f"{format_rate(rate.middle_Bps)} {PLACES[each.place]} ({between}{error})"


def rule(row: Kept) -> str:
    """Where messages go, and of stages which one."""
    staged = row["to"] in STAGED
    return f"{row['to']}, bit {int(row['distance']).bit_length() - 1}" if staged else str(row["to"])


def published(machine: Machine, row: Kept) -> dict[str, float]:
    """What was published of a rule, off-node and on-node; of stages that of the highest."""
    if not is_highest(row):
        return {}
    found = published_Bps(machine, row["to"], row["ranks"])
    return {PLACES[place]: rate_Bps for place, rate_Bps in found.items()}


def is_highest(row: Kept) -> bool:
    """Whether a row is of no stage, or of the last one."""
    return row["to"] not in STAGED or 2 * int(row["distance"]) == row["ranks"]


def predictions(machine: Machine, row: Kept) -> list[PermutationRate]:
    """The parts of a permutation that have a published rate; none of messages to anybody."""
    layout = parse_layout(row["placement"])
    if layout is None:
        raise InputError(f"{row['placement']} is no layout")
    if row["to"] == "uniform" or not is_highest(row):
        return []
    found = predict_traffic(machine, [row["to"]], layout, row["bytes"]).rows
    return [each for each in found if each.published_Bps is not None]


def parts_Bps(row: Kept) -> dict[str, float]:
    """What goes through between nodes and within them, until the slowest rank is done."""
    share = row["on_node_share"]
    parts = {"off-node": 1 - share, "on-node": share}
    return {place: row["saturated_Bps"] * part for place, part in parts.items() if part > 0}


def compared_place(published_Bps: Kept, found_Bps: Kept) -> str:
    """The part that both have: of mixed traffic that between nodes, which is the last to be done.

    What was published within nodes is of ranks that are done before, or send to themselves.
    """
    both = [place for place in ("off-node", "on-node") if place in published_Bps]
    both = [place for place in both if place in found_Bps]
    return both[0] if both and (both[0] == "off-node" or len(found_Bps) == 1) else ""
