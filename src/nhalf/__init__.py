# SPDX-License-Identifier: Apache-2.0
"""Measure, model and predict the communication performance of parallel computers."""

from nhalf.base.version import __version__

__all__ = ["__version__"]
