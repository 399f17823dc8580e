"""The state of a run: read from the journal, kept up to date while measuring."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, NamedTuple

from nhalf.base.errors import InputError
from nhalf.base.operations import NATIVE
from nhalf.measure.plan.axes import joined
from nhalf.measure.plan.plan import Point
from nhalf.sites.placement import CORES
from nhalf.statistics.advice import steady_flag_s

END, EXTENDED, LIKE = "end", "extended", "like"
"""Events: the end of a run; its extension; the sizes of a curve of an earlier run whose points are
measured again."""


class AdaptiveCurve(NamedTuple):
    """The curve that sizes are chosen for; `range` is the text that requested them."""

    subject: str
    pattern: str
    ranks: int
    placement: str
    range: str


Visit = tuple[int, float, float | None]
"""The number of a launch, its median at a point and the flag beside it, both in seconds
(statistics/advice.py)."""
CurveKey = tuple[str, int, str, str]
"""A curve of all subjects: pattern, ranks, placement and axes with the algorithm."""
EVERYBODY = ""
"""Stands for all subjects in a curve whose sizes all of them measure."""


@dataclass
class RunState:
    """The content of a journal: measured points by subject and launch, chosen sizes, failures.

    `visits` holds the median and the flag time of each visit of a launch to a point with samples.
    `placement` is that of events without one (version 1). `refused` maps starts (subject, ranks,
    placement) that this machine cannot provide, and `dead` hosts that were lost while measuring,
    to the reason; `hosts` are the hosts by rank in the first launch of each start, `cores` what
    each rank was bound to there. `ended` is set if the run reached its end and was not extended
    since. `like` are the sizes of an earlier run's curves (pattern, ranks, placement, axes), if
    only these are measured; `pursued` are the curves for which the run was extended last, if only
    these go on, by subject, with their sizes if not all do.
    """

    placement: str = CORES
    done: set[tuple[str, int, Point]] = field(default_factory=set)
    visits: dict[tuple[str, Point], list[Visit]] = field(default_factory=dict)
    sizes: dict[AdaptiveCurve, list[int]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    impossible: set[tuple[str, Point]] = field(default_factory=set)
    refused: dict[tuple[str, int, str], str] = field(default_factory=dict)
    dead: dict[str, str] = field(default_factory=dict)
    hosts: dict[tuple[str, int, str], list[str]] = field(default_factory=dict)
    cores: dict[tuple[str, int, str], list[list[int]]] = field(default_factory=dict)
    ended: bool = False
    like: dict[CurveKey, list[int]] = field(default_factory=dict)
    pursued: dict[tuple[str, CurveKey], list[int]] = field(default_factory=dict)

    def note(self, event: dict[str, Any]) -> None:
        """Apply one event of the journal.

        Raises InputError for an event of another form.
        """
        try:
            self._note(event)
        except (KeyError, TypeError) as error:
            raise InputError(
                f"the journal holds an event of another form: {error!r}", "measure again"
            ) from error

    def sizes_of(self, curve: AdaptiveCurve) -> list[int] | None:
        """Return the sizes chosen for a curve, for all subjects or its own; None without any."""
        places = (curve._replace(subject=EVERYBODY), curve, curve._replace(range=""))
        return next((self.sizes[place] for place in places if self.sizes.get(place)), None)

    def pursues(self, subject: str, point: Point) -> bool:
        """Whether a subject goes on with a point."""
        curve = (point.pattern, point.ranks, point.placement, point.axes)
        keys = [key for key in ((subject, curve), (EVERYBODY, curve)) if key in self.pursued]
        sizes = [self.pursued[key] for key in keys]
        return not self.pursued or any(not some or point.size_bytes in some for some in sizes)

    def measured(
        self,
        subject: str,
        launch: int,
        point: Point,
        samples_s: Sequence[float],
        values: Mapping[str, float | None],
    ) -> None:
        """Note that a launch has measured a point, with the values besides its samples."""
        self.done.add((subject, launch, point))
        if samples_s:
            flag_s = steady_flag_s(values)
            visits = self.visits.setdefault((subject, point), [])
            visits.append((launch, median(samples_s), flag_s))

    def moved(self, start: tuple[str, int, str], launch: dict[str, Any]) -> bool:
        """Whether a launch has its ranks on different hosts than the first launch of its start."""
        ranks = launch.get("placement", [])
        self.cores.setdefault(start, [rank.get("allowed_cpus", []) for rank in ranks])
        hosts = [rank["host"] for rank in ranks]
        return self.hosts.setdefault(start, hosts) != hosts

    def _note(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        if kind in (END, EXTENDED):
            self.ended = kind == END
        if kind == EXTENDED:
            self.pursued = {}
            for curve in event.get("curves", ()):
                subject = curve.get("subject", EVERYBODY)
                self.pursued[subject, _curve_key(curve)] = curve.get("sizes", [])
        if kind == "host":
            self.dead[event["host"]] = event["reason"]
        if kind == "launch":
            placement = event.get("asked_placement", self.placement)
            self.moved((event["subject"], event.get("ranks", 0), placement), event)
        if kind == LIKE:
            self.like[_curve_key(event)] = event["sizes"]
        if kind not in ("sizes", "point", "failed"):
            return
        subject, pattern, ranks = event["subject"], event["pattern"], event["ranks"]
        placement = event.get("placement", self.placement)
        if kind == "sizes":
            curve = AdaptiveCurve(subject, pattern, ranks, placement, event.get("range", ""))
            self.sizes[curve] = event["sizes"]
            return
        axes = joined(event.get("algorithm", NATIVE), event.get("axes", ""))
        point = Point(pattern, ranks, event["bytes"], placement, axes)
        if kind == "point":
            values = {value["name"]: value["value"] for value in event.get("values", [])}
            self.measured(subject, event["launch"], point, event.get("samples_s", []), values)
        else:
            self.impossible.add((subject, point))


def _curve_key(curve: Mapping[str, Any]) -> CurveKey:
    axes = joined(curve["algorithm"], curve["axes"])
    return curve["pattern"], curve["ranks"], curve["placement"], axes
