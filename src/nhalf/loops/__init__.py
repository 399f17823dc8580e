"""Bounds of loops, from the source down to the measured time.

`source` is MA, what the algorithm needs; `listing` is MAC, what the compiler emitted; `schedule` is
MACS, how fast the emitted instructions can be scheduled (Boyd and Davidson, Hierarchical
performance modeling with MACS, 1993). `rungs` and `climb` put them side by side.
"""
