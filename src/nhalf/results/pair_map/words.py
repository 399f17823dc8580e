# SPDX-License-Identifier: Apache-2.0
"""A map of pairs in sentences: slow members, how slow they are, and the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nhalf.base.rows import Row
from nhalf.base.units import format_size
from nhalf.results.pair_map.slow import MINIMAL_RATIO
from nhalf.results.pair_map.times import BANDWIDTH, LATENCY

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
    nodes = [one for one in slow if one["kind"] in ("sends", "receives", "node")]
    links = [one for one in slow if one["kind"] in ("way", "link")]
    within = [one for one in slow if one["kind"] == "within"]
    said = [_node(one, row) for one in nodes]
    if links:
        said.append(_links(links, row))
    return said + [_within(one) for one in within]


def equal_text(row: Row) -> str:
    """'all 12 links … are equal within 4 %' if so; '' if it cannot be established."""
    ratio = row.get("equal_within_ratio")
    if row["slow"] or ratio is None or ratio > MINIMAL_RATIO:
        return ""
    links = sum(time_s is not None for line in row["times_s"] for time_s in line)
    links //= 1 if row["directed"] else 2
    if links < LINKS_MIN:
        return ""
    what = "pairs of ranks" if row["level"] == "ranks" else "links between hosts"
    if row["directed"]:
        what += " and directions"
    return f"all {links} {what} are equal within {equal_percent(row)}"


def equal_percent(row: Row) -> str:
    """By how much unremarkable pairs differ, '4 %'; less than a thousandth is not distinguished."""
    return f"{max((row['equal_within_ratio'] - 1) * 100, 0.1):.2g} %"


def shares(links: Iterable[Row]) -> list[str]:
    """The members common to all of several slow links."""
    sets = [set(one["members"]) for one in links]
    return sorted(set.intersection(*sets)) if len(sets) > 1 else []


def sides(links: Sequence[Row], members: Sequence[str]) -> tuple[list[str], list[str]] | None:
    """Two groups of members: all links between them are slow, and none within them.

    The slow links share the route between the groups. Each group has two or more members.
    """
    slow = {frozenset(one["members"]) for one in links}
    first = [one for one in members if frozenset((members[0], one)) not in slow]
    second = [one for one in members if one not in first]
    if min(len(first), len(second)) < 2:
        return None
    between = {frozenset((one, other)) for one in first for other in second}
    return (first, second) if slow == between else None


def _ratio(one: Row, than: str) -> str:
    """'1.90x as long as that of others (interval 1.82 to 2.01)'."""
    low, high = (f"{end:.2f}" for end in one["ratio_ci"])
    interval = "" if low == high else f" (interval {low} to {high})"
    return f"{one['ratio']:.2f}x as long as {than}{interval}"


def _node(one: Row, row: Row) -> str:
    """'n3's sends take 1.90x as long as those of others, to all 3 of them: suspect the node, …'."""
    name = one["members"][0]
    what = {"sends": "sends", "receives": "receives"}.get(one["kind"], "messages")
    how = {"sends": "to", "receives": "from"}.get(one["kind"], "with")
    if one["kind"] == "node" and row["directed"]:
        how = "both ways with"
    others = len(row["members"]) - 1
    peers = f"all {others}" if one["peers"] == others else f"{one['peers']} of {others}"
    noun = "node" if row["level"] == "hosts" else "rank"
    ratio = _ratio(one, "those of others")
    said = f"{name}'s {what} take {ratio}, {how} {peers} of them: suspect the {noun}, not a link"
    said = said.replace(f"{peers} of them", peers) if " of " in peers else said
    if others == 2 and one["kind"] == "node":
        rest = "-".join(other for other in row["members"] if other != name)
        said += f" (with three members, {rest} may instead be fast)"
    return said


def _links(links: Sequence[Row], row: Row) -> str:
    """All slow links, and what they share."""
    if len(row["members"]) == 2:
        one, other = links[0]["members"]
        return (
            f"from {one} to {other} a message takes {_ratio(links[0], 'back')}; with two members, "
            "a slow node cannot be distinguished from a slow link"
        )
    listed = [
        f"{(' to ' if one['kind'] == 'way' else '-').join(one['members'])} {one['ratio']:.2f}x"
        for one in links[:PAIRS_LISTED]
    ]
    more = len(links) - PAIRS_LISTED
    names = ", ".join(listed) + (f" and {more} more" if more > 0 else "")
    groups = sides(links, row["members"])
    if groups:
        one, other = (", ".join(group) for group in groups)
        return f"{names} as long: all ways between ({one}) and ({other}), none within: their route"
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


def _within(one: Row) -> str:
    return f"messages within {one['members'][0]} take {_ratio(one, 'within others')}"
