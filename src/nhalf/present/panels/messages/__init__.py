# SPDX-License-Identifier: Apache-2.0
"""Panels on one message over its size: latency, bandwidth, models and layers."""
