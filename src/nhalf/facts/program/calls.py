"""Calls of MPI: the time in them, by call, place in the program, thread and communicator.

Calls of a family have one remedy: windows that are made and freed in a loop cost together, whatever
the single calls are named.
"""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

import polars as pl

from nhalf.base.rows import Row
from nhalf.facts.fact import fact
from nhalf.facts.program.operations import POLLS, operation
from nhalf.facts.program.program import Program
from nhalf.measure.traced.tables import SENT_AND_RECEIVED, summed_by_call


@fact
def threads_by_rank(program: Program) -> pl.DataFrame:
    """One row per rank: columns `rank` and `threads`, those that call MPI, at least one."""
    counted = program.calls.group_by("rank").agg(threads=pl.col("thread").n_unique())
    all_ranks = pl.DataFrame({"rank": range(program.ranks)}, schema={"rank": pl.Int32})
    threads = pl.col("threads").fill_null(1).cast(pl.Int64)
    return all_ranks.join(counted, on="rank", how="left").with_columns(threads).sort("rank")


@fact
def has_threads(program: Program) -> bool:
    """Whether some rank calls MPI from several threads."""
    return bool((threads_by_rank(program)["threads"] > 1).any())


@fact
def threads_time_s(program: Program) -> float:
    """The run time of all threads that call MPI together, seconds; 0 if it is unknown."""
    return program.elapsed_s * int(threads_by_rank(program)["threads"].sum())


def share_of_threads_time(program: Program, seconds: pl.Expr) -> pl.Expr:
    """Seconds of all threads as a share of their time, 0 to 1; null if that is unknown."""
    whole_s = threads_time_s(program)
    return (seconds / pl.lit(whole_s if whole_s > 0 else None, dtype=pl.Float64)).clip(0.0, 1.0)


_KEYS = ("site", "call", "size_bytes")
_SUMS = ("count", "time_s", "waiting_s")


@fact
def call_sites(program: Program) -> pl.DataFrame:
    """Calls by place, name and size, of all ranks together, the longest first.

    Columns `place` (see `place_of`), those of SITES without `site`, `call`, `size_bytes`, `ranks`
    that make the call, `count`, `time_s`, `waiting_s`, and `share` of their threads' time together;
    null if that is unknown. Empty for a trace without call sites.
    """
    sums = (
        _counted_once(program)
        .group_by(_KEYS)
        .agg(pl.col("rank").n_unique().alias("ranks"), pl.col(*_SUMS).sum())
    )
    at_places = sums.join(_places(program), on="site", how="inner").drop("site")
    columns = [*_places(program).drop("site").columns, "call", "size_bytes", "ranks", *_SUMS]
    return _with_share(program, at_places.select(columns)).sort(
        "time_s", "call", "size_bytes", "place", descending=[True, False, False, False]
    )


@fact
def _counted_once(program: Program) -> pl.DataFrame:
    """The calls at sites, where one that sends and receives counts once: its rows of both, if their
    sizes differ, have twice as many, and the time is in the received one.
    """
    kind = pl.col("kind") == SENT_AND_RECEIVED
    twice = summed_by_call(program.calls.lazy(), "rank").filter(kind).select("call").unique()
    is_twice = pl.col("call").is_in(twice.collect()["call"].to_list())
    keys = ["rank", "thread", "site", "call"]
    rows = program.call_sites.sort(
        [*keys, "time_s", "size_bytes"], descending=[False] * len(keys) + [True, False]
    )
    count = pl.col("count")
    calls = count.sum().over(keys) // 2
    counted = pl.min_horizontal(count, calls - (count.cum_sum().over(keys) - count)).clip(0)
    once = rows.with_columns(count=pl.when(is_twice).then(counted).otherwise(count))
    return once.filter((pl.col("count") > 0) | (pl.col("time_s") > 0))


@fact
def calls_by_place(program: Program) -> pl.DataFrame:
    """Calls by place and name, of all sizes and ranks together, the longest first.

    Columns `place` ('' for calls of which it is not known), `function`, `call`, `size_bytes` (of
    the size with the most time), `least_bytes`, `most_bytes`, `ranks` that make the call, `count`,
    `time_s`, `waiting_s`, and `share` as of `call_sites`.
    """
    columns = ["place", "function", "call", "size_bytes", "ranks", *_SUMS]
    by_size = [call_sites(program).select(columns), _elsewhere(program).select(columns)]
    size = pl.col("size_bytes")
    sums = (
        pl.concat(by_size)
        .group_by("place", "call", maintain_order=True)
        .agg(
            pl.col("function").first(),
            size.sort_by("time_s", descending=True).first(),
            size.min().alias("least_bytes"),
            size.max().alias("most_bytes"),
            pl.col("ranks").max(),
            pl.col(*_SUMS).sum(),
        )
    )
    order = ["time_s", "call", "place"]
    return _with_share(program, sums).sort(order, descending=[True, False, False])


@fact
def _elsewhere(program: Program) -> pl.DataFrame:
    """Calls by name and size, as far as it is not known from where: `place` and `function` are
    ''.
    """
    keys = ["call", "size_bytes"]
    once = summed_by_call(program.calls.lazy(), "rank", "size_bytes").collect()
    everywhere = once.group_by(keys).agg(
        pl.col("rank").n_unique().cast(pl.UInt32).alias("ranks"), pl.col(*_SUMS).sum()
    )
    at_places = call_sites(program).group_by(keys).agg(pl.col(*_SUMS).sum())
    counted = everywhere.join(at_places, on=keys, how="left", suffix="_placed")
    elsewhere = [
        (pl.col(name) - pl.col(f"{name}_placed").fill_null(0)).clip(0).alias(name) for name in _SUMS
    ]
    nowhere = [pl.lit("").alias(name) for name in ("place", "function")]
    return counted.select(*nowhere, *keys, "ranks", *elsewhere).filter(pl.col("count") > 0)


@fact
def _places(program: Program) -> pl.DataFrame:
    """The sites with the name that each is shown by."""
    rows = program.sites.iter_rows(named=True)
    names = pl.Series("place", [place_of(row) for row in rows], pl.String())
    return program.sites.with_columns(names).select("site", "place", pl.exclude("site", "place"))


def place_of(site: Row) -> str:
    """`solver.c:142`; without a line `solve in ./program`, without a name `program+0x1234`.

    Where Python called a compiled file, its line follows: `halo.c:88 (solver.py:142)`.
    """
    place = _place_in_file(site)
    if not site["python_file"]:
        return place
    return f"{place} ({PurePosixPath(site['python_file']).name}:{site['python_line']})"


def _place_in_file(site: Row) -> str:
    if site["file"] and site["line"]:
        return f"{PurePosixPath(site['file']).name}:{site['line']}"
    module = PurePosixPath(site["module"]).name
    if site["function"]:
        return f"{site['function']} in {module}"
    return f"{module or 'unknown'}+{site['offset']:#x}"


def _with_share(program: Program, rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(share=share_of_threads_time(program, pl.col("time_s")))


@fact
def most_expensive(program: Program) -> pl.DataFrame:
    """Calls at places by the time of all ranks, the longest first, with the columns of
    `calls_by_place`.
    """
    return calls_by_place(program).filter(pl.col("time_s") > 0)


@fact
def time_by_call(program: Program) -> pl.DataFrame:
    """One row per rank and call: columns `rank`, `call`, `kind`, `count`, `bytes`, `time_s`,
    `waiting_s`; by rank, the most time first. Each call counts once, also one that sends and
    receives, whose kind is SENT_AND_RECEIVED.
    """
    by_call = summed_by_call(program.calls.lazy(), "rank").collect()
    return by_call.sort(["rank", "time_s", "call"], descending=[False, True, False])


@fact
def time_by_rank(program: Program) -> pl.DataFrame:
    """One row per rank: columns `rank`, `time_s`, `waiting_s`, and their shares of `elapsed_s`.

    Of several threads of a rank, the one that spends most time in MPI counts. Shares are null if
    the elapsed time is unknown.
    """
    threads = program.calls.group_by("rank", "thread").agg(pl.col("time_s", "waiting_s").sum())
    busiest = threads.sort("time_s", "thread").group_by("rank").last().drop("thread")
    all_ranks = pl.DataFrame({"rank": range(program.ranks)}, schema={"rank": pl.Int32})
    full = all_ranks.join(busiest, on="rank", how="left").with_columns(
        pl.col("time_s", "waiting_s").fill_null(0.0)
    )
    elapsed_s = program.elapsed_s
    elapsed = pl.lit(elapsed_s if elapsed_s > 0 else None, dtype=pl.Float64)
    return full.with_columns(
        time_share=pl.col("time_s") / elapsed, waiting_share=pl.col("waiting_s") / elapsed
    ).sort("rank")


@fact
def collective_calls(program: Program) -> pl.DataFrame:
    """One row per call, communicator and size, the most expensive first.

    Columns `call`, `operation`, `communicator`, `size_bytes`, `ranks` that
    take part, `operations` (the most calls of any rank), `time_s` and `waiting_s` (mean over those
    ranks), `max_s` (the longest call), `bytes` given by all ranks.
    """
    per_rank = (
        program.calls.filter(pl.col("kind") == "collective")
        .group_by("call", "communicator", "size_bytes", "rank")
        .agg(pl.col("count", "bytes", "time_s", "waiting_s").sum(), pl.col("max_s").max())
    )
    sums = per_rank.group_by("call", "communicator", "size_bytes").agg(
        ranks=pl.len(),
        operations=pl.col("count").max(),
        time_s=pl.col("time_s").mean(),
        waiting_s=pl.col("waiting_s").mean(),
        max_s=pl.col("max_s").max(),
        bytes=pl.col("bytes").sum(),
    )
    name = pl.col("call").map_elements(operation, return_dtype=pl.String).alias("operation")
    return sums.with_columns(name).sort(
        ["time_s", "call", "communicator", "size_bytes"], descending=[True, False, False, False]
    )


WINDOWS, COMMUNICATORS, PERSISTENT, POLLING = "windows", "communicators", "requests", "polls"
EPOCHS, TYPES, FILES, PROCESSES = "epochs", "datatypes", "files", "processes"
OTHER = "messages and operations"
_FAMILIES = {
    WINDOWS: r"Win_(create|allocate|free|attach|detach)",
    COMMUNICATORS: r"Comm_(dup|idup|split|create|free|disconnect)|Cart_(create|sub)|Graph_create"
    r"|Dist_graph_create|Intercomm_(create|merge)",
    PERSISTENT: r"Request_free|Start|Startall",
    EPOCHS: r"Win_",
    TYPES: r"Type_|Pack|Unpack",
    FILES: r"File_",
    PROCESSES: r"Comm_(spawn|accept|connect|join)",
}
"""How the names of a family's calls begin, after MPI_; the first that fits counts."""


@dataclass(frozen=True)
class LeadingCalls:
    """A family with its `share` of the time in MPI, 0 to 1, and `waiting_share` of its own time.

    `call` is the one that takes most of it, `place` where that takes most of its time ('' if
    unknown), `times` how often a rank makes it at most, `rank` the one that does.
    """

    family: str
    share: float
    waiting_share: float
    call: str
    place: str
    times: int
    rank: int


def family_of(call: str) -> str:
    """The family of a call by its name."""
    if call in POLLS:
        return POLLING
    name = call.removeprefix("MPI_")
    return next((key for key, form in _FAMILIES.items() if re.match(form, name)), OTHER)


@fact
def leading_calls(program: Program) -> LeadingCalls | None:
    """The family with most of the time in MPI; None if no time is known."""
    calls = time_by_call(program)
    in_mpi_s = float(calls["time_s"].sum())
    if in_mpi_s <= 0:
        return None
    family = pl.col("call").map_elements(family_of, pl.String())
    by_family = calls.with_columns(family=family)
    sums = by_family.group_by("family").agg(pl.col("time_s", "waiting_s").sum())
    most = sums.sort("time_s", "family", descending=[True, False]).row(0, named=True)
    own = by_family.filter(pl.col("family") == most["family"])
    by_call = own.group_by("call").agg(pl.col("time_s").sum())
    call = str(by_call.sort("time_s", "call", descending=[True, False])["call"][0])
    ranks = own.filter(pl.col("call") == call).sort("count", "rank", descending=[True, False])
    places = most_expensive(program).filter(pl.col("call") == call)
    return LeadingCalls(
        most["family"],
        most["time_s"] / in_mpi_s,
        most["waiting_s"] / most["time_s"],
        call,
        str(places["place"][0]) if len(places) else "",
        int(ranks["count"][0]),
        int(ranks["rank"][0]),
    )
