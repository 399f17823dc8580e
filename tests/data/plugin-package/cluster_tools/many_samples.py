"""How many samples a run has: a finding."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding


class ManySamples(Finder[Facts]):
    """One sentence."""

    def find(self, data: Facts) -> Iterator[Finding]:
        """The number, always."""
        samples = int(data.summary["samples"].sum())
        yield Finding(
            f"cluster-tools counted {samples} samples.",
            importance=40,
            kind="many-samples",
            label="Samples",
            figure=str(samples),
        )
