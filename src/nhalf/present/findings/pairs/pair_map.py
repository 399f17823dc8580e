# SPDX-License-Identifier: Apache-2.0
"""Nodes and links that are slower than their peers, or the fact that all are equal."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.rows import Row
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import sentence, weight
from nhalf.results.pair_map.words import equal_percent

SENTENCES_MAX = 5
"""The number of slow pairs of a map that are listed; its table has the rest."""
SLOW = (80.0, 98.0)
"""Weights: what is broken comes before what libraries are like, if they differ alike."""


class PairMap(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for row in facts.results.get("pair_map", []):
            name = library_label(facts, row["transport"], row["mpi"])
            about = f"{name}, {row['ranks']} ranks, {row['map']}"
            if row["doubts"]:
                continue
            if row["sentences"]:
                yield from _slow(row, about)
            elif row["equal"]:
                yield Finding(
                    f"{sentence(about)}: {row['equal']}.",
                    importance=40,
                    kind="pairs-equal",
                    label="Equal links",
                    figure=equal_percent(row),
                    value=row["equal_within_ratio"],
                    mpi=row["mpi"],
                    pattern=row["pattern"],
                    size_bytes=row["bytes"],
                )


def _slow(row: Row, about: str) -> Iterator[Finding]:
    """A finding for each sentence of a map, with the ratio of its subject."""
    nodes = [subject for subject in row["slow"] if subject["kind"] in ("sends", "receives", "node")]
    links = [subject for subject in row["slow"] if subject["kind"] in ("way", "link")]
    within = [subject for subject in row["slow"] if subject["kind"] == "within"]
    worst = [*nodes, *links[:1], *within]
    for text, subject in list(zip(row["sentences"], worst, strict=True))[:SENTENCES_MAX]:
        low, high = subject["ratio_ci"]
        yield Finding(
            f"{_suspect(row, subject)}{sentence(about)}: {text}.",
            importance=weight(subject["ratio"], *SLOW),
            kind="slow-link" if subject["kind"] in ("way", "link") else "slow-node",
            label="Slow link" if subject["kind"] in ("way", "link") else "Slow node",
            value=subject["ratio"],
            low=low,
            high=high,
            mpi=row["mpi"],
            pattern=row["pattern"],
            size_bytes=row["bytes"],
        )


def _suspect(row: Row, subject: Row) -> str:
    """'Suspect node n3. ': who is slow, before the evidence; '' where two may be."""
    if subject["kind"] not in ("sends", "receives", "node"):
        return ""
    name = subject["members"][0]
    noun = "node" if row["level"] == "hosts" else "rank"
    return f"Suspect {name if name.startswith(noun) else f'{noun} {name}'}. "
