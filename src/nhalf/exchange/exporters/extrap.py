"""Extra-P: the launch medians of a run in its JSON form, with p ranks and n bytes as parameters.

    {"parameters": ["p", "n"],
     "measurements": {CALLPATH: {"time": [{"point": [p, n], "values": [seconds, ...]}, ...]}}}

The launch medians are those in the reported state of the machine: one model describes one state.
A call path is a pattern, with the columns that distinguish curves of this run. Extra-P needs five
values of every parameter: one that has a single value in the whole run is left out.
"""

from typing import Any

import msgspec
import polars as pl

from nhalf.base.errors import InputError
from nhalf.exchange.exporters import Exporter, Subject, the_facts
from nhalf.statistics.summary import reported_medians

METRIC = "time"
PARAMETERS = {"p": "ranks", "n": "bytes"}
APART = ("algorithm", "mpi", "transport", "placement", "axes")
"""The columns that distinguish curves of one pattern, in the order of the call path."""


class ExtraP(Exporter):
    """Every curve of a run."""

    description = "the launch medians of a run as JSON, for Extra-P"
    takes = frozenset({"mpi"})

    def text(self, subject: Subject) -> str:
        """The JSON; raises InputError if no point has data that verified."""
        facts = the_facts(subject, "extrap")
        rows = reported_medians(facts.stated.filter("verified")).filter(pl.col("median_s") > 0)
        if self.options.mpi:
            library = pl.when(pl.col("mpi") == "").then("transport").otherwise("mpi")
            rows = rows.filter(library == self.options.mpi)
        if rows.is_empty():
            names = ", ".join(facts.environments)
            raise InputError(f"{names} has no sound points to export", "measure again")
        several = {name: column for name, column in PARAMETERS.items() if _varies(rows, column)}
        parameters = several or {"n": "bytes"}
        content = {"parameters": list(parameters), "measurements": _measurements(rows, parameters)}
        return msgspec.json.format(msgspec.json.encode(content), indent=1).decode() + "\n"


def _varies(rows: pl.DataFrame, column: str) -> bool:
    return rows[column].n_unique() > 1


def _measurements(rows: pl.DataFrame, parameters: dict[str, str]) -> dict[str, Any]:
    """The metric and its points by call path, each with a value per launch."""
    distinguishing = [column for column in APART if _varies(rows, column)]
    measurements: dict[str, Any] = {}
    points = rows.group_by(["pattern", *distinguishing, *parameters.values()], maintain_order=True)
    for key, launches in points:
        labels = [str(part) for part in key[: 1 + len(distinguishing)] if part]
        path = labels[0] + (f" ({', '.join(labels[1:])})" if labels[1:] else "")
        point = {
            "point": [float(parameter_value) for parameter_value in key[1 + len(distinguishing) :]],
            "values": launches["median_s"].to_list(),
        }
        measurements.setdefault(path, {METRIC: []})[METRIC].append(point)
    return measurements
