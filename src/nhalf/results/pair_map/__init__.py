"""Times between all pairs, and the nodes and links that are slower than others, in sentences."""

from collections.abc import Iterable, Sequence

import polars as pl

from nhalf.base.listing import few
from nhalf.base.numbers import UNKNOWN, WIDEST, fixed, format_number
from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.results import Column, FindPlaces, Result
from nhalf.results.pair_map.slow import MINIMAL_RATIO
from nhalf.results.pair_map.times import BANDWIDTH, LATENCY, PATTERNS, as_row, hosts_of, pair_maps

MEMBERS_MAX = 12
"""The number of columns that fit on a terminal."""


class PairMap(Result):
    """One row per library, ranks, placement, kind of map and size."""

    title = "Pair map"
    patterns = frozenset(PATTERNS)
    parts = patterns
    columns = (
        Column("map", "map"),
        Column("between", "between"),
        Column("middle_s", "median pair", format_time),
        Column("threshold", "slow from"),
        Column("named", "slow"),
    )

    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        """Compute the rows without places, so that only ranks can be named."""
        return self.placed(measurements, summary, dict)

    def placed(
        self, measurements: pl.LazyFrame, summary: pl.DataFrame, find_places: FindPlaces
    ) -> list[Row]:
        """One row per map, with the members from results/pair_map/times.py and its names."""
        return [
            _with_names(as_row(pair_map))
            for pair_map in pair_maps(measurements, hosts_of(find_places()))
        ]

    def sentences(self, row: Row) -> list[str]:
        """The slow members, or the statement that there are none."""
        threshold = row["threshold"]
        none = f"nothing is significantly slow (threshold {threshold})"
        sentences = row["sentences"] or ([row["equal"] or none] if threshold else [])
        return [f"{row['map']}: {sentence}" for sentence in sentences]

    def line(self, row: Row) -> str:
        """The median pair, and the number of slow members, which the findings name."""
        middle = self.columns[2].cell(row)
        verdict = row["missing"] or f"slow: {row['named'] if row['slow'] else 'none'}"
        return f"{self.title}, {row['map']}: median pair {middle}, {verdict}"

    def further(self, row: Row) -> tuple[list[str], list[list[str]]] | None:
        """The matrix, if there is room for it."""
        if len(row["members"]) > MEMBERS_MAX:
            return None
        cells = [
            [name, *(_cell(row, time_s) for time_s in line)]
            for name, line in zip(row["members"], row["times_s"], strict=True)
        ]
        return [f"{row['map']}: from, to", *row["members"]], cells


def _cell(row: Row, time_s: float | None) -> str:
    """A time or, for large messages, a rate."""
    if time_s is None:
        return ""
    is_time = row["pattern"] == LATENCY or not row["bytes"]
    return format_time(time_s) if is_time else format_rate(row["bytes"] / time_s)


def _with_names(row: Row) -> Row:
    threshold, words = row.get("threshold_ratio"), None
    if threshold is not None:  # beyond WIDEST the launches agree on nothing
        words = f"{threshold:.2f}x" if threshold < WIDEST else UNKNOWN
    return row | {
        "map": map_name(row),
        "between": f"{len(row['members'])} {row['level']}",
        "threshold": words,
        "named": str(len(row["slow"])) if words else None,
        "sentences": sentences(row),
        "equal": equal_text(row),
    }


LINKS_MIN = 3
"""With fewer links, their being equal is not worth reporting."""
PAIRS_LISTED = 6
"""The number of slow pairs that are listed, the slowest first."""


def map_name(row: Row) -> str:
    """'latency, 8 B', 'bandwidth, 256 KiB', 'all at once, 256 KiB'."""
    kinds = {LATENCY: "latency", BANDWIDTH: "bandwidth"}
    return f"{kinds.get(row['pattern'], 'all at once')}, {format_size(row['bytes'])}"


def sentences(row: Row) -> list[str]:
    """One for each slow node, one for all slow links, one for hosts that are slow internally."""
    slow = row["slow"]
    nodes = [suspect for suspect in slow if suspect["kind"] in ("sends", "receives", "node")]
    links = [suspect for suspect in slow if suspect["kind"] in ("way", "link")]
    internal = [suspect for suspect in slow if suspect["kind"] == "within"]
    lines = [_node(suspect, row) for suspect in nodes]
    if links:
        lines.append(_links(links, row))
    return lines + [
        f"messages within {suspect['members'][0]} take {_ratio(suspect, 'within others')}"
        for suspect in internal
    ]


def equal_text(row: Row) -> str:
    """'all 12 links … are equal within 4 %' if so; '' if it cannot be established."""
    ratio = row.get("equal_within_ratio")
    if row["slow"] or ratio is None or ratio > MINIMAL_RATIO:
        return ""
    links = sum(time_s is not None for line in row["times_s"] for time_s in line)
    links //= 1 if row["directed"] else 2
    if links < LINKS_MIN:
        return ""
    subject = "pairs of ranks" if row["level"] == "ranks" else "links between hosts"
    if row["directed"]:
        subject += " and directions"
    return f"all {links} {subject} are equal within {equal_percent(row)}"


def equal_percent(row: Row) -> str:
    """By how much unremarkable pairs differ, '4 %'; less than a thousandth is not distinguished."""
    return f"{format_number(max((row['equal_within_ratio'] - 1) * 100, 0.1), 2)} %"


def shares(links: Iterable[Row]) -> list[str]:
    """The members common to all of several slow links."""
    sets = [set(link["members"]) for link in links]
    return sorted(set.intersection(*sets)) if len(sets) > 1 else []


def sides(links: Sequence[Row], members: Sequence[str]) -> tuple[list[str], list[str]] | None:
    """Two groups of members: all links between them are slow, and none within them.

    The slow links share the route between the groups. Each group has two or more members.
    """
    slow_pairs = {frozenset(link["members"]) for link in links}
    first = [name for name in members if frozenset((members[0], name)) not in slow_pairs]
    second = [name for name in members if name not in first]
    if min(len(first), len(second)) < 2:
        return None
    between = {frozenset((near, far)) for near in first for far in second}
    return (first, second) if slow_pairs == between else None


def _ratio(suspect: Row, than: str) -> str:
    """'1.90x as long as that of others (interval 1.82 to 2.01)'."""
    low, high = (fixed(end, 2) for end in suspect["ratio_ci"])
    interval = "" if low == high else f" (interval {low} to {high})"
    return f"{fixed(suspect['ratio'], 2)}x as long as {than}{interval}"


def _node(suspect: Row, row: Row) -> str:
    """'n3's sends take 1.90x as long as those of others, to all 3 of them: suspect the node, …'."""
    name = suspect["members"][0]
    traffic = {"sends": "sends", "receives": "receives"}.get(suspect["kind"], "messages")
    relation = {"sends": "to", "receives": "from"}.get(suspect["kind"], "with")
    if suspect["kind"] == "node" and row["directed"]:
        relation = "both ways with"
    peer_count = len(row["members"]) - 1
    slow_count = suspect["peers"]
    peers = f"all {peer_count}" if slow_count == peer_count else f"{slow_count} of {peer_count}"
    noun = "node" if row["level"] == "hosts" else "rank"
    ratio = _ratio(suspect, "those of others")
    targets = peers if " of " in peers else f"{peers} of them"
    sentence = (
        f"{name}'s {traffic} take {ratio}, {relation} {targets}: suspect the {noun}, not a link"
    )
    if peer_count == 2 and suspect["kind"] == "node":
        fast_members = "-".join(member for member in row["members"] if member != name)
        sentence += f" (with three members, {fast_members} may instead be fast)"
    return sentence


def _links(links: Sequence[Row], row: Row) -> str:
    """All slow links, and what they share."""
    if len(row["members"]) == 2:
        source, target = links[0]["members"]
        return (
            f"from {source} to {target} a message takes {_ratio(links[0], 'back')}; "
            "with two members, a slow node cannot be distinguished from a slow link"
        )
    names = few([_listed(link) for link in links], PAIRS_LISTED)
    groups = sides(links, row["members"])
    if groups:
        first, second = (", ".join(group) for group in groups)
        return (
            f"{names} as long: all ways between ({first}) and ({second}), none within: their route"
        )
    if len(links) == 1:
        back = "" if links[0]["kind"] == "link" else ", not so back"
        name = names.rpartition(" ")[0]
        ratio = _ratio(links[0], "between others")
        return f"{name} takes {ratio}{back}; other pairs of both do not: link, not node"
    common = shares(links)
    if common:
        where = " and ".join(common)
        return f"{names} as long: all of them at {where}, whose other pairs are not slow"
    return f"{names} as long as the others: no member and no two groups explain them all"


def _listed(link: Row) -> str:
    """'n1 to n3 1.90x', or 'n1-n3 1.90x' of both ways."""
    ends = (" to " if link["kind"] == "way" else "-").join(link["members"])
    return f"{ends} {fixed(link['ratio'], 2)}x"
