"""Programs on a simulated machine: the MPI library's own code, in virtual time."""
