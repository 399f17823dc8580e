# SPDX-License-Identifier: Apache-2.0
"""How many points missed the precision that was asked for."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.precision import missed, target_of
from nhalf.facts.series import full_name, with_series
from nhalf.present.charts import common
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import count


class PrecisionMissed(Finder):
    def find(self, data: Facts) -> Iterator[Finding]:
        points = with_series(missed(data), data)
        if points.is_empty():
            return
        targets = {target_of(values) for values in data.environments.values()} or {target_of({})}
        worst = points.row(0, named=True)
        yield Finding(
            f"{points.height} of {count(data.summary.height, 'point')} did not reach the "
            f"precision of ±{max(targets) * 100:.3g} %; the widest is {worst['series']}, "
            f"{full_name(worst)} of {format_size(worst['bytes'])}: "
            f"{format_time(worst['median_s'])} {common.half_width_text(worst['half_width'])}.",
            importance=10 + 29 * points.height / data.summary.height,
            kind="precision-missed",
            remedy="Measure longer (a larger --budget) or more often (--launches).",
            value=points.height,
            mpi=worst["mpi"],
            pattern=worst["pattern"],
            size_bytes=worst["bytes"],
        )
