# SPDX-License-Identifier: Apache-2.0
"""A run as a job: its script, its submission, and its outcome."""
