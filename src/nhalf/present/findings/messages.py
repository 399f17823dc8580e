"""Findings on single messages: who is fastest, and where their time goes."""

from collections.abc import Iterator
from typing import Any

from nhalf.base.listing import few
from nhalf.base.numbers import percent, share_span, times
from nhalf.base.units import format_size, format_time
from nhalf.facts.contests import Contest, Exemption, LayerTime, Lead, contests, leads, own_parts
from nhalf.facts.facts import Facts
from nhalf.facts.sending import PINGPING, both_ways
from nhalf.facts.series import MAIN_PATTERN, logp_rows
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, ends, sentence, size_range, weight
from nhalf.statistics.intervals import Interval

EXCEPTIONS_MAX = 3
"""The number of exceptions that are described; the rest are counted."""
PATTERNS_MAX = 4


class FastestLibrary(Finder[Facts]):
    """The fastest library for small, medium and large messages, and the exceptions."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for lead in leads(facts):
            standing, titles = lead.standing, lead.contest.titles
            average = "On average there, " if len(lead.sizes) > 1 else ""
            words = ", ".join(
                f"{titles[mpi]} {'' if number else 'takes '}{times(interval.median)}"
                + (f" ({ends(interval)})" if number else f" as long ({between(interval)})")
                for number, (mpi, interval) in enumerate(standing.behind)
            )
            level = standing.level if lead.depends_on_size else lead.alike
            leaders = " or ".join(titles[mpi] for mpi in (standing.best, *level))
            worst = standing.behind[-1][1]
            place = f"{_where(lead)}{size_range(lead.sizes[0], lead.sizes[-1])}{_doubt(lead)}"
            yield Finding(
                f"{leaders} is fastest for {lead.size_class} messages ({place}). {average}{words}."
                f"{_cliffs(lead)}{_evidence(lead)}",
                importance=weight(worst.median, 50, 75),
                kind=f"fastest-{lead.size_class}",
                label=f"{sentence(lead.size_class)} messages",
                interval=worst,
                mpi=standing.best,
                pattern=lead.pattern,
            )


def _doubt(lead: Lead) -> str:
    """Why several libraries are named."""
    if lead.depends_on_size:
        return "; which one depends on the size"
    return "; too close to tell apart" if lead.alike else ""


def _cliffs(lead: Lead) -> str:
    """Name libraries that are as fast at most sizes, and the sizes at which they are not."""
    text = ""
    for mpi in () if lead.depends_on_size else lead.standing.level:
        for worst in lead.cliffs(mpi)[:1]:
            text += (
                f" {lead.contest.titles[mpi]} is as fast at most sizes, but takes "
                f"{times(worst.ratio.median)} as long at "
                f"{size_range(worst.first_bytes, worst.last_bytes)}."
            )
    return text


def _where(lead: Lead) -> str:
    """The pattern of the verdict, if it is not obvious or others were measured as well."""
    alone = lead.pattern == MAIN_PATTERN and not lead.agreeing and not lead.exceptions
    return "" if alone else f"{lead.pattern}, "


def _evidence(lead: Lead) -> str:
    """Evidence from further patterns and sizes, contradictions first."""
    text = ""
    if lead.exceptions:
        described = [_exception(exemption, lead) for exemption in lead.exceptions[:EXCEPTIONS_MAX]]
        more = len(lead.exceptions) - len(described)
        text += f" Except: {'; '.join(described)}" + (f"; and {more} more." if more else ".")
    if lead.agreeing:
        text += f" Also fastest in {few(lead.agreeing, PATTERNS_MAX)}."
    return text


def _exception(exemption: Exemption, lead: Lead) -> str:
    """'in stream, 256 B to 1 KiB, MPICH is 1.8x as fast (interval 1.6 to 2.0)'."""
    than = "" if len(lead.contest.titles) == 2 else f" as {lead.contest.titles[lead.standing.best]}"
    return (
        f"in {exemption.pattern}, {size_range(exemption.first_bytes, exemption.last_bytes)}, "
        f"{exemption.faster} is {times(exemption.ratio.median)} as fast{than} "
        f"({between(exemption.ratio)})"
    )


class SmallestMessage(Finder[Facts]):
    """The fastest against the slowest library at the smallest size measured."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for contest in contests(facts):
            sizes = contest.sizes()[:1]
            if sizes:
                yield from _findings(facts, contest, sizes[0])


def _findings(facts: Facts, contest: Contest, size: int) -> Iterator[Finding]:
    fast, *_, slow = contest.ranking([size])
    interval = contest.behind(slow, fast, [size])
    if interval is None:
        return
    titles = contest.titles
    text = (
        f"{titles[slow]} needs {format_time(contest.time_s(slow, size))} for the smallest message "
        f"({format_size(size)}) where {titles[fast]} needs "
        f"{format_time(contest.time_s(fast, size))}: {times(interval.median)}, "
        f"{between(interval)}."
    )
    about = {"interval": interval, "mpi": slow, "size_bytes": size}
    about["remedy"] = _remedy(facts, contest, fast)
    yield Finding.of(None, text, (70, 90), "smallest-message", "Smallest message", **about)


def _remedy(facts: Facts, contest: Contest, fast: str) -> str:
    """The consequence for programs, if all patterns agree about small messages."""
    for lead in leads(facts):
        if lead.size_class != "small" or lead.contest.setting != contest.setting:
            continue
        if lead.standing.best != fast or lead.exceptions:
            return ""
        activity = "send many small messages" if lead.agreeing else "wait for small messages"
        return f"Programs that {activity} run faster on {contest.titles[fast]} here."
    return ""


HALF = 1.8
"""From this ratio on, both directions together move hardly more than one alone."""


class BothWaysFinder(Finder[Facts]):
    """Whether ping-ping has half the rate of ping-pong: contention between the two directions."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for directions in both_ways(facts):
            ratio, series = directions.ratio, directions.series
            sizes = size_range(directions.first_bytes, directions.last_bytes)
            messages = f"{directions.size_class} messages ({sizes})"
            rate = percent(1 / ratio.median)
            if directions.shared:
                part = "the same resource" if ratio.low > HALF else "part of a resource"
                text = (
                    f"{series}: a message in the opposite direction makes {messages} take "
                    f"{times(ratio.median)} as long ({between(ratio)}). Ping-ping moves {rate} of "
                    f"what ping-pong does in each direction: the two directions share {part}."
                )
            else:
                text = (
                    f"{series}: the two directions do not disturb each other. For {messages} "
                    f"ping-ping moves {rate} of what ping-pong does in each direction (interval "
                    f"{share_span(1 / ratio.high, 1 / ratio.low)})."
                )
            importance, label = weight(max(ratio.low, 1.0), 42, 60), "Both ways at once"
            about = {"figure": rate, "pattern": PINGPING, "size_bytes": directions.last_bytes}
            yield Finding.of(directions, text, importance, "both-ways", label, **about)


class Layers(Finder[Facts]):
    """Breakdown of a message's time: the layer below, and what a library adds to it."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for about, parts in own_parts(facts):
            first, last = parts[0], parts[-1]
            more = f" {_sentence(last)}" if last.size_bytes > first.size_bytes else ""
            text = f"{about['label']}: {_sentence(first)}{more}"
            importance = weight(1 / (1 - first.own.median), 46, 58)
            numbers = {"figure": percent(first.own.median), "interval": first.own}
            subject = {"mpi": str(about["mpi"]), "pattern": MAIN_PATTERN}
            label = "Where the time goes"
            yield Finding.of(first, text, importance, "layers", label, **numbers, **subject)


def _sentence(part: LayerTime) -> str:
    """'of the 470 ns of a message of 8 B, shm alone takes 240 ns; 49 % (45 % to 53 %) are ...'."""
    own = part.own
    return (
        f"of the {format_time(part.library_s)} of a message of {format_size(part.size_bytes)}, "
        f"{part.layer} alone takes {format_time(part.layer_s)}; {percent(own.median)} "
        f"(interval {percent(own.low)} to {percent(own.high)}) is the library's own."
    )


BUSY = 0.5
"""Reported if processors are busy for more than this share of a message's time."""


class Logp(Finder[Facts]):
    """The processors' share of a message's time, and whether the rest is identifiable."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        rows = logp_rows(facts)
        unknown = [row for row in rows if row["identifiable"] is False]
        if unknown:
            yield _unknown(unknown)
        for row in rows:
            share = row.get("busy_share_ci")
            if row["identifiable"] and share is not None and share[0] > BUSY:
                yield _busy(row)


def _busy(row: dict[str, Any]) -> Finding:
    share, (low, high) = row["busy_share"], row["busy_share_ci"]
    send, receive, half = (
        format_time(row[name])
        for name in ("send_overhead_s", "recv_overhead_s", "half_round_trip_s")
    )
    text = (
        f"{row['series']} keeps processors busy for {percent(share)} of the time that a small "
        f"message takes (interval {percent(low)} to {percent(high)}): {send} to send and {receive} "
        f"to receive it, of {half}. Computing meanwhile hides at most the rest."
    )
    importance = 42 + 10 * min(1.0, share)
    remedy = "Fewer, larger messages cost the processors less."
    numbers = {"interval": Interval(share, low, high), "figure": percent(share), "size_bytes": 1}
    about = {"mpi": row["mpi"], "pattern": "overhead-send", "remedy": remedy}
    kind, label = "processors-busy", "Busy processors"
    return Finding.of(None, text, importance, kind, label, **numbers, **about)


def _unknown(rows: list[dict[str, Any]]) -> Finding:
    """Libraries whose latency is not identifiable, in one finding; the panel has the reasons."""
    sums = ", ".join(
        f"{row['series']} {format_time(row['half_round_trip_s'])} "
        f"({' to '.join(map(format_time, row['half_round_trip_s_ci']))})"
        for row in rows
    )
    first = rows[0]
    text = (
        "The latency L of LogP, without the work of the processors, cannot be distinguished "
        f"from 0; use half a round trip, the sum L + o_s + o_r, instead: {sums}."
    )
    about = {"mpi": first["mpi"], "pattern": "roundtrip", "size_bytes": 0}
    figure = format_time(first["half_round_trip_s"])
    return Finding.of(None, text, 32, "latency-unknown", "LogP", figure=figure, **about)
