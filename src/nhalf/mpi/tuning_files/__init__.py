# SPDX-License-Identifier: Apache-2.0
"""Tuning files, in each library's own format."""
