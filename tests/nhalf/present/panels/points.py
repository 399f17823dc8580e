"""Points of a pattern at several values of its axes, whose truth is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import polars as pl

Make = Callable[..., pl.LazyFrame]
QUIET = {"noise": 0.0, "launch_noise": 0.0}


def points(make: Make, pattern: str, axes: Iterable[str], **more: Any) -> pl.LazyFrame:
    """A pattern at several values of its axes, times growing by a tenth from one to the next."""
    frames = []
    for number, axis_text in enumerate(axes):
        sizes = more.get("sizes", (8, 65536))
        columns = {"rank_s": [1e-6] * more.get("ranks", 4), **QUIET, **more}
        frame = make(patterns=(pattern,), axes=axis_text, **{**columns, "sizes": sizes})
        scaled = pl.col("samples_s").list.eval(pl.element() * (1 + number / 10))
        frames.append(frame.with_columns(samples_s=scaled))
    return pl.concat(frames)


def pairs_of_ranks(ranks: int) -> list[str]:
    """The axes of every pair of ranks."""
    return [f"first={i},second={j}" for i in range(ranks) for j in range(i + 1, ranks)]
