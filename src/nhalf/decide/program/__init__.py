# SPDX-License-Identifier: Apache-2.0
"""Replay of a traced program's calls to predict its time on another machine."""
