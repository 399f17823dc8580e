"""Findings on pairs of ranks: slow ones, and what they take from each other."""

from collections.abc import Iterator

from nhalf.base.listing import listed
from nhalf.base.numbers import times
from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.facts import pairs as pair_facts
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, count, sentence, weight
from nhalf.results.pair_map import equal_percent

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
