"""Findings on what the MPI library of a traced program says of itself (MPI_T)."""

from collections.abc import Iterator
from typing import Any

import msgspec

from nhalf.base.listing import listed
from nhalf.base.numbers import percent, whole
from nhalf.base.units import format_size
from nhalf.facts.program.library_report import (
    QUEUE,
    eager_use,
    forced_algorithms,
    unreceived,
)
from nhalf.facts.program.program import Program
from nhalf.facts.reported import RULES_ON
from nhalf.present.findings import Finder, Finding


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
