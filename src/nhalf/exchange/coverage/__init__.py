# SPDX-License-Identifier: Apache-2.0
"""What other suites measure, test by test, and how nhalf measures the same, or why it does not."""

from __future__ import annotations

from nhalf.exchange.coverage.imb import IMB
from nhalf.exchange.coverage.osu import OSU

SUITES = (OSU, IMB)
"""The suites that are covered."""
