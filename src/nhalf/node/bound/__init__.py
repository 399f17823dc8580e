# SPDX-License-Identifier: Apache-2.0
"""Bounds of loops: from C source to what the units of a processor take at least."""
