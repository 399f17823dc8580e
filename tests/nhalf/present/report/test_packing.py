"""The scripts of a report are made once and kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import vl_convert

from nhalf.base.folders import cache_folder
from nhalf.present.report.page import bundle, script_text

SOURCE = "a('</script>')"


@pytest.fixture(autouse=True)
def _forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty cache, and a converter that answers at once."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda _snippet: SOURCE)
    bundle.cache_clear()
    yield
    bundle.cache_clear()


def test_a_kept_script_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = bundle()
    monkeypatch.delattr(vl_convert, "javascript_bundle")
    bundle.cache_clear()
    assert bundle() == first == script_text(SOURCE)
    assert [path.read_text() for path in (cache_folder() / "scripts").iterdir()] == [SOURCE]


def test_a_cache_that_cannot_be_written_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc")
    assert bundle() == script_text(SOURCE)


def test_another_release_makes_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    bundle()
    monkeypatch.setattr("nhalf.present.report.page.version", lambda _name: "0.0")
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda _snippet: "another")
    bundle.cache_clear()
    assert bundle() == "another"
