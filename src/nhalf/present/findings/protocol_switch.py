# SPDX-License-Identifier: Apache-2.0
"""Changes of protocol that cost or save time."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.switches import Quicker, switches
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, percent, times, weight
from nhalf.statistics.intervals import Interval


class ProtocolSwitch(Finder):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for one in switches(facts):
            before, after = one.before_bytes, one.after_bytes
            near = after <= before * 1.06
            place = f"at {before} B" if near else f"between {before} B and {after} B"
            yield Finding(
                f"{one.series}: the switch {place} {_change(one.jump)}: "
                f"{format_time(one.before_s)} for {format_size(before)}, "
                f"{format_time(one.after_s)} for {format_size(after)}.",
                importance=weight(one.jump.median, 45 if one.costs else 40, 70),
                kind="switch-costs" if one.costs else "switch-saves",
                label="Protocol switch",
                figure=_figure(one.jump),
                remedy=_remedy(one.quicker),
                value=one.jump.median,
                low=one.jump.low,
                high=one.jump.high,
                mpi=one.mpi,
                size_bytes=before,
            )


def _change(jump: Interval) -> str:
    """'costs 40 % (interval 35 to 46 %)', 'saves 30 % ...' or 'costs 6.8x the time ...'."""
    if jump.median >= 2:
        return f"costs {times(jump.median)} the time ({between(jump)})"
    share, low, high = (abs(ratio - 1) for ratio in (jump.median, jump.low, jump.high))
    verb = "costs" if jump.median > 1 else "saves"
    low, high = min(low, high), max(low, high)
    return f"{verb} {percent(share)} (interval {low * 100:.0f} to {percent(high)})"


def _remedy(quicker: Quicker | None) -> str:
    if quicker is None:
        return ""
    needs, size = format_time(quicker.time_s), format_size(quicker.size_bytes)
    return f"{quicker.title} needs {needs} for {size} here."


def _figure(jump: Interval) -> str:
    """'+40 %' where a ratio says less than a share."""
    share = f"{(jump.median - 1) * 100:+.0f} %".replace("-", "−")
    return share if jump.median < 2 else ""
