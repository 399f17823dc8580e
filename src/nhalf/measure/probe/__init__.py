# SPDX-License-Identifier: Apache-2.0
"""Probes: their description, their launches, and how those end."""
