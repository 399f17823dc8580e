# SPDX-License-Identifier: Apache-2.0
"""Panels on many ranks at once: traffic, dense phases and effective bandwidth."""
