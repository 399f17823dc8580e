"""Points whose data arrived wrong: no time of theirs means anything, and they come first."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from nhalf.base.listing import listed, ranks_text
from nhalf.base.operations import NATIVE
from nhalf.base.units import format_size
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.store.keys import RUN_CURVE, without

KEY = without(RUN_CURVE, "placement")
SIZES_LISTED = 4
"""More sizes are counted."""
HEADING = "WRONG DATA"


@dataclass(frozen=True)
class WrongData:
    """A curve with points whose data arrived wrong, at any rank and in any launch.

    `sizes_bytes` are those of the points, ascending. `run` is '' where there is only one.
    """

    run: str
    library: str
    mpi: str
    pattern: str
    operation: str
    ranks: int
    sizes_bytes: tuple[int, ...]

    def __str__(self) -> str:
        """'Intel MPI 2021.19.0, gather-persistent, 1000 B and 5000 B, 2 ranks'."""
        sizes = [format_size(size) for size in self.sizes_bytes]
        if len(sizes) > SIZES_LISTED:
            sizes = [f"{len(sizes)} sizes from {sizes[0]} to {sizes[-1]}"]
        ranks = ranks_text(self.ranks)
        where = f", in {self.run}" if self.run else ""
        return f"{self.library}, {self.operation}, {listed(sizes)}, {ranks}{where}"

    @property
    def headline(self) -> str:
        """The line with which every output begins."""
        return f"{HEADING}: {self}"

    def as_json(self) -> dict[str, Any]:
        """The object of `--json`."""
        return {**vars(self), "sizes_bytes": list(self.sizes_bytes), "text": self.headline}


@fact
def wrong_data(facts: Facts) -> list[WrongData]:
    """The curves with wrong data, by run, library and operation."""
    wrong = facts.measurements.filter(~pl.col("verified")).select(*KEY, "bytes")
    rows = wrong.with_columns(pl.col(pl.String).fill_null("")).unique().collect()
    several = len(facts.environments) > 1
    curves = rows.group_by(KEY, maintain_order=True).agg(pl.col("bytes").unique().sort())
    wrong_curves = [
        WrongData(
            run=curve["run"] if several else "",
            library=_library(curve, facts.titles),
            mpi=curve["mpi"] or curve["transport"],
            pattern=curve["pattern"],
            operation=_operation(curve),
            ranks=curve["ranks"],
            sizes_bytes=tuple(curve["bytes"]),
        )
        for curve in curves.to_dicts()
    ]
    return sorted(wrong_curves, key=lambda curve: (curve.run, curve.library, str(curve)))


def _library(curve: Mapping[str, Any], titles: Mapping[str, str]) -> str:
    name = curve["mpi"] or curve["transport"]
    title = titles.get(name, name)
    is_plain = curve["transport"] in ("mpi", "", name)
    return title if is_plain else f"{title} ({curve['transport']})"


def _operation(curve: Mapping[str, Any]) -> str:
    """'bcast', 'bcast/binomial' or 'gather, place=in'."""
    algorithm = "" if curve["algorithm"] in ("", NATIVE) else f"/{curve['algorithm']}"
    return ", ".join(filter(None, (curve["pattern"] + algorithm, curve["axes"])))
