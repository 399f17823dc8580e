"""Coverage of other suites, test by test: nhalf's equivalent, or why there is none."""

from nhalf.exchange.coverage.imb import IMB
from nhalf.exchange.coverage.osu import OSU

SUITES = (OSU, IMB)
"""The suites that are covered."""
