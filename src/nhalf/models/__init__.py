# SPDX-License-Identifier: Apache-2.0
"""Models: time against size, and time against size and ranks; pure functions of numbers."""
