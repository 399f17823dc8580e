"""Closed forms of the NAS Parallel Benchmarks: what their ranks send, on which numbers they run."""
