# SPDX-License-Identifier: Apache-2.0
"""Long messages that are slower than shorter ones: their buffers no longer fit a cache."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.listing import listed
from nhalf.base.numbers import times
from nhalf.base.units import format_rate, format_size
from nhalf.facts.causes import CoreCache, outgrown
from nhalf.facts.facts import Facts
from nhalf.facts.rate_falls import RateFall, rate_fall
from nhalf.facts.series import MAIN_PATTERN, library_label
from nhalf.machines.machine import FittedModel
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import weight

Fallen = tuple[FittedModel, RateFall]


class RateFalls(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        by_cache: dict[CoreCache, list[Fallen]] = {}
        for model in facts.models:
            if model.pattern != MAIN_PATTERN or model.axes:
                continue
            fall = rate_fall(model)
            cache = outgrown(facts.environments.get(model.run, {}), fall)
            if fall is not None and cache is not None:
                by_cache.setdefault(cache, []).append((model, fall))
        for cache, fallen in by_cache.items():
            yield _finding(facts, cache, fallen)


def _finding(facts: Facts, cache: CoreCache, fallen: list[Fallen]) -> Finding:
    largest = max(fall.from_Bps / fall.to_Bps for _, fall in fallen)
    first = min(fall.from_bytes for _, fall in fallen)
    last = max(fall.to_bytes for _, fall in fallen)
    names = [
        f"{library_label(facts, model.transport, model.mpi)} "
        f"({format_rate(fall.from_Bps)} to {format_rate(fall.to_Bps)})"
        for model, fall in fallen
    ]
    libraries = listed(list(dict.fromkeys(names)))
    return Finding(
        f"From {format_size(first)} to {format_size(last)} the rate falls with {libraries}: "
        f"the buffers no longer fit the {cache.name} cache, {format_size(cache.size_bytes)}.",
        importance=weight(largest, 35, 60),
        kind="rate-falls",
        label="CoreCache",
        figure="÷ " + times(largest).removesuffix("x"),
        pattern=MAIN_PATTERN,
        size_bytes=first,
        mpi=fallen[0][0].mpi if len(fallen) == 1 else "",
    )
