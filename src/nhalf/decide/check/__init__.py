"""Acceptance: does a run meet the promises of a vendor, an earlier run or a model?"""
