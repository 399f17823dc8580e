"""How far answers are from figures that are right: what a figure may miss by."""

from __future__ import annotations

from typing import NamedTuple

from nhalf.decide.published.figures import (
    BOTH_WAYS,
    COLLECTIVES,
    FANS,
    MODES,
    ONE_WAY,
    READ_BACK,
    TOGETHER,
    Figure,
)


class Tolerance(NamedTuple):
    """The factor by which an answer may miss a figure, and miss it beside its siblings."""

    alone: float
    siblings: float


TOLERANCES = {
    READ_BACK: Tolerance(1.02, 1.02),
    ONE_WAY: Tolerance(1.25, 1.25),
    BOTH_WAYS: Tolerance(1.35, 1.35),
    MODES: Tolerance(4, 4),
    FANS: Tolerance(2.7, 2.5),
    COLLECTIVES: Tolerance(3, 2.1),
    TOGETHER: Tolerance(1.65, 1.65),
}
"""By kind of question: what figures of record that are right miss by at most, rounded up."""
SIBLINGS_LEAST = 2
"""Of fewer other figures there is no median to speak of."""


class Known(NamedTuple):
    """Figures of a machine that do not follow from its messages: by which ratios, and why."""

    machine: str
    pattern: str
    placement: str
    low: float
    high: float
    why: str


KNOWN = (
    Known(
        "altix-bx2",
        "dense-cumulative",
        "",
        0.2,
        1,
        "its falling exchanges, published as well, need one cable for two routers",
    ),
    Known(
        "myrinet-gm",
        "traffic",
        "",
        0.9,
        1.65,
        "no test of two ranks shows what limits traffic of all to 2 GB/s",
    ),
    Known(
        "sp1-mpl",
        "many-to-one",
        "",
        0.5,
        4,
        "published with log p messages' worth of bytes: they come in side by side",
    ),
    Known(
        "sp1-mpl",
        "one-to-many",
        "",
        0.38,
        1.1,
        "short sends take a call of 28 µs each, which a ping-pong does not tell from its latency",
    ),
    Known(
        "sp2-mpl",
        "exchange",
        "",
        0.55,
        1.35,
        "what both directions share is known from this figure alone",
    ),
    Known(
        "sp2-pvme",
        "many-to-many",
        "",
        0.06,
        0.85,
        "each further rank adds 750 µs, seven messages' worth: its daemons are no messages",
    ),
    Known("sp2-pvme", "barrier", "", 0.25, 1, "it begins at 1470 µs, fourteen messages' worth"),
    Known(
        "spp1000-pvm",
        "one-to-many",
        "",
        0.45,
        2.3,
        "the sender copies once for all into the shared memory",
    ),
    Known(
        "spp1000-pvm",
        "bcast",
        "",
        1.5,
        4.2,
        "the sender copies once for all into the shared memory",
    ),
    Known(
        "x1-msp",
        "pingpong",
        "same-node",
        0.9,
        1.02,
        "the size of the highest rate was not published",
    ),
    Known(
        "x1-msp",
        "range",
        "",
        0.4,
        1.1,
        "long messages are assumed to start later: the highest rate has no published size",
    ),
    Known(
        "sunfire-link",
        "barrier",
        "same-node",
        2,
        5,
        "it takes less than a message: flags in a shared memory",
    ),
    Known(
        "sunfire-link",
        "barrier",
        "other-node",
        0.005,
        0.7,
        "with a latency of 5 µs it takes a millisecond: it is made of no messages",
    ),
    Known(
        "sunfire-link",
        "latency",
        "same-node",
        0.45,
        1.05,
        "the curve is straight up to the bandwidth, and 1 KiB lies above it",
    ),
    Known(
        "sunfire-link",
        "pairs-latency",
        "",
        0.48,
        1,
        "the adapter slows more than one message down by what a pair does not show",
    ),
    Known(
        "sunfire-link",
        "traffic",
        "same-node",
        0.6,
        1.1,
        "the study counts ranks that send to themselves",
    ),
)
"""What does not fit together in the records; their figures are judged by their own range."""


def known(machine: str, figure: Figure) -> Known | None:
    """Why a figure does not follow from its machine's messages; None if it should."""
    point = figure.point
    found = (
        each
        for each in KNOWN
        if each.machine == machine.partition(" (")[0]
        if each.pattern == point.pattern and each.placement in ("", point.placement)
    )
    return next(found, None)
