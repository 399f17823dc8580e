# SPDX-License-Identifier: Apache-2.0
"""What stands above a report."""

from __future__ import annotations

from nhalf.facts.extent import extent
from nhalf.facts.facts import Facts
from nhalf.present.report.heading import subtitle, title
from tests.nhalf.applied import Ran, applied
from tests.nhalf.synthetic import build_measurements


def test_applications_are_no_traffic_patterns() -> None:
    found = extent(applied({Ran("cg"): 1.0, Ran("ft"): 2.0}))
    assert title(found).startswith("Application performance")
    assert " 2 kernels " in subtitle(found)
    messages = extent(Facts(build_measurements(patterns=("pingpong",))))
    assert title(messages).startswith("Message performance")
    assert "1 traffic pattern" in subtitle(messages)
