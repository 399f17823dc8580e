# SPDX-License-Identifier: Apache-2.0
"""What is asked: studies, blocks, axes, sizes, and every point that follows from them."""
