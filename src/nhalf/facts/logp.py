# SPDX-License-Identifier: Apache-2.0
"""The parameters of the LogP family, by series."""

from __future__ import annotations

from nhalf.base.rows import Row
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_names


@fact
def logp_rows(facts: Facts) -> list[Row]:
    """The rows of the result `logp`, each with `series`."""
    return with_names(facts.results.get("logp", []), facts)
