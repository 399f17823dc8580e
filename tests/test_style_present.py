"""The rules of findings and panels: each complains about what it is for."""

from __future__ import annotations

import pytest

from style_present import PRESENT_TREE_RULES
from style_source import Source

FINDING = "src/nhalf/present/findings/noise.py"
PANEL = "src/nhalf/present/panels/noise.py"
OTHERS = ("src/nhalf/present/findings/drift.py", "src/nhalf/present/panels/drift.py")


def rules_broken(path: str, text: str) -> list[str]:
    sources = [Source(path, text), *(Source(other, "") for other in OTHERS)]
    return [complaint.rule for rule in PRESENT_TREE_RULES for complaint in rule(sources)]


@pytest.mark.parametrize(
    ("path", "text", "rule"),
    [
        (FINDING, "from nhalf.present.findings.drift import drift\n", "sibling"),
        (FINDING, "import altair\n", "sibling"),
        (FINDING, "from nhalf.present.charts import lines\n", "sibling"),
        (FINDING, "def f():\n    import nhalf.present.panels.other\n", "sibling"),
        (PANEL, "import nhalf.present.panels.drift\n", "sibling"),
        (PANEL, "from nhalf.present.findings.other import drift\n", "sibling"),
        (PANEL, "table.group_by('ranks').agg(median)\n", "picture"),
        (FINDING, "ratio_interval(one, other)\n", "picture"),
    ],
)
def test_a_picture_that_reads_another_one_or_computes(path: str, text: str, rule: str) -> None:
    assert set(rules_broken(path, text)) == {rule}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (FINDING, "from nhalf.present.findings import Finding\nagg = facts.noise\n"),
        (PANEL, "import altair\nfrom nhalf.present.charts import lines\n"),
        ("src/nhalf/facts/noise.py", "table.agg(median)\n"),
    ],
)
def test_a_picture_of_facts(path: str, text: str) -> None:
    assert rules_broken(path, text) == []
