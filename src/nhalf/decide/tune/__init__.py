# SPDX-License-Identifier: Apache-2.0
"""Tuning: measure a library's own algorithms, write what it reads, and prove that it applies it."""
