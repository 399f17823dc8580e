# SPDX-License-Identifier: Apache-2.0
"""Messages that travel in packets: the time rises in equal steps."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.units import format_time
from nhalf.facts.facts import Facts
from nhalf.facts.series import MAIN_PATTERN, library_label
from nhalf.present.findings import Finder, Finding


class PacketSteps(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for model in facts.models:
            steps = model.packet_steps
            if steps is None or model.pattern != MAIN_PATTERN:
                continue
            name = library_label(facts, model.transport, model.mpi)
            low_s, high_s = steps.height_ci
            yield Finding(
                f"{name}: messages travel in packets. From {steps.offset_bytes} B on, every "
                f"{steps.period_bytes} B cost {format_time(steps.height_s)} more (interval "
                f"{format_time(low_s)} to {format_time(high_s)}).",
                importance=43,
                kind="packet-steps",
                label="Packets",
                figure=f"{steps.period_bytes} B",
                value=steps.period_bytes,
                mpi=model.mpi,
                size_bytes=steps.offset_bytes,
            )
