"""Findings are texts: making all of them loads nothing that draws."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from nhalf import present

SOURCE = Path(present.__file__).parents[2]
ALL_FINDINGS = """
import sys
import polars as pl
from nhalf.facts.facts import Facts
from nhalf.present.findings import findings
from nhalf.store.keys import MEASUREMENT_COLUMNS
assert findings(Facts(pl.LazyFrame(schema=MEASUREMENT_COLUMNS))) == []
print(*(name for name in ("altair", "vl_convert", "jinja2", "rich") if name in sys.modules))
"""


def test_findings_draw_nothing() -> None:
    here = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-c", ALL_FINDINGS], env=here, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []
