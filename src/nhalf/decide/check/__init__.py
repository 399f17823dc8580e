# SPDX-License-Identifier: Apache-2.0
"""Acceptance: does a run meet what was promised, by a vendor, by a former run or by a model?"""
