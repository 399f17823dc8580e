# SPDX-License-Identifier: Apache-2.0
"""The parameters of the LogP family under the names that reports give to libraries."""

from __future__ import annotations

import polars as pl

from nhalf.base.rows import Row
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.store.keys import RUN_SUBJECT


def named_logp(facts: Facts) -> list[Row]:
    """The rows of the result, each with `series`."""
    found = facts.results.get("logp", [])
    if not found:
        return []
    subjects = pl.DataFrame([{name: row[name] for name in RUN_SUBJECT} for row in found])
    subjects = subjects.with_columns(algorithm=pl.lit(""), axes=pl.lit(""))
    labels = with_series(subjects, facts)["series"].to_list()
    return [{**row, "series": label} for row, label in zip(found, labels, strict=True)]
