# SPDX-License-Identifier: Apache-2.0
"""Runs that measured only a node: no message was sent in them."""

from __future__ import annotations

import polars as pl

from nhalf.facts.basis import Basis
from nhalf.node.reading import TRANSPORT


def node_runs(basis: Basis) -> frozenset[str]:
    """The runs of `nhalf node`."""
    return frozenset(basis.summary.filter(transport=TRANSPORT)["run"].unique())


def of_messages(basis: Basis) -> pl.DataFrame:
    """The summary without the points of such runs.

    They refine by themselves and have no launches to add: their uncertainty is reported for levels
    and units, not for points.
    """
    return basis.summary.filter(~pl.col("run").is_in(list(node_runs(basis))))
