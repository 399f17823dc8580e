# SPDX-License-Identifier: Apache-2.0
"""A placement of ranks that sends fewer bytes between nodes, and the saving."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nhalf.base.numbers import percent
from nhalf.base.units import format_size
from nhalf.facts.program.placement import suggested_placement
from nhalf.facts.program.program import Program
from nhalf.present.findings import Finder, Finding

SAVED_SHARE_MIN = 0.1
RANKS_LISTED = 64


class BetterPlacement(Finder[Program]):
    def find(self, program: Program) -> Iterator[Finding]:
        placement = suggested_placement(program)
        if placement is None or placement.saved_bytes < SAVED_SHARE_MIN * placement.before_bytes:
            return
        if placement.saved_bytes <= 0:
            return
        share = placement.saved_bytes / placement.before_bytes
        hosts = list(dict.fromkeys(program.hosts))
        yield Finding(
            f"{format_size(placement.before_bytes)} go from node to node; a different placement of "
            f"the ranks on the same nodes sends {format_size(placement.saved_bytes)} less "
            f"({percent(share)}).",
            importance=72,
            kind="placement",
            remedy=_remedy(hosts, placement.groups),
            value=share,
            label="Placement",
            figure=f"-{percent(share)}",
        )


def _remedy(hosts: Sequence[str], groups: Sequence[int]) -> str:
    if len(groups) > RANKS_LISTED:
        return "nhalf show --json lists the node of each rank under placement."
    members = (
        f"{host}: {', '.join(str(rank) for rank, group in enumerate(groups) if group == number)}"
        for number, host in enumerate(hosts)
    )
    return f"Place ranks as {'; '.join(members)}."
