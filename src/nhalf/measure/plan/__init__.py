# SPDX-License-Identifier: Apache-2.0
"""What to measure: studies, blocks, axes, sizes, and every point that follows from them."""
