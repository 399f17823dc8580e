"""Where in the program the calls of MPI are, and what each place costs."""

from __future__ import annotations

from pathlib import PurePosixPath

import polars as pl

from nhalf.base.rows import Row
from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program
from nhalf.facts.program.threads import share_of_threads_time
from nhalf.measure.traced.totals import SENT_AND_RECEIVED, summed_by_call

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
