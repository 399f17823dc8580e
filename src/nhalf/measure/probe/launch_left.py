# SPDX-License-Identifier: Apache-2.0
"""What a launch leaves on this host when it does not end well, and who clears it away.

This program does at the end of the launch, or else who survives it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from nhalf.base.launch.segments_left import SegmentsLeft
from nhalf.base.launch.survivor import LIFE_LINE, Launched, Survivor, with_variable
from nhalf.base.launch.topology_left import TopologyLeft


class LaunchLeft:
    """Processes, shared memory, files of the topology and session folders of one launch."""

    def __init__(self) -> None:
        """Remember what there is before the launch, so make it first."""
        self._segments_before = sorted(SegmentsLeft().before)
        self._began_s = TopologyLeft().began_s
        self._launched: Launched | None = None

    def begin(self, process: int, environment: Mapping[str, str]) -> None:
        """A launcher has started, with a place for life lines among its variables."""
        self._launched = Launched(
            process,
            f"{LIFE_LINE}={environment[LIFE_LINE]}",
            self._began_s,
            self._segments_before,
        )
        Survivor.own().begin(self._launched)

    def look(self, members: Iterable[int] | None = None) -> None:
        """Note what ranks use while they live: those of these numbers, or else all of this host."""
        if self._launched is None:
            return
        segments = SegmentsLeft(before=self._segments_before, own=self._launched.segments)
        segments.look(with_variable(self._launched.variable) if members is None else members)
        if segments.own != set(self._launched.segments):
            self._launched = replace(self._launched, segments=sorted(segments.own))
            Survivor.own().begin(self._launched)

    def end(self, is_whole: bool) -> None:
        """The launch is over; one that `is_whole` has removed everything itself."""
        if self._launched is None:
            return
        if not is_whole:
            self._launched.clear()
        Survivor.own().end(self._launched)
        self._launched = None
