"""How many times longer a program computes on another processor, by what both descriptions say."""

import math

from nhalf.base.errors import InputError
from nhalf.machines.computing import ComputingRatio
from nhalf.machines.processor import Processor

FLOPS = {"fused_multiply_add": 2, "add": 1, "multiply": 1}
"""Floating-point operations of each; which of them a program has is unknown."""


def time_ratio(base: Processor, target: Processor) -> ComputingRatio:
    """The time on the target to that on the base: a mean, and each part.

    The parts are scalar arithmetic, loads, stores, and chains: sums, or sums of products, of which
    each waits for the one before it.

    A program is limited by one of them, which is unknown, so that all have equal weight; caches
    and memory are not in it. Raises InputError if nothing is described of both processors.
    """
    base_per_s, target_per_s = _rates_per_s(base), _rates_per_s(target)
    each_ratio = {
        name: rate / target_per_s[name] for name, rate in base_per_s.items() if name in target_per_s
    }
    if not each_ratio:
        raise InputError(
            f"processors {base.name} and {target.name} have no rates in common",
            "describe add, multiply, load or store of both",
        )
    mean_log = sum(map(math.log, each_ratio.values())) / len(each_ratio)
    return ComputingRatio(math.exp(mean_log), each_ratio, "by the cores")


def _rates_per_s(processor: Processor) -> dict[str, float]:
    """Scalar operations a second that a processor begins, and ends in chains, by their kind."""
    per_cycle = {
        operation.name: operation.per_cycle
        for operation in processor.operations
        if operation.lanes == 1
    }
    arithmetic = max(
        (FLOPS[name] * per_cycle[name] for name in FLOPS if name in per_cycle), default=0
    )
    latency = {
        operation.name: operation.latency_cycles
        for operation in processor.operations
        if operation.lanes == 1 and operation.latency_cycles
    }
    sums = latency.get("add", math.inf)
    products = latency.get("fused_multiply_add", math.inf) if processor.always_fuses else sums
    rates = {
        "arithmetic": arithmetic,
        **{f"{name}s": per_cycle.get(name, 0) for name in ("load", "store")},
        "chains of sums": 1 / sums,
        "chains of products": 1 / products,
    }
    return {name: processor.clock_hz * rate for name, rate in rates.items() if rate > 0}
