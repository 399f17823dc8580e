"""A C program with MPI as what each of its ranks computes and sends, read from its source."""
