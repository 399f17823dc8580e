"""Findings on the messages of a program, and on what its library says of them (MPI_T)."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from nhalf.base.listing import listed
from nhalf.base.numbers import format_number, percent, times, whole
from nhalf.base.units import format_size
from nhalf.facts.program import messages as message_facts
from nhalf.facts.program.library_report import (
    QUEUE,
    eager_use,
    forced_algorithms,
    unreceived,
)
from nhalf.facts.program.npb import ClosedForm, beside_closed_form
from nhalf.facts.program.program import Program
from nhalf.facts.program.shape import naming
from nhalf.facts.program.shape.explained import MASTER_WORKER
from nhalf.facts.reported import RULES_ON
from nhalf.present.findings import Finder, Finding

SMALL_BYTES = 1024
LARGE_BYTES = 64 * 1024
MOSTLY = 0.5
LATENCY_REMEDY = (
    "Combine messages to the same partner, or choose the library with the lowest latency (nhalf "
    "run)."
)


class ShapeOfMessages(Finder[Program]):
    """The shape with its evidence; small messages cost by number, large ones by bytes."""

    def find(self, program: Program) -> Iterator[Finding]:
        shape = naming.communication_shape(program)
        if shape.name == naming.NONE:
            return
        distribution = message_facts.message_sizes(program)
        small = message_facts.share_below(distribution, SMALL_BYTES)
        large = 1 - message_facts.share_below(distribution, LARGE_BYTES)
        middle = message_facts.median_bytes(distribution)
        bound, sizes, remedy = "", f"are {format_size(middle)} at most", ""
        share = message_facts.share_below(distribution, middle + 1)
        if small >= MOSTLY:
            bound, sizes, share = "latency-bound", f"are below {format_size(SMALL_BYTES)}", small
            remedy = LATENCY_REMEDY
        elif large >= MOSTLY:
            sizes, share = f"are {format_size(LARGE_BYTES)} or larger", large
            bound = "bandwidth-bound"
        if distribution.height == 1:
            sizes, share = f"are of {format_size(middle)}", 1.0
        subject = "All messages" if share == 1 else f"{percent(share)} of the messages"
        if shape.name == naming.PAIR:
            text = f"{shape.evidence} {subject} {sizes}{bound and f': {bound}'}."
        else:
            words = "irregular pattern" if shape.name == naming.IRREGULAR else shape.words
            name = f"{bound} {words}".lstrip()
            article = "an" if name[0] in "aeio" else "a"
            partners = f"{format_number(shape.partners)} partner{'s' * (shape.partners != 1)}"
            text = (
                f"{subject} {sizes} and a rank sends to {partners}: {article} {name}. "
                f"{shape.evidence}"
            )
        # Headed by the shape: the share says nothing without its sentence.
        label, figure = "Communication pattern", shape.name or "irregular"
        yield Finding(text, 80, "shape", remedy, value=share, label=label, figure=figure)


class AsInClosedForm(Finder[Program]):
    """A kernel of the NAS Parallel Benchmarks: whether it sent what its closed form has."""

    def find(self, program: Program) -> Iterator[Finding]:
        comparison = beside_closed_form(program)
        if comparison is None:
            return
        runs = "1 run" if comparison.runs == 1 else f"{comparison.runs} runs"
        head = f"{comparison.kernel} on {comparison.ranks} ranks, {runs}"
        text, different = f"{head}: {_words(comparison)}", comparison.different
        importance, figure = (70, "equal") if comparison.is_equal else (95, f"{different} differ")
        label, value = "Closed form", float(different)
        yield Finding(text, importance, "closed-form", value=value, label=label, figure=figure)


def _words(comparison: ClosedForm) -> str:
    traced = _count(comparison.messages, comparison.bytes)
    if comparison.is_equal:
        collectives = f" and {whole(comparison.collectives)} calls of collective operations"
        own = collectives if comparison.collectives else ""
        return f"{traced}{own} were traced, exactly those of the closed form."
    expected = _count(comparison.expected_messages, comparison.expected_bytes)
    return (
        f"{traced} were traced and {expected} are those of the closed form; "
        f"{whole(comparison.different)} calls of a rank with one partner and size differ."
    )


def _count(messages: int, size_bytes: int) -> str:
    return f"{whole(messages)} messages of {format_size(size_bytes)} in all"


RATIO_MIN = 4.0
RANKS_MIN = 4


class HotRank(Finder[Program]):
    """A rank that receives many times as many messages as the others."""

    def find(self, program: Program) -> Iterator[Finding]:
        received = message_facts.communication_matrix(program).messages.sum(axis=0)
        if program.ranks < RANKS_MIN or not received.sum():
            return
        rank = int(received.argmax())
        ratio = float(received[rank] / received.mean())
        if ratio < RATIO_MIN:
            return
        is_master = naming.communication_shape(program).name == MASTER_WORKER
        remedy = "Use several masters, or hand out larger pieces of work." if is_master else ""
        share = percent(received[rank] / received.sum())
        text = f"Rank {rank} receives {share} of all messages, {times(ratio)} the mean."
        yield Finding(text, 60, "hot-rank", remedy, value=ratio, label="Hot rank")


SAVED_SHARE_MIN = 0.1
RANKS_LISTED = 64


class BetterPlacement(Finder[Program]):
    """A placement of ranks that sends fewer bytes between nodes, and the saving."""

    def find(self, program: Program) -> Iterator[Finding]:
        placement = message_facts.suggested_placement(program)
        if placement is None or placement.saved_bytes < SAVED_SHARE_MIN * placement.before_bytes:
            return
        if placement.saved_bytes <= 0:
            return
        share = placement.saved_bytes / placement.before_bytes
        hosts = list(dict.fromkeys(program.hosts))
        text = (
            f"{format_size(placement.before_bytes)} go from node to node; a different placement of "
            f"the ranks on the same nodes sends {format_size(placement.saved_bytes)} less "
            f"({percent(share)})."
        )
        remedy, figure = _remedy(hosts, placement.groups), f"-{percent(share)}"
        yield Finding(text, 72, "placement", remedy, value=share, label="Placement", figure=figure)


def _remedy(hosts: Sequence[str], groups: Sequence[int]) -> str:
    if len(groups) > RANKS_LISTED:
        return "nhalf show --json lists the node of each rank under placement."
    members = (
        f"{host}: {', '.join(str(rank) for rank, group in enumerate(groups) if group == number)}"
        for number, host in enumerate(hosts)
    )
    return f"Place ranks as {'; '.join(members)}."


class BeyondEagerLimit(Finder[Program]):
    """Messages that are too long to leave before their receivers are there."""

    def find(self, program: Program) -> Iterator[Finding]:
        use = eager_use(program)
        if use is None or use.longer == 0:
            return
        share = use.longer / use.messages
        text = (
            f"{percent(share)} of the messages between ranks of one host ({whole(use.longer)} of "
            f"{whole(use.messages)}) are of {format_size(use.size_bytes)} or more, which is "
            f"{use.parameter} by MPI_T: they wait for their receivers (rendezvous)."
        )
        kind = "beyond-eager-limit"
        yield Finding(text, 50, kind, label="Eager limit", value=share, size_bytes=use.size_bytes)


class ForcedAlgorithms(Finder[Program]):
    """Algorithms that a setting forces, and those that it does not after all."""

    def find(self, program: Program) -> Iterator[Finding]:
        forced = [choice for choice in forced_algorithms(program) if choice.is_taken]
        if forced:
            words = [
                f"{'number ' * choice.algorithm.isdecimal()}{choice.algorithm} for "
                f"{choice.operation}"
                for choice in forced
            ]
            text = (
                f"A setting forces algorithms (MPI_T): {listed(words)}. Which ones ran, the "
                "library does not say."
            )
            yield Finding(text, 46, "forced-algorithm", label="Algorithm", figure=str(len(forced)))
        for choice in forced_algorithms(program):
            if not choice.is_taken:
                yield Finding(
                    f"{choice.variable} is {choice.algorithm}, but {RULES_ON} is off (MPI_T): the "
                    "setting did not take effect.",
                    importance=90,
                    kind="setting-ignored",
                    label="Setting",
                    remedy=f"Set {RULES_ON} to 1, too.",
                    figure="–",
                )


class NeverReceived(Finder[Program]):
    """Messages that are left at the end."""

    def find(self, program: Program) -> Iterator[Finding]:
        count = unreceived(program)
        if count:
            messages = "1 message" if count == 1 else f"{whole(count)} messages"
            text = (
                f"{messages} to rank 0 had arrived by MPI_Finalize without ever being received "
                f"({QUEUE} by MPI_T)."
            )
            yield Finding(text, 85, "never-received", label="Never received", value=float(count))


def library_json(program: Program) -> dict[str, Any] | None:
    """What the library said, and what follows of it, as an object; None if it was not asked."""
    report = program.trace.mpi_t
    if report is None:
        return None
    use = eager_use(program)
    return {
        **msgspec.to_builtins(report),
        "eager": use and vars(use),
        "forced": [vars(choice) for choice in forced_algorithms(program)],
        "never_received": unreceived(program),
    }
