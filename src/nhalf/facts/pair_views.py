"""The maps of all pairs as matrices, of hosts and of ranks, relative to the typical pair."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nhalf.base.rows import Row
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label
from nhalf.statistics.intervals import Floats

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class PairView:
    """One matrix of one map, rows send to columns: all arrays are (members, members).

    `names` are hosts or ranks (`level`), `times_s` the time of a message of `size_bytes`, NaN if
    unknown, `low_s` and `high_s` its range over launches; `within` marks pairs on one host,
    `times_ratio` is the time over that of the typical pair of its kind, `slow` marks significantly
    slower pairs.
    """

    series: str
    choice: str
    level: str
    size_bytes: int
    names: list[str]
    times_s: Floats
    low_s: Floats
    high_s: Floats
    within: Flags
    times_ratio: Floats
    slow: Flags
    slowest_ratio: float = 1.0
    is_judged: bool = True

    @cached_property
    def by_likeness(self) -> list[str]:
        """The names, ordered so that close members are adjacent."""
        return [self.names[place] for place in _by_likeness(self.times_s)]


@fact
def pair_views(facts: Facts) -> Iterator[PairView]:
    """The matrices of every map: of hosts, if there are several, then of ranks."""
    rows = facts.results.get("pair_map", [])
    for row in rows:
        series = _series(facts, row, rows)
        if row["level"] == "ranks":
            yield _of_members(row, series, "ranks", within=False)
            continue
        yield _of_members(row, series, "hosts", within=True)
        if row["ranks"] > len(row["members"]):
            yield _of_ranks(row, series)


def _choice(row: Row, level: str) -> str:
    """The name by which a reader selects a matrix."""
    return f"{row['map']}: {level}" + (" (not judged)" if row["missing"] else "")


def _series(facts: Facts, map_row: Row, rows: Sequence[Row]) -> str:
    library = library_label(facts, map_row["transport"], map_row["mpi"])
    parts = [library, f"{map_row['ranks']} ranks"]
    parts += [
        str(map_row[column])
        for column in ("placement", "run")
        if len({row[column] for row in rows}) > 1 and map_row[column]
    ]
    return ", ".join(parts)


def _of_members(row: Row, series: str, level: str, *, within: bool) -> PairView:
    """The matrix of a map's members; for hosts, pairs within each are on its diagonal."""
    times_s, names = _array(row["times_s"]), row["members"]
    inside: Flags = np.zeros(times_s.shape, dtype=bool)
    if within and row["within_s"] and any(time_s is not None for time_s in row["within_s"]):
        inside = np.eye(len(names), dtype=bool)
        times_s = np.where(inside, _array(row["within_s"]), times_s)
    return PairView(
        series=series,
        choice=_choice(row, level),
        level=row["level"],
        size_bytes=row["bytes"],
        names=names,
        times_s=times_s,
        low_s=_array(row["times_low_s"]),
        high_s=_array(row["times_high_s"]),
        within=inside,
        times_ratio=_ratios(times_s, inside, row.get("base_s")),
        slow=_slow(row, names),
        slowest_ratio=max((suspect["ratio"] for suspect in row["slow"]), default=1.0),
        is_judged=not row["missing"],
    )


def _of_ranks(row: Row, series: str) -> PairView:
    """The matrix of the ranks of a map of hosts."""
    times_s, hosts = _array(row["rank_times_s"]), np.array(row["hosts"])
    within: Flags = hosts[:, None] == hosts[None, :]
    unknown = np.full_like(times_s, np.nan)
    return PairView(
        series=series,
        choice=_choice(row, "ranks"),
        level=row["level"],
        size_bytes=row["bytes"],
        names=[f"{rank} · {host}" for rank, host in enumerate(row["hosts"])],
        times_s=times_s,
        low_s=unknown,
        high_s=unknown,
        within=within,
        times_ratio=_ratios(times_s, within, None),
        slow=np.zeros(times_s.shape, dtype=bool),
        is_judged=not row["missing"],
    )


def _array(values: Sequence[Any]) -> Floats:
    return np.array(values, dtype=np.float64)


def _ratios(times_s: Floats, within: Flags, base_s: float | None) -> Floats:
    """Times over the typical one: `base_s` between hosts, the median within; NaN if unknown."""
    ratios = np.full(times_s.shape, np.nan)
    for kind, usual_s in ((within, None), (~within, base_s)):
        is_measured = kind & np.isfinite(times_s)
        if is_measured.any():
            measured_s = times_s[is_measured]
            ratios[is_measured] = measured_s / (usual_s or np.median(measured_s))
    return ratios


def _slow(row: Row, names: Sequence[str]) -> Flags:
    """Cells of anything found slow; a node slow to all others is not marked within itself."""
    is_slow = np.zeros((len(names), len(names)), dtype=bool)
    place = {name: i for i, name in enumerate(names)}
    is_other = ~np.eye(len(names), dtype=bool)
    for slow in row["slow"]:
        first, second = place[slow["members"][0]], place[slow["members"][-1]]
        if slow["kind"] in ("sends", "node"):
            is_slow[first] |= is_other[first]
        if slow["kind"] in ("receives", "node"):
            is_slow[:, first] |= is_other[:, first]
        if slow["kind"] in ("way", "link", "within"):
            is_slow[first, second] = True
        if slow["kind"] == "link":
            is_slow[second, first] = True
    return is_slow


def _by_likeness(times_s: Floats) -> list[int]:
    """Members ordered so that close ones are adjacent: average linkage."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(times_s) < 3 or not np.isfinite(times_s).any():
        return list(range(len(times_s)))
    logs = np.log(times_s)
    logs = np.where(np.isfinite(logs), logs, np.nanmax(logs))
    apart = (logs + logs.T) / 2
    apart -= apart.min()
    np.fill_diagonal(apart, 0)
    tree = linkage(squareform(apart, checks=False), "average", optimal_ordering=True)
    return [int(place) for place in leaves_list(tree)]
