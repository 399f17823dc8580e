# SPDX-License-Identifier: Apache-2.0
"""Whom it asks: what a probe says of itself, one launch of it, its end."""
