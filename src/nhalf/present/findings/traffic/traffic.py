# SPDX-License-Identifier: Apache-2.0
"""The destination rule with the lowest throughput against the one with the highest."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import times
from nhalf.base.rows import Row
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label
from nhalf.facts.traffic import costly_rules
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, weight
from nhalf.results.traffic.accepted import PATTERN, rule_name, setting_name


class Traffic(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for rules in costly_rules(facts):
            row, ratio = rules.setting, rules.ratio
            name = library_label(facts, row["transport"], row["mpi"])
            yield Finding(
                f"{name}, {row['ranks']} processes, {setting_name(row)} messages under full load: "
                f"with {_choice(rules.slow)}, each sender's throughput is {times(ratio.median)} "
                f"lower than with {_choice(rules.fast)} ({between(ratio)}).",
                importance=weight(ratio.median, 42, 66),
                kind="traffic-rule",
                label="Traffic",
                interval=ratio,
                mpi=row["mpi"],
                pattern=PATTERN,
                size_bytes=row["bytes"],
            )


def _choice(rule: Row) -> str:
    """Name the rule by which a sender chooses destinations: 'uniform choice', 'cube 4'."""
    return "uniform choice" if rule["to"] == "uniform" else rule_name(rule)
