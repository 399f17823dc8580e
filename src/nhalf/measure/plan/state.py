# SPDX-License-Identifier: Apache-2.0
"""What is done already: read from the journal, kept up to date while measuring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, NamedTuple

from nhalf.base.errors import InputError
from nhalf.base.operations import NATIVE
from nhalf.measure.plan.algorithm import joined
from nhalf.measure.plan.plan import Point
from nhalf.sites.placement import CORES
from nhalf.statistics.flags import steady_flag_s

END, EXTENDED, LIKE = "end", "extended", "like"
"""Events: a run came to its end; more was asked for than it was begun with; the sizes of a curve of
an earlier run, of which only the same points are measured."""


class Curve(NamedTuple):
    """What sizes are chosen for; `range` is the text that they were asked for with."""

    subject: str
    pattern: str
    ranks: int
    placement: str
    range: str


Median = tuple[float, float | None]
"""Of a launch at a point, and its flag (statistics/flags.py), both seconds."""
EVERYBODY = ""
"""In a curve, instead of one subject: sizes that all of them measure."""


@dataclass
class State:
    """What a journal says is done: points by subject and launch, sizes found, failures.

    `medians_s` are the medians of points by launch with what a flag took, as far as samples were
    told.
    `placement` is that of events which do not tell theirs (version 1). `refused` are the starts
    (subject, ranks, placement) that this machine cannot give, `dead` the hosts that were lost
    while measuring, each with the reason, `hosts` by rank those of the first launch of each start;
    `ended` says that the run came to its end, and no more was asked for since; `like` are the sizes
    of an earlier run's curves (pattern, ranks, placement, axes), where only these are measured.
    """

    placement: str = CORES
    done: set[tuple[str, int, Point]] = field(default_factory=set)
    medians_s: dict[tuple[str, Point], dict[int, Median]] = field(default_factory=dict)
    sizes: dict[Curve, list[int]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    impossible: set[tuple[str, Point]] = field(default_factory=set)
    refused: dict[tuple[str, int, str], str] = field(default_factory=dict)
    dead: dict[str, str] = field(default_factory=dict)
    hosts: dict[tuple[str, int, str], list[str]] = field(default_factory=dict)
    ended: bool = False
    like: dict[tuple[str, int, str, str], list[int]] = field(default_factory=dict)

    def note(self, event: dict[str, Any]) -> None:
        """Take in one event of the journal.

        Raises InputError if it is not of the form that this file writes.
        """
        try:
            self._note(event)
        except (KeyError, TypeError) as error:
            raise InputError(
                f"the journal holds an event of another form: {error!r}", "measure again"
            ) from error

    def sizes_of(self, curve: Curve) -> list[int] | None:
        """The sizes that were chosen for a curve, on all subjects or on its own; None for none."""
        places = (curve._replace(subject=EVERYBODY), curve, curve._replace(range=""))
        return next((self.sizes[place] for place in places if self.sizes.get(place)), None)

    def measured(
        self,
        subject: str,
        launch: int,
        point: Point,
        samples_s: Sequence[float],
        values: Mapping[str, float | None],
    ) -> None:
        """Take in that a launch has measured a point, with the values beside its samples."""
        self.done.add((subject, launch, point))
        if samples_s:
            flag_s = steady_flag_s(values.get("flag_before_s"), values.get("flag_after_s"))
            known = self.medians_s.setdefault((subject, point), {})
            known[launch] = (median(samples_s), flag_s)

    def moved(self, start: tuple[str, int, str], launch: dict[str, Any]) -> bool:
        """Whether a launch has its ranks on other hosts than the first of its start had."""
        here = [rank["host"] for rank in launch.get("placement", [])]
        return self.hosts.setdefault(start, here) != here

    def _note(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        if kind in (END, EXTENDED):
            self.ended = kind == END
        if kind == "host":
            self.dead[event["host"]] = event["reason"]
        if kind == "launch":
            asked = event.get("asked_placement", self.placement)
            self.moved((event["subject"], event.get("ranks", 0), asked), event)
        if kind == LIKE:
            axes = joined(event["algorithm"], event["axes"])
            curve_of = (event["pattern"], event["ranks"], event["placement"], axes)
            self.like[curve_of] = event["sizes"]
        if kind not in ("sizes", "point", "failed"):
            return
        subject, pattern, ranks = event["subject"], event["pattern"], event["ranks"]
        placement = event.get("placement", self.placement)
        if kind == "sizes":
            curve = Curve(subject, pattern, ranks, placement, event.get("range", ""))
            self.sizes[curve] = event["sizes"]
            return
        axes = joined(event.get("algorithm", NATIVE), event.get("axes", ""))
        point = Point(pattern, ranks, event["bytes"], placement, axes)
        if kind == "point":
            values = {one["name"]: one["value"] for one in event.get("values", [])}
            self.measured(subject, event["launch"], point, event.get("samples_s", []), values)
        else:
            self.impossible.add((subject, point))
