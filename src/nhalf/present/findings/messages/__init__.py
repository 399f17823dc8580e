# SPDX-License-Identifier: Apache-2.0
"""Findings on one message over its size: latency, bandwidth, models and layers."""
