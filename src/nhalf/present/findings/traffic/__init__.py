# SPDX-License-Identifier: Apache-2.0
"""Findings on many ranks at once: traffic, dense phases and effective bandwidth."""
