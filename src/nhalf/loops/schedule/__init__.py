"""How fast the emitted instructions of a loop can be scheduled on a core (MACS)."""
