"""Findings on pairs of ranks, and on traffic between many of them at once."""

from collections.abc import Iterator

from nhalf.base.listing import listed
from nhalf.base.numbers import percent, share_span, span, times
from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.facts import pairs as pair_facts
from nhalf.facts import traffic
from nhalf.facts.difference import COSTLY
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label
from nhalf.facts.traffic import congested
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, count, sentence, weight
from nhalf.results.b_eff import PATTERN as B_EFF_PATTERN
from nhalf.results.pair_map import equal_percent
from nhalf.results.traffic import PATTERN as TRAFFIC_PATTERN
from nhalf.results.traffic import rule_name, setting_name
from nhalf.statistics.intervals import Interval


class Traffic(Finder[Facts]):
    """The destination rule with the lowest throughput against the one with the highest."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for rules in traffic.costly_rules(facts):
            row, ratio = rules.setting, rules.ratio
            name = library_label(facts, row["transport"], row["mpi"])
            text = (
                f"{name}, {row['ranks']} processes, {setting_name(row)} messages under full load: "
                f"with {_choice(rules.slow)}, each sender's throughput is {times(ratio.median)} "
                f"lower than with {_choice(rules.fast)} ({between(ratio)})."
            )
            about = {"interval": ratio, "pattern": TRAFFIC_PATTERN}
            yield Finding.of(row, text, (42, 66), "traffic-rule", "Traffic", **about)


def _choice(rule: Row) -> str:
    """Name the rule by which a sender chooses destinations: 'uniform choice', 'cube 4'."""
    return "uniform choice" if rule["to"] == "uniform" else rule_name(rule)


class DensePeak(Finder[Facts]):
    """Where dense traffic is fastest with messages smaller than the largest measured."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        by_setting: dict[tuple[str, int], list[traffic.Peak]] = {}
        for peak in sorted(traffic.peaks_below_largest(facts), key=lambda peak: -peak.ratio.median):
            by_setting.setdefault((peak.series, peak.ranks), []).append(peak)
        for peaks in by_setting.values():
            worst, *further = peaks
            ratio, rate = worst.ratio, worst.peak_Bps
            has_interval = ratio.low < ratio.high
            ends = f" (interval {span(rate.low, rate.high, format_rate)})" if has_interval else ""
            also = listed(
                [
                    f"{peak.pattern} ({format_size(peak.size_bytes)}, {times(peak.ratio.median)})"
                    for peak in further
                ]
            )
            text = (
                f"{worst.series}, {worst.ranks} ranks: {worst.pattern} is fastest with messages of "
                f"{format_size(worst.size_bytes)}: {format_rate(rate.median)} per process{ends}, "
                f"{times(ratio.median)} the {format_rate(worst.largest_Bps.median)} with "
                f"{format_size(worst.largest_bytes)}"
                + (f" ({between(ratio)})" if has_interval else "")
                + (f"; likewise {also}." if also else ".")
            )
            yield Finding.of(worst, text, (42, 68), "dense-peak", "Fastest below the largest size")


class SlowestPhaseFinder(Finder[Facts]):
    """How much the throughput of each process differs between phases of dense traffic."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        yield from map(_slowest_phase_finding, traffic.slowest_phases(facts))


def _slowest_phase_finding(slowest: traffic.SlowestPhase) -> Finding:
    ratio = slowest.ratio
    has_interval = ratio.low < ratio.high
    if slowest.pattern == "dense-cumulative":
        slow, fast = (
            f"with {count(phase, 'pair')} at once" for phase in (slowest.slow, slowest.fast)
        )
    else:
        slow, fast = (f"at distance {phase}" for phase in (slowest.slow, slowest.fast))
    text = (
        f"{slowest.series}, {slowest.ranks} ranks, {slowest.pattern} of "
        f"{format_size(slowest.size_bytes)}: each process that takes part sends "
        f"{format_rate(slowest.slow_Bps)} {slow} and {format_rate(slowest.fast_Bps)} {fast}, "
        f"{times(ratio.median)} as much" + (f" ({between(ratio)})." if has_interval else ".")
    )
    figure = times(ratio.median).replace("x", "×")
    return Finding.of(slowest, text, (42, 68), "slowest-phase", "Shared paths", figure=figure)


MORE = (
    "Continue the run (--resume), give it a larger --budget, or shorten the longest message: "
    "--bytes b_eff:1M."
)


class BEff(Finder[Facts]):
    """The cost of a random process order, and the reason if there is no effective bandwidth."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for row in facts.results.get("b_eff", []):
            name = library_label(facts, row["transport"], row["mpi"])
            who = f"{name} with {row['ranks']} processes"
            if row["missing"]:
                text = f"No effective bandwidth for {who}: {row['missing']}."
                yield Finding(
                    text, 32, "b-eff-incomplete", remedy=MORE, mpi=row["mpi"], pattern=B_EFF_PATTERN
                )
            elif row.get("subset"):
                yield _estimated(who, row)
            elif "random_ratio_ci" in row and row["random_ratio_ci"][1] < 1 / COSTLY:
                yield _scattered(who, row)


def _estimated(who: str, row: Row) -> Finding:
    figure = format_rate(row["b_eff_Bps"])
    text = (
        f"{who}: the effective bandwidth, {figure}, is an estimate from a part of its points: "
        f"{row['subset']}."
    )
    about = {"mpi": row["mpi"], "pattern": B_EFF_PATTERN, "label": "Effective bandwidth"}
    return Finding(text, 33, "b-eff-estimated", MORE, row["b_eff_Bps"], figure=figure, **about)


def _scattered(who: str, row: Row) -> Finding:
    share, (low, high) = row["random_ratio"], row["random_ratio_ci"]
    text = (
        f"{who}: when neighbours are spread at random, all processes together reach "
        f"{percent(share)} of the bandwidth of rings of neighbours (interval "
        f"{share_span(low, high)})."
    )
    remedy = "Number processes so that those that communicate are close to each other."
    numbers = {"interval": Interval(share, low, high), "figure": percent(share)}
    about = {"mpi": row["mpi"], "pattern": B_EFF_PATTERN, "remedy": remedy}
    kind, label = "random-neighbours", "Random neighbours"
    return Finding.of(None, text, (45, 70), kind, label, **numbers, **about)


class Congestion(Finder[Facts]):
    """How much longer an operation takes while other ranks load the network."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        certain = [point for point in congested(facts) if point.ratio.low > COSTLY]
        for point in sorted(certain, key=lambda point: -point.ratio.median):
            ratio, tail = point.ratio, point.tail_ratio
            interval = f" ({between(ratio)})" if ratio.low < ratio.high else ""
            slowest = "" if tail is None else f"; its slowest 1 % {times(tail.median)}"
            text = (
                f"{point.series}, {count(point.victims, 'rank')} of {point.ranks}: {point.of} of "
                f"{format_size(point.size_bytes)} takes {times(ratio.median)} as long"
                f"{interval} beside {point.load} of {format_size(point.load_bytes)} messages among "
                f"the others{slowest}."
            )
            yield Finding.of(point, text, (45, 72), "congestion", "Congestion")


SENTENCES_MAX = 5
"""The number of slow pairs of a map that are listed; its table has the rest."""
SLOW = (80.0, 98.0)
"""Weights: what is broken comes before what libraries are like, if they differ alike."""


class PairMap(Finder[Facts]):
    """Nodes and links that are slower than their peers, or the fact that all are equal."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for row in facts.results.get("pair_map", []):
            name = library_label(facts, row["transport"], row["mpi"])
            about = f"{name}, {row['ranks']} ranks, {row['map']}"
            if row["doubts"]:
                continue
            if row["sentences"]:
                yield from _slow(row, about)
            elif row["equal"]:
                text = f"{sentence(about)}: {row['equal']}."
                kind = "pairs-equal"
                label = "Equal links"
                value = row["equal_within_ratio"]
                yield Finding.of(row, text, 40, kind, label, figure=equal_percent(row), value=value)


def _slow(row: Row, about: str) -> Iterator[Finding]:
    """A finding for each sentence of a map, with the ratio of its subject."""
    nodes = [subject for subject in row["slow"] if subject["kind"] in ("sends", "receives", "node")]
    links = [subject for subject in row["slow"] if subject["kind"] in ("way", "link")]
    within = [subject for subject in row["slow"] if subject["kind"] == "within"]
    worst = [*nodes, *links[:1], *within]
    for text, subject in list(zip(row["sentences"], worst, strict=True))[:SENTENCES_MAX]:
        low, high = subject["ratio_ci"]
        yield Finding.of(
            row,
            f"{_suspect(row, subject)}{sentence(about)}: {text}.",
            weight(subject["ratio"], *SLOW),
            "slow-link" if subject["kind"] in ("way", "link") else "slow-node",
            "Slow link" if subject["kind"] in ("way", "link") else "Slow node",
            value=subject["ratio"],
            low=low,
            high=high,
        )


def _suspect(row: Row, subject: Row) -> str:
    """'Suspect node n3. ': who is slow, before the evidence; '' where two may be."""
    if subject["kind"] not in ("sends", "receives", "node"):
        return ""
    name = subject["members"][0]
    noun = "node" if row["level"] == "hosts" else "rank"
    return f"Suspect {name if name.startswith(noun) else f'{noun} {name}'}. "


class SlowestPair(Finder[Facts]):
    """The two ranks that are farthest apart."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for pair in pair_facts.slowest_pairs(facts):
            where = f" ({pair.relation})" if pair.relation else ""
            text = (
                f"{pair.series}: ranks {pair.ranks[0]} and {pair.ranks[1]}{where} are farthest "
                f"apart; a message of {format_size(pair.size_bytes)} takes "
                f"{times(pair.ratio.median)} as long between them as between the median pair "
                f"({between(pair.ratio)})."
            )
            yield Finding.of(pair, text, (41, 66), "slowest-pair", "Slowest pair")


class LoadOnset(Finder[Facts]):
    """From how many pairs at once on a short message takes longer than between one pair alone."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for series, mpi, onsets in pair_facts.load_onsets(facts):
            # One finding for all sizes; the smallest of those that suffer first gives its numbers.
            sizes_by_pairs: dict[int, list[str]] = {}
            for onset in sorted(onsets, key=lambda onset: onset.pairs):
                sizes_by_pairs.setdefault(onset.pairs, []).append(format_size(onset.size_bytes))
            (pairs, sizes), *later = sizes_by_pairs.items()
            further = "".join(
                f", and from {count(number, 'pair')} on those of {listed(names)},"
                for number, names in later
            )
            first = next(onset for onset in onsets if onset.pairs == pairs)
            more = " or more" if first.most > pairs else ""
            most = f", {times(first.at_most.median)} with {first.most}" if more else ""
            yield Finding.of(
                first,
                f"{series}: with {pairs}{more} pairs at once, messages of {listed(sizes)}{further} "
                f"take longer than between a single pair: {sizes[0]} with {pairs} pairs "
                f"{times(first.ratio.median)} the {format_time(first.alone.median)} of a single "
                f"pair ({between(first.ratio)}){most}.",
                weight(first.at_most.median, 41, 66),
                "load-onset",
                "Latency under load",
                figure=count(pairs, "pair"),
                mpi=mpi,
                pattern=pair_facts.LATENCY,
            )


class PairsAtOnce(Finder[Facts]):
    """How much longer a small message takes while all pairs of ranks communicate."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for costs in pair_facts.costly_loads(facts):
            worst, *further = costs
            ratio = worst.ratio
            also = ", ".join(f"{cost.series} {times(cost.ratio.median)}" for cost in further)
            text = (
                f"{worst.pairs} pairs at once: a message of {format_size(worst.size_bytes)} takes "
                f"{times(ratio.median)} the time of one pair alone on {worst.series} "
                f"({between(ratio)})" + (f"; {also}." if also else ".")
            )
            yield Finding.of(worst, text, (42, 68), "pairs-at-once", "Under load")
