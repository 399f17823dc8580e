"""Times between all pairs of ranks and of hosts, from the patterns `pair-map-…`.

Each pair's own time in each launch gives a matrix of ranks; with several hosts, the median over the
ranks of two hosts gives a matrix of hosts. Pairs on one host and pairs of different hosts are never
judged together: the matrix of hosts holds the latter, and times within hosts are compared host by
host. On a single host, ranks are judged instead. results/pair_map/slow.py finds the slow ones.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from nhalf.base.carrier import carrier
from nhalf.base.rows import Row
from nhalf.results.pair_map.slow import PairMapJudgement, judge, judge_alone
from nhalf.statistics.intervals import Floats
from nhalf.store.keys import RUN_SUBJECT

LATENCY, BANDWIDTH, TOGETHER = "pair-map-latency", "pair-map-bandwidth", "pair-map-together"
PATTERNS = (LATENCY, BANDWIDTH, TOGETHER)
MAP = (*RUN_SUBJECT, "pattern", "bytes")
"""The subject of a map."""
_FIRST = "peer_of_"
TOO_FEW = "slow members can be identified only with two or more launches"

Hosts = Mapping[tuple[str, str, int, str], Sequence[str]]
"""The host of each rank, by run and by library or transport, ranks and placement."""


@dataclass(frozen=True)
class PairTimes:
    """Seconds per message from row to column, shape (launches, ranks, ranks); NaN: no pair.

    `hosts` by rank, empty if unknown; `crowded` if ranks shared cores, so that times reflect the
    ranks and not nodes and links; `shared` if hosts share the cores of one machine: rates of links
    are then still valid, but times of small messages reflect the machine's scheduler.
    """

    key: Row
    times_s: Floats
    hosts: tuple[str, ...] = ()
    crowded: bool = False
    shared: bool = False

    @property
    def directed(self) -> bool:
        """Whether the two directions differ: half a round trip has no direction."""
        return bool(self.key["pattern"] != LATENCY)

    @property
    def by_host(self) -> bool:
        """Whether hosts rather than ranks are judged."""
        return len(set(self.hosts)) > 1

    @cached_property
    def members(self) -> list[str]:
        """Hosts in the order of their names, or ranks."""
        if self.by_host:
            return sorted(set(self.hosts), key=natural)
        return [f"rank {rank}" for rank in range(self.times_s.shape[1])]

    @cached_property
    def between_s(self) -> Floats:
        """Seconds between different members, shape (launches, members, members)."""
        return self._medians_s[0]

    @cached_property
    def within_s(self) -> Floats:
        """Seconds within each host, shape (launches, hosts); NaN for hosts with one rank."""
        return self._medians_s[1]

    @cached_property
    def _medians_s(self) -> tuple[Floats, Floats]:
        launches = len(self.times_s)
        if not self.by_host:
            return self.times_s, np.full((launches, 0), np.nan)
        ranks = [np.flatnonzero(np.array(self.hosts) == name) for name in self.members]
        count = len(ranks)
        blocks = np.full((launches, count, count), np.nan)
        for i, rows in enumerate(ranks):
            for j, columns in enumerate(ranks):
                block = self.times_s[:, rows[:, None], columns].reshape(launches, -1)
                has_times = np.isfinite(block).any(axis=1)
                blocks[has_times, i, j] = np.nanmedian(block[has_times], axis=1)
        within = blocks[:, range(count), range(count)].copy()
        blocks[:, range(count), range(count)] = np.nan
        return blocks, within

    @property
    def why_not_judged(self) -> str:
        """Why no member can be called slow whatever the times, '' if one can."""
        if self.shared and self.key["pattern"] == LATENCY:
            return "hosts that share the cores of one machine are not judged by small messages"
        if not self.by_host and len(self.members) == 2:
            return "two ranks of a host are a single pair, with no other to compare it with"
        return ""

    @cached_property
    def judgement(self) -> PairMapJudgement | None:
        """Slow members and links; None if they cannot be determined."""
        return None if self.why_not_judged else judge(self.between_s, directed=self.directed)

    @cached_property
    def within(self) -> PairMapJudgement | None:
        """Hosts that are slow internally."""
        return judge_alone(self.within_s) if self.within_s.shape[1] > 1 else None


def natural(name: str) -> list[tuple[int, str]]:
    """Sorts node2 before node10."""
    parts = re.findall(r"\d+|\D+", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def pair_maps(measurements: pl.LazyFrame, hosts: Hosts) -> list[PairTimes]:
    """Every measured map, in the order of its key."""
    points = (
        measurements.filter(pl.col("pattern").is_in(PATTERNS), "verified")
        # Names come from the hosts of the first launch.
        .filter(~pl.col("advice").list.contains("moved"))
        .select(*MAP, "launch", "rank_s", "values", "advice")
        .sort(*MAP, "launch")
        .collect()
    )
    maps = []
    for values, frame in points.group_by(MAP, maintain_order=True):
        key = dict(zip(MAP, values, strict=True))
        times_s = _times_s(frame, key)
        if not np.isfinite(times_s).any():
            continue
        start = (key["run"], carrier(key["mpi"], key["transport"]), key["ranks"], key["placement"])
        names = tuple(hosts.get(start, ()))
        crowded = bool(frame["advice"].list.contains("oversubscribed").any())
        hosts_by_rank = names if len(names) == key["ranks"] else ()
        shared = bool(frame["advice"].list.contains("shared-cores").any())
        maps.append(PairTimes(key, times_s, hosts_by_rank, crowded, shared))
    return maps


def _times_s(points: pl.DataFrame, key: Row) -> Floats:
    """The matrices of all launches of one map; repeated points give their median."""
    launches = points["launch"].unique().sort().to_list()
    times_s = np.full((len(launches), key["ranks"], key["ranks"]), np.nan)
    for place, launch in enumerate(launches):
        samples_s: dict[tuple[int, int], list[float]] = defaultdict(list)
        for row in points.filter(launch=launch).iter_rows(named=True):
            for pair, time_s in _pairs(row):
                if max(pair) < key["ranks"] and time_s > 0:
                    samples_s[pair].append(time_s)
        for (first, second), pair_samples_s in samples_s.items():
            times_s[place, first, second] = np.median(pair_samples_s)
            if key["pattern"] == LATENCY:
                times_s[place, second, first] = times_s[place, first, second]
    return times_s


def _pairs(row: Row) -> list[tuple[tuple[int, int], float]]:
    """Pairs (from, to) with their seconds, from one point."""
    timed_pairs = []
    for item in row["values"]:
        name, value = item["name"], item["value"]
        if ">" in name:
            first, _, second = name.partition(">")
            timed_pairs.append(((int(first), int(second)), value))
        elif name.startswith(_FIRST):
            rank = int(name.removeprefix(_FIRST))
            if rank < len(row["rank_s"]):
                timed_pairs.append(((rank, int(value)), row["rank_s"][rank]))
    return timed_pairs


def hosts_of(places: Mapping[str, Mapping[tuple[str, int, str], Sequence[Any]]]) -> Hosts:
    """Hosts by rank from each run's places (store/places.py)."""
    return {
        (run, subject, ranks, placement): [place.host for place in ranked]
        for run, starts in places.items()
        for (subject, ranks, placement), ranked in starts.items()
    }


def as_row(pair_map: PairTimes) -> Row:
    """A map for JSON; see docs/many-ranks.md for its members."""
    judgement, within = pair_map.judgement, pair_map.within
    middle_s = _over_launches(np.nanmedian, pair_map.between_s)
    row: Row = {
        **pair_map.key,
        "launches": len(pair_map.times_s),
        "level": "hosts" if pair_map.by_host else "ranks",
        "directed": pair_map.directed,
        "members": pair_map.members,
        "hosts": list(pair_map.hosts),
        "times_s": _listed(middle_s),
        "times_low_s": _listed(_over_launches(np.nanmin, pair_map.between_s)),
        "times_high_s": _listed(_over_launches(np.nanmax, pair_map.between_s)),
        "rank_times_s": _listed(_over_launches(np.nanmedian, pair_map.times_s)),
        "within_s": _listed(_over_launches(np.nanmedian, pair_map.within_s)),
        "middle_s": float(np.nanmedian(middle_s)) if np.isfinite(middle_s).any() else None,
        "missing": "" if judgement else pair_map.why_not_judged or TOO_FEW,
        "doubts": ["ranks share cores, which may be what is slow"] if pair_map.crowded else [],
    }
    if judgement:
        row |= {
            "base_s": judgement.base_s,
            "noise_relative": judgement.noise_relative,
            "threshold_ratio": judgement.threshold_ratio,
            "equal_within_ratio": judgement.largest_ratio,
        }
    row["slow"] = [*_named(pair_map, judgement), *_named(pair_map, within, "within")]
    return row


def _named(pair_map: PairTimes, judgement: PairMapJudgement | None, kind: str = "") -> list[Row]:
    return [
        {
            "kind": kind or suspect.kind,
            "members": [pair_map.members[member] for member in suspect.members],
            "ratio": suspect.ratio.median,
            "ratio_ci": [suspect.ratio.low, suspect.ratio.high],
            "peers": suspect.peers,
        }
        for suspect in (judgement.suspects if judgement else [])
    ]


def _over_launches(reduce: Any, values: Floats) -> Floats:
    """A reduction over the available launches; NaN without any."""
    reduced = np.full(values.shape[1:], np.nan)
    has_launches = np.isfinite(values).any(axis=0)
    if has_launches.any():
        reduced[has_launches] = reduce(values[:, has_launches], axis=0)
    return reduced


def _listed(values: Floats) -> list[Any]:
    """Nested lists with None for NaN."""
    objects = values.astype(object)
    objects[~np.isfinite(values)] = None
    nested: list[Any] = objects.tolist()
    return nested
