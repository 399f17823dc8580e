# SPDX-License-Identifier: Apache-2.0
"""Panels on a node: caches, units, roofline and loops."""
