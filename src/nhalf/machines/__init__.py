# SPDX-License-Identifier: Apache-2.0
"""The machine file and what it says: curves, parts, costs, algorithms."""
