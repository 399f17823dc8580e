"""The Livermore kernels: their bounds beside what compilers make of them here."""
