# SPDX-License-Identifier: Apache-2.0
"""A program that runs, what it starts, and what it leaves behind."""
