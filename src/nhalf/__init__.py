# SPDX-License-Identifier: Apache-2.0
"""Measure, model and predict the communication performance of parallel computers."""

__version__ = "0.1.0"
