"""A browser for the tests of pages."""

from __future__ import annotations

from tests.nhalf.present.chromium import browser, chromium

__all__ = ["browser", "chromium"]
