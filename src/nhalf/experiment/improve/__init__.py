# SPDX-License-Identifier: Apache-2.0
"""What makes a program faster: candidates, launches in turns, and a proof."""
