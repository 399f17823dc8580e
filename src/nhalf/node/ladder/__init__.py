# SPDX-License-Identifier: Apache-2.0
"""What compilers make of a loop: operations that were emitted, and how they can be scheduled."""
