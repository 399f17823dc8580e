# SPDX-License-Identifier: Apache-2.0
"""The share of an application's time that ranks spend in communication."""

from __future__ import annotations

import altair as alt

from nhalf.facts.applications import applications
from nhalf.facts.facts import Facts
from nhalf.present.charts import common
from nhalf.present.charts.dots import dots
from nhalf.present.panels import Panel
from nhalf.present.wording import kernel_name, run_by


class ApplicationCommunication(Panel[Facts]):
    title = "Applications: time in communication"
    how_to_read = (
        "The share of the time that ranks spend in MPI calls, or threads waiting for each other, "
        "as a mean over them; early arrivals wait, so it includes load imbalance."
    )
    order = 84

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        measured = [row for row in applications(facts) if row["communication_share"] is not None]
        rows = [
            {
                "name": kernel_name(row),
                "kind": run_by(row),
                "on": f"{row['ranks'] * row['threads']}",
                "share": common.digits(row["communication_share"], 4),
                "low": common.digits(row["communication_share"], 4),
                "high": common.digits(row["communication_share"], 4),
            }
            for row in sorted(measured, key=lambda row: -row["ranks"] * row["threads"])
            if row["ranks"] * row["threads"] > 1
        ]
        if not rows:
            return None
        return dots(
            rows,
            alt.X(
                "share:Q",
                title="share of the time",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format=".0%"),
            ),
            sorted({str(row["kind"]) for row in rows}),
            [
                alt.Tooltip("name:N", title="kernel"),
                alt.Tooltip("kind:N", title="run by"),
                alt.Tooltip("share:Q", title="in communication", format=".1%"),
            ],
            ("on", "Ranks or threads"),
        )
