# SPDX-License-Identifier: Apache-2.0
"""Everything known about one or several runs; each fact is computed once, on first access.

Findings, panels, tables, checks, exporters and notebooks receive a `Facts` and compute none of this
themselves. A fact that only one chart or one finding needs has its own file in this folder: a
function of `Facts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from nhalf.base.errors import InputError
from nhalf.facts.basis import Basis
from nhalf.facts.series import MAIN_PATTERN, series_names, with_names

if TYPE_CHECKING:
    import polars as pl

    from nhalf.base.rows import Row
    from nhalf.facts.contests import Contest
    from nhalf.facts.doubts import Doubt
    from nhalf.facts.extent import Extent
    from nhalf.facts.overlay import Overlay
    from nhalf.facts.overview import Overview, PatternOverview
    from nhalf.machines.machine import Machine


@dataclass(frozen=True)
class Facts(Basis):
    """The measurements of runs, and the facts derived from them.

    See `Basis` for the inputs and the constructors.
    """

    @cached_property
    def machine(self) -> Machine:
        """The machine that the run describes, with every model that could be fitted.

        Raises InputError if there is nothing to fit, or for several runs.
        """
        from nhalf.facts.fit import SIZES_MIN, machine_of

        if len(self.environments) > 1:
            names = ", ".join(self.environments)
            raise InputError(f"{names} are several runs", "fit one at a time")
        ((run, environment),) = self.environments.items()
        if not (self.models or self.loggp or self.patterns):
            raise InputError(
                f"{run} has no curve to fit: each needs {SIZES_MIN} sizes with sound data",
                "measure more sizes, for instance --bytes 0:4M",
            )
        return machine_of(run, environment, self.models, self.loggp, self.patterns)

    @cached_property
    def overlay(self) -> Overlay | None:
        """Curves that charts show in the background, as given by `with_known(overlay=...)`."""
        return None

    @cached_property
    def extent(self) -> Extent:
        """How much was measured, where, when, and with what precision."""
        from nhalf.facts.extent import extent

        return extent(self)

    @cached_property
    def series_names(self) -> list[str]:
        """The names of the curves, sorted: the order that fixes their colours."""
        return series_names(self)

    @cached_property
    def overview(self) -> list[Overview]:
        """Latency, n½, peak rate and switches of every curve of the main pattern."""
        from nhalf.facts.overview import overview

        return overview(self)

    @cached_property
    def patterns_overview(self) -> list[PatternOverview]:
        """Points, smallest times and highest rate of every curve and pattern."""
        from nhalf.facts.overview import patterns_overview

        return patterns_overview(self)

    def contests(self, pattern: str = MAIN_PATTERN) -> list[Contest]:
        """Every setting of a pattern in which several libraries were measured, each once."""
        if pattern not in self._contests:
            from nhalf.facts.contests import contests

            self._contests[pattern] = contests(self, pattern)
        return self._contests[pattern]

    @cached_property
    def _contests(self) -> dict[str, list[Contest]]:
        return {}

    @cached_property
    def doubts(self) -> list[Doubt]:
        """Each kind of warning that points carry, with the number of points."""
        from nhalf.facts.doubts import doubts

        return doubts(self)

    @cached_property
    def missed(self) -> pl.DataFrame:
        """The rows of `summary` that missed their precision, widest first.

        Adds `series` and `half_width`, relative to the median.
        """
        from nhalf.facts.precision import missed

        return missed(self)

    @cached_property
    def modes(self) -> pl.DataFrame:
        """Per launch and send mode, its time over that of the standard send.

        Columns of a launch (seconds), `standard_s`, `ratio` and `series`.
        """
        from nhalf.facts.modes import mode_ratios

        return mode_ratios(self)

    @cached_property
    def loads(self) -> pl.DataFrame:
        """Per launch and number of pairs at once, the latency over that of one pair alone.

        Columns of a launch (seconds), `pairs`, `alone_s`, `ratio` and `series`.
        """
        from nhalf.facts.pairs import load_ratios

        return load_ratios(self)

    @cached_property
    def logp(self) -> list[Row]:
        """The rows of the result `logp`, each with `series`."""
        return with_names(self.results.get("logp", []), self)

    @cached_property
    def multicasts(self) -> pl.DataFrame:
        """Completion, processor time and links of every multicast method.

        One row per machine, size, group, forwarding and method: see facts/multicast.py.
        """
        from nhalf.facts.multicast import multicasts

        return multicasts(self)

    @cached_property
    def traffic(self) -> pl.DataFrame:
        """Offered and accepted rates and delays by series, setting, rule and load.

        See facts/traffic.py for the columns: bytes per second and seconds.
        """
        from nhalf.facts.traffic import offered_and_accepted

        return offered_and_accepted(self)
