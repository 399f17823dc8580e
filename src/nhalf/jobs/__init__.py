# SPDX-License-Identifier: Apache-2.0
"""Runs as jobs of a batch system: script, submission, and outcome."""
