# SPDX-License-Identifier: Apache-2.0
"""How curves moved from run to run: their levels, the changes, and what changed around them."""
