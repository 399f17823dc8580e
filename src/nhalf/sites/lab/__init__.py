"""A cluster in network namespaces on one Linux machine, with a real Slurm.

`layout` and `shaping` describe a lab, `network`, `places` and `slurm` create its parts, `build`
runs them step by step, and `remove` undoes whatever was done.
"""
