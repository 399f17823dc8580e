"""Imports that wait until what they name is used."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

SOURCE = """
LIMIT = 3
class Box:
    size = 2
def doubled(number):
    return 2 * number
"""
IMPORTER = """
from nhalf.cli.lazy import lazily
with lazily(globals()):
    from late_source import LIMIT, Box, doubled
    from late_package import inner
"""


@pytest.fixture
def importer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a module has that imports lazily from modules that were not imported before."""
    (tmp_path / "late_source.py").write_text(SOURCE)
    (tmp_path / "late_package").mkdir()
    (tmp_path / "late_package/__init__.py").touch()
    (tmp_path / "late_package/inner.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("late_source", "late_package", "late_package.inner"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    scope: dict[str, Any] = {"__name__": "importer"}
    exec(compile(IMPORTER, "importer.py", "exec"), scope)
    return scope


def test_nothing_is_imported_before_it_is_used(importer: dict[str, Any]) -> None:
    assert not {"late_source", "late_package"} & sys.modules.keys()
    assert importer["doubled"](2) == 4
    assert "late_source" in sys.modules


def test_classes_and_modules_are_as_if_imported(importer: dict[str, Any]) -> None:
    assert importer["Box"].size == 2
    assert isinstance(importer["Box"](), importer["Box"])
    assert not isinstance(2, importer["Box"])
    assert importer["inner"].doubled(3) == 6


def test_what_is_put_in_its_place_is_used(
    importer: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    importer["doubled"](2)
    monkeypatch.setattr(sys.modules["late_source"], "doubled", lambda number: 0)
    assert importer["doubled"](2) == 0


@pytest.mark.parametrize("use", [str, bool, list, hash, lambda it: it == 3, lambda it: f"{it}"])
def test_a_constant_is_refused(importer: dict[str, Any], use: Any) -> None:
    with pytest.raises(TypeError, match="import LIMIT of late_source outside"):
        use(importer["LIMIT"])


def test_imports_after_the_block_are_done_at_once(importer: dict[str, Any]) -> None:
    exec("from late_source import LIMIT", importer)
    assert importer["LIMIT"] == 3
