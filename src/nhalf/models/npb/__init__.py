# SPDX-License-Identifier: Apache-2.0
"""Closed forms of the NAS Parallel Benchmarks: what their ranks send, on which numbers they run."""
