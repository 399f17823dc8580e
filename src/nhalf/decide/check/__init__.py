# SPDX-License-Identifier: Apache-2.0
"""Acceptance: does a run meet the promises of a vendor, an earlier run or a model?"""
