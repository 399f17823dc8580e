# SPDX-License-Identifier: Apache-2.0
"""The log of another program: its text, its parts, and the run that it becomes."""
