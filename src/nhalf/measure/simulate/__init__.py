# SPDX-License-Identifier: Apache-2.0
"""Simulated machines: SimGrid computes the times of their messages."""
