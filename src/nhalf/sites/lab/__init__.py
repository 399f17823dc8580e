# SPDX-License-Identifier: Apache-2.0
"""A cluster in network namespaces on one Linux machine, with a real Slurm.

`layout` and `shaping` say what a lab is made of, `network`, `places` and `slurm` make it, `build`
does that step by step, and `remove` undoes whatever was done.
"""
