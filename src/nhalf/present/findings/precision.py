"""Findings on how sure the numbers are, and what disturbed them."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import polars as pl

from nhalf.base.carrier import carrier
from nhalf.base.listing import few
from nhalf.base.numbers import half_width_text, percent, share_span, times
from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.facts import precision
from nhalf.facts.facts import Facts
from nhalf.facts.machine_states import busy_launches, machine_states, taken_share
from nhalf.facts.series import MAIN_PATTERN, full_name
from nhalf.facts.tails import JUDGED, tail_overview
from nhalf.facts.wrong_data import HEADING, wrong_data
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import count, sentence, states_text
from nhalf.statistics.intervals import Interval
from nhalf.store.keys import RUN_SUBJECT

CURVES_MAX = 4


class WrongData(Finder[Facts]):
    """Data that did not arrive as sent."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        wrong = wrong_data(facts)
        if not wrong:
            return
        points = sum(len(curve.sizes_bytes) for curve in wrong)
        more = f"; and {len(wrong) - CURVES_MAX} more" if len(wrong) > CURVES_MAX else ""
        text = (
            f"{HEADING}: {'; '.join(map(str, wrong[:CURVES_MAX]))}{more}. What arrived was not "
            f"what was sent: {count(points, 'point')} without a time."
        )
        remedy = "Do not use this library for these operations."
        yield Finding(text, 100, "wrong-data", remedy, label="Wrong data", value=points)


FIRST = 99
"""What follows is of a busy machine; only wrong data comes before."""


class BusyMachine(Finder[Facts]):
    """Other processes left too few cores for the ranks."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        counts = busy_launches(facts)
        if counts is None:
            return
        cores = f"{counts.taken_cores:.1f} of {count(counts.allowed, 'core')}"
        number = "all" if counts.busy == counts.launches else f"{counts.busy} of {counts.launches}"
        text = (
            f"Other processes kept {cores} busy during {number} launches, so that ranks had to "
            "share cores: times are those of a busy machine, and show how libraries wait there."
        )
        remedy = "Measure again on an idle machine; nhalf doctor shows its load."
        kind, taken_cores = "busy-machine", counts.taken_cores
        yield Finding(text, FIRST, kind, remedy, taken_cores, label="Busy machine", figure=cores)


class TakenCores(Finder[Facts]):
    """Other processes used the ranks' cores at times, on a machine that is not busy throughout."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        share = taken_share(facts)
        if not share or busy_launches(facts) is not None:
            return
        text = (
            f"{percent(share)} of the measurements were disturbed by other processes on the ranks' "
            "cores; the state of the machine is unknown there."
        )
        remedy = "Keep the machine idle while it is measured; nhalf doctor shows its load."
        yield Finding(text, 36, "taken-cores", remedy, share=share)


class MachineStatesFinder(Finder[Facts]):
    """The states of the machine, if there were several."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for machine in machine_states(facts):
            importance = 37 + 2 * (1 - machine.states[0].share)
            remedy = "A longer --budget, or --resume RUN --budget, adds launches at other times."
            states = len(machine.states)
            yield Finding(states_text(machine), importance, "machine-states", remedy, states)


DOUBT_WEIGHTS = {
    "oversubscribed": 35,
    "unpinned": 34,
    "one-launch": 30,
    "bimodal": 28,
    "launch-apart": 27,
    "drift": 26,
}
"""Warnings about biased results weigh more than those about wide intervals."""
NAMES_MAX = 6
SAID_ELSEWHERE = {"unverified", "imprecise", "virtual"}
"""Warnings that have their own finding, or are said of the whole run."""


class Doubts(Finder[Facts]):
    """Each kind of warning that points carry, once, with the number of points."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        total = facts.summary.height
        for doubt in precision.point_warnings(facts):
            if doubt.name in SAID_ELSEWHERE:
                continue
            where = "" if doubt.everyone else f" ({few(doubt.series, NAMES_MAX)})"
            text = f"{sentence(doubt.meaning)}: {doubt.points} of {count(total, 'point')}{where}."
            importance = DOUBT_WEIGHTS.get(doubt.name, 22) + 4 * doubt.points / total
            remedy = f"{sentence(doubt.remedy)}." if doubt.remedy else ""
            yield Finding(text, importance, doubt.name, remedy, doubt.points)


NAMED_MAX = 3
MORE_LAUNCHES = (
    "Leave the machine to itself, or spread more launches over a longer time: "
    "nhalf run --resume RUN --budget 5m."
)
REMEDY = "Measure again: nhalf run --resume RUN --budget 1m."
FEW_LAUNCHES = 2
"""An interval over this few launches is wide even on a quiet machine."""


class PrecisionMissed(Finder[Facts]):
    """The precision that the machine allows, and points less precise than their neighbours."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        reached = precision.reach(facts)
        if reached is not None:
            yield _allowed(reached, precision.target(facts))
        worse = list(precision.worse_than_neighbours(facts).iter_rows(named=True))
        unusable = [row for row in worse if row["half_width"] >= precision.BLIND]
        wide = [row for row in worse if row["half_width"] < precision.BLIND]
        if unusable:
            yield _points(unusable, "unusable, with intervals wider than the times themselves")
        if len(wide) == 1:
            yield _point(wide[0])
        elif wide:
            yield _points(wide, "less precise than their neighbours")


def _point(row: Row) -> Finding:
    width = half_width_text(row["half_width"])
    text = (
        f"{_name(row)} is less precise than its neighbours: {format_time(row['median_s'])} "
        f"{width}, against {half_width_text(row['neighbours'])} beside it."
    )
    numbers = {"figure": width, "value": row["half_width"]}
    return Finding.of(row, text, 20, "precision-missed", remedy=REMEDY, **numbers)


def _points(rows: Sequence[Row], complaint: str) -> Finding:
    """Several points in a line, the worst first."""
    verb = "is" if len(rows) == 1 else "are"
    names = few([_name(row) for row in rows], NAMED_MAX)
    text = f"{count(len(rows), 'point')} {verb} {complaint}: {names}."
    return Finding.of(rows[0], text, 21, "precision-missed", remedy=REMEDY, value=len(rows))


def _name(row: Row) -> str:
    return f"{row['series']}, {full_name(row)} of {format_size(row['bytes'])}"


def _allowed(reached: precision.ReachedPrecision, target_share: float) -> Finding:
    """The precision that the machine's noise allows."""
    low, high = reached.launches
    launches = f"{low}" if low == high else f"{low} to {high}"
    usual, most = map(half_width_text, (reached.half_width_share, reached.most_share))
    bound = f" (95 % of points within {most})" if reached.most_share < precision.BLIND else ""
    text = (
        f"Half-width {usual} with {launches} launches{bound}; the target of "
        f"±{percent(target_share, None)} was not reached."
    )
    if reached.half_width_share >= precision.BLIND:
        why = "Too few launches" if high <= FEW_LAUNCHES else "Launches differ too much"
        text = (
            f"{why}: with {launches} launches, half of the intervals are wider than the times "
            "themselves, too wide to compare libraries."
        )
    importance = 25 if reached.half_width_share < precision.BLIND else 39
    share, kind = reached.half_width_share, "precision-allowed"
    return Finding(text, importance, kind, MORE_LAUNCHES, share, figure=usual)


BELOW_PRECISION = 24
"""Importance: right after the precision that was reached."""


class SpreadPartsFinder(Finder[Facts]):
    """Why launches differ, as far as a run can tell: what it is not, and what averages it out."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        parts = precision.spread_parts(facts)
        if precision.reach(facts) is None or not parts:
            return
        widest = parts[0]
        title = facts.titles.get(widest.mpi, widest.mpi)
        visits = f"{title}: visits" if title else "Visits"
        text = (
            f"{visits} of one launch differ by {percent(widest.visit_share)}, launches by "
            f"another {percent(widest.launch_share)}: {_why(widest)}."
        )
        kind, label, share = "launches-differ", "Spread of launches", widest.launch_share
        yield Finding.of(widest, text, BELOW_PRECISION, kind, label, share=share)


CORES_MINOR = 0.5
"""What explains a smaller part of the variance is not the reason."""


def _cores(parts: precision.SpreadParts) -> str:
    """Whether it is the cores, as far as that is known."""
    low, high = parts.cores_share or (0.0, 1.0)
    if parts.same_cores:
        return "it is not the cores, which were the same in all launches; "
    if low > 0:
        part = share_span(low, high)
        return f"launches on different cores differ by more: {part} of the variance is theirs; "
    if high < CORES_MINOR:
        most = percent(high)
        return f"it is not the cores, which were drawn anew: at most {most} of the variance; "
    return "launches had different cores; " if parts.same_cores is False else ""


def _why(parts: precision.SpreadParts) -> str:
    """What it is not, as far as that is known, and what averages it out."""
    cores = _cores(parts)
    if parts.launch_share > parts.visit_share and parts.common_share is not None:
        return (
            f"{cores}libraries side by side were slow in the same launches (correlation "
            f"{parts.common_share:.1f}), so the machine changes slowly, and only launches over a "
            "longer time average that out"
        )
    if parts.launch_share > parts.visit_share:
        return (
            f"{cores}times stay for a launch, by what its start draws (as memory pages) or by slow "
            "changes of the machine, and only more launches average that out"
        )
    return f"{cores}times differ as much within a launch, and more visits average that out, too"


SHARE_LEAST = 0.001
"""What others take is reported from this share of the time on."""
MESSAGE_BYTES = 1 << 20


class Interruptions(Finder[Facts]):
    """How long and how often rank 0 is interrupted, and by how much that lengthens a message."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        rows = facts.results.get("interruptions", [])
        for subject, spectrum in groupby(rows, key=lambda row: [row[name] for name in RUN_SUBJECT]):
            lengths = list(spectrum)
            intervals = [row["share_ci"] for row in lengths if "share_ci" in row]
            low, high = (
                (sum(ends) for ends in zip(*intervals, strict=True)) if intervals else (0.0, 0.0)
            )
            if low >= SHARE_LEAST:
                share = Interval(sum(row["share"] for row in lengths), low, high)
                most = max(lengths, key=lambda row: float(row["share"]))
                place = dict(zip(RUN_SUBJECT, subject, strict=True))
                yield _interruption(facts, place, most, share)


def _interruption(facts: Facts, place: Row, most: Row, share: Interval) -> Finding:
    where = carrier(place["mpi"], place["transport"])
    text = (
        f"{where}, {place['ranks']} ranks: others take rank 0's processor for "
        f"{percent(share.median, 1)} of the time, most of it {format_time(most['length_s'])} long"
        f" every {format_time(most['apart_s'])}{_longer_message(facts, place, most, share)}."
    )
    return Finding(
        text, 35, "interruptions", label="Interruptions", interval=share, mpi=place["mpi"]
    )


def _longer_message(facts: Facts, place: Row, most: Row, share: Interval) -> str:
    """What that costs the longest message up to MESSAGE_BYTES; '' if none was measured."""
    sent = facts.summary.filter(
        *(pl.col(name) == place[name] for name in ("run", "transport", "mpi")),
        (pl.col("pattern") == MAIN_PATTERN) & (pl.col("axes") == "") & (pl.col("median_s") > 0),
        pl.col("bytes") <= MESSAGE_BYTES,
    ).sort("bytes")
    if sent.is_empty() or share.high >= 1:
        return ""
    message = sent.row(-1, named=True)
    meets = min(message["median_s"] / most["apart_s"], 1.0)
    longer = percent(share.median / (1 - share.median), 1)
    return (
        f"; a message of {format_size(message['bytes'])} meets one in {percent(meets, 1)} of all "
        f"cases, and takes {longer} longer on average if a processor moves its bytes"
    )


LONG_TAIL = 3.0
"""A tail is worth a sentence where one sample in a hundred takes this many times the median."""


class LongTail(Finder[Facts]):
    """The longest tail of all curves, if it is certain."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for row in tail_overview(facts):
            (judged,) = (item for item in row["quantiles"] if item["q"] == JUDGED)
            if not judged["low_s"] >= LONG_TAIL * row["median_s"]:
                continue
            low, high = judged["low_s"] / row["median_s"], judged["high_s"] / row["median_s"]
            ratio = Interval(row["of_median"], low, high)
            text = (
                f"{row['series']}: one sample in a hundred of {full_name(row)} at "
                f"{format_size(row['bytes'])} takes {format_time(judged['time_s'])} or more, "
                f"{times(ratio.median)} the median."
            )
            numbers = {"interval": ratio, "figure": times(ratio.median)}
            remedy = "nhalf run noise tells what interrupts the cores."
            kind, label = "long-tail", "Long tail"
            yield Finding.of(row, text, (30, 39), kind, label, remedy=remedy, **numbers)
            return
