# SPDX-License-Identifier: Apache-2.0
"""What compilers make of a loop (MAC): instructions, their micro-ops, operands and addresses."""
