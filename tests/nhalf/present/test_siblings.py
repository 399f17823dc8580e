# SPDX-License-Identifier: Apache-2.0
"""Findings and panels are siblings that read facts: neither reads the other, nor its own kind."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nhalf import present

FOLDER = Path(present.__file__).parent
FILES = sorted([*FOLDER.glob("panels/**/*.py"), *FOLDER.glob("findings/**/*.py")])
IDS = [file.relative_to(FOLDER).with_suffix("").as_posix() for file in FILES]
ALL_FINDINGS = """
import sys
import polars as pl
from nhalf.facts.facts import Facts
from nhalf.present.findings import findings
from nhalf.store.schema import MEASUREMENT_COLUMNS
assert findings(Facts(pl.LazyFrame(schema=MEASUREMENT_COLUMNS))) == []
print(*(name for name in ("altair", "vl_convert", "jinja2", "rich") if name in sys.modules))
"""


def imported(source: str) -> set[str]:
    """The modules of this package that a source names in its imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{name.name}" for name in node.names}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return {name for name in found if name.startswith("nhalf.")}


@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_nobody_reads_another_picture(file: Path) -> None:
    names = imported(file.read_text())
    siblings = [path for path in FILES if path != file and path.stem != "__init__"]
    modules = {path.relative_to(FOLDER.parents[1]).with_suffix("") for path in siblings}
    assert not names & {".".join(module.parts) for module in modules}
    if file.is_relative_to(FOLDER / "findings"):
        assert not any(name.startswith(("altair", "nhalf.present.charts")) for name in names)
        assert not any(name.startswith("nhalf.present.panels") for name in names)
    else:
        assert not any(name.startswith("nhalf.present.findings") for name in names)


@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_nothing_is_computed_in_a_picture(file: Path) -> None:
    computing = {"agg", "pivot", "ratio_interval", "launch_interval", "beyond"}
    called = {
        node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call)
    }
    assert not called & computing


def test_findings_draw_nothing() -> None:
    here = {**os.environ, "PYTHONPATH": str(FOLDER.parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", ALL_FINDINGS], env=here, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []
