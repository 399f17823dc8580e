# SPDX-License-Identifier: Apache-2.0
"""How many times longer a program computes on another processor, by what both descriptions say."""

from __future__ import annotations

import math

from nhalf.base.errors import InputError
from nhalf.machines.computing import ComputingRatio
from nhalf.machines.processor import Processor

FLOPS = {"fused_multiply_add": 2, "add": 1, "multiply": 1}
"""Floating-point operations of each; which of them a program has is unknown."""


def time_ratio(here: Processor, there: Processor) -> ComputingRatio:
    """The time there to that here: the mean over scalar arithmetic, loads and stores, and each.

    A program is limited by one of them, which is unknown, so that all have equal weight; caches
    and memory are not in it. Raises InputError if nothing is described of both processors.
    """
    own, others = _rates_per_s(here), _rates_per_s(there)
    each_ratio = {name: own[name] / others[name] for name in own if name in others}
    if not each_ratio:
        raise InputError(
            f"processors {here.name} and {there.name} have no rates in common",
            "describe add, multiply, load or store of both",
        )
    mean_log = sum(map(math.log, each_ratio.values())) / len(each_ratio)
    return ComputingRatio(math.exp(mean_log), each_ratio, "by the cores")


def _rates_per_s(processor: Processor) -> dict[str, float]:
    """Scalar operations a second that a processor begins, by their kind."""
    per_cycle = {
        operation.name: operation.per_cycle
        for operation in processor.operations
        if operation.lanes == 1
    }
    arithmetic = max(
        (FLOPS[name] * per_cycle[name] for name in FLOPS if name in per_cycle), default=0
    )
    rates = {
        "arithmetic": arithmetic,
        **{f"{name}s": per_cycle.get(name, 0) for name in ("load", "store")},
    }
    return {name: processor.clock_hz * rate for name, rate in rates.items() if rate > 0}
