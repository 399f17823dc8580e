"""What compilers make of a loop (MAC): instructions, their micro-ops, operands and addresses."""
