# SPDX-License-Identifier: Apache-2.0
"""Tuning: measure a library's algorithms, write its tuning file, and verify its effect."""
