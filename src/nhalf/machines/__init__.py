# SPDX-License-Identifier: Apache-2.0
"""The machine file and its contents: curves, parts, costs, algorithms."""
