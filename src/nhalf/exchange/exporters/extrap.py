# SPDX-License-Identifier: Apache-2.0
"""Extra-P: the launch medians of a run in its JSON form, with p ranks and n bytes as parameters.

    {"parameters": ["p", "n"],
     "measurements": {CALLPATH: {"time": [{"point": [p, n], "values": [seconds, ...]}, ...]}}}

A call path is a pattern, with whatever else tells curves of this run apart. Extra-P asks for five
values of every parameter: one that has a single value in the whole run is left out.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
import polars as pl

from nhalf.base.errors import InputError
from nhalf.exchange.exporters import Exporter, Subject, the_facts
from nhalf.statistics.summary import launch_medians

METRIC = "time"
PARAMETERS = {"p": "ranks", "n": "bytes"}
APART = ("algorithm", "mpi", "transport", "placement", "axes")
"""The columns that distinguish curves of one pattern, in the order of the call path."""


class ExtraP(Exporter):
    """Every curve of a run."""

    what: ClassVar[str] = "the launch medians of a run as JSON, for Extra-P"
    takes: ClassVar[frozenset[str]] = frozenset({"mpi"})

    def text(self, subject: Subject) -> str:
        """The JSON; raises InputError if no point has data that verified."""
        facts = the_facts(subject, "extrap")
        sound = facts.measurements.filter(pl.col("verified"))
        rows = launch_medians(sound).filter(pl.col("median_s") > 0)
        if self.asked.mpi:
            rows = rows.filter(_library() == self.asked.mpi)
        if rows.is_empty():
            named = ", ".join(facts.environments)
            raise InputError(f"{named} has no sound points to export", "measure again")
        several = {name: column for name, column in PARAMETERS.items() if _varies(rows, column)}
        parameters = several or {"n": "bytes"}
        content = {"parameters": list(parameters), "measurements": _measurements(rows, parameters)}
        return msgspec.json.format(msgspec.json.encode(content), indent=1).decode() + "\n"


def _library() -> pl.Expr:
    return pl.when(pl.col("mpi") == "").then("transport").otherwise("mpi")


def _varies(rows: pl.DataFrame, column: str) -> bool:
    return rows[column].n_unique() > 1


def _measurements(rows: pl.DataFrame, parameters: dict[str, str]) -> dict[str, Any]:
    """The metric and its points by call path, each with a value per launch."""
    apart = [column for column in APART if _varies(rows, column)]
    found: dict[str, Any] = {}
    points = rows.group_by(["pattern", *apart, *parameters.values()], maintain_order=True)
    for key, launches in points:
        named = [str(one) for one in key[: 1 + len(apart)] if one]
        path = named[0] + (f" ({', '.join(named[1:])})" if named[1:] else "")
        point = {
            "point": [float(one) for one in key[1 + len(apart) :]],
            "values": launches["median_s"].to_list(),
        }
        found.setdefault(path, {METRIC: []})[METRIC].append(point)
    return found
