# SPDX-License-Identifier: Apache-2.0
"""Findings on a node: caches, units, roofline and loops."""
