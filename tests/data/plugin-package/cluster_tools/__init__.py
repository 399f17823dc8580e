# SPDX-License-Identifier: Apache-2.0
"""Additions to nhalf from elsewhere."""
