# SPDX-License-Identifier: Apache-2.0
"""Runs that measured only a node: no message was sent in them."""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.node.reading import TRANSPORT


@fact
def node_runs(facts: Facts) -> frozenset[str]:
    """The runs of `nhalf node`."""
    return frozenset(facts.summary.filter(transport=TRANSPORT)["run"].unique())


@fact
def of_messages(facts: Facts) -> pl.DataFrame:
    """The summary without the points of such runs.

    They refine by themselves and have no launches to add: their uncertainty is reported for levels
    and units, not for points.
    """
    return facts.summary.filter(~pl.col("run").is_in(list(node_runs(facts))))
