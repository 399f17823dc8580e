"""Rates of a core, times of a GPU, and ratios of a program's computing times between machines."""

import math
from typing import Literal, NamedTuple

import msgspec


class Computing(msgspec.Struct, frozen=True, kw_only=True):
    """Rates of one core: clock, floating-point operations, memory bandwidth; None if unknown.

    `flops_per_s` counts a fused multiply-add twice; `memory_Bps` counts bytes as the triad of
    STREAM does. `processor` names the processor of record with which bounds are computed.
    """

    clock_hz: float | None = None
    flops_per_s: float | None = None
    memory_Bps: float | None = None
    processor: str = ""
    source: str = ""


Basis = Literal["as measured", "as given", "by the cores", "as stated", "unknown"]
AS_MEASURED: Basis = "as measured"
UNKNOWN: Basis = "unknown"
"""The machine's cores are others than those of the trace, and nothing says by how much."""
AS_STATED: Basis = "as stated"
"""A schedule says itself how long computing takes, or --flop-rate does: nobody measured it."""
CLOCK = "clock"
CHAINS = "chains of sums"
CHAIN_RATIO = 4.0
"""How many times fewer cycles a sum may wait for the one before it on a processor of record: 1 on a
POWER2 of 67 MHz, and 4 on processors of 3 GHz."""
WORK_PER_CYCLE = 3.0
"""Where only clocks are known: how many times more work a cycle may hold on either core."""


class ComputingRatio(NamedTuple):
    """The ratio of computing times: the geometric mean, and that of each rate.

    `basis` is where they are from: "as measured" if computing is not scaled at all.
    """

    mean_ratio: float
    each_ratio: dict[str, float]
    basis: Basis = "as given"

    @property
    def low(self) -> float:
        """The ratio for a program limited only by the target's relatively best rate."""
        return min(self.each_ratio.values()) / self._doubt

    @property
    def high(self) -> float:
        """The ratio for a program limited only by the target's relatively worst rate."""
        return max(self.each_ratio.values()) * self._doubt

    @property
    def _doubt(self) -> float:
        return WORK_PER_CYCLE if set(self.each_ratio) == {CLOCK} else 1.0


def computing_ratio(baseline: Computing | None, target: Computing | None) -> ComputingRatio | None:
    """The ratio of computing time on the target to the baseline; None if no rate is comparable.

    The limiting rate of a program is unknown, so that all rates have equal weight. Processors of
    record are old: a sum there waits for fewer cycles.
    """
    names = {CLOCK: "clock_hz", "arithmetic": "flops_per_s", "memory": "memory_Bps"}
    ratios = {}
    for name, field in names.items():
        ours, theirs = getattr(baseline, field, None), getattr(target, field, None)
        if ours and theirs:
            ratios[name] = ours / theirs
    if CLOCK in ratios and target and target.processor and baseline and not baseline.processor:
        ratios[CHAINS] = ratios[CLOCK] / CHAIN_RATIO
    if not ratios:
        return None
    return ComputingRatio(
        math.exp(sum(map(math.log, ratios.values())) / len(ratios)), ratios, "by the cores"
    )


class GpuCopy(msgspec.Struct, frozen=True, kw_only=True):
    """Copies between two kinds of memory, such as "pinned-device", until the host knows the end.

    `latency_s` is the time of the fewest bytes that were copied, `rate_Bps` the rate of the most.
    """

    memory: str
    latency_s: float
    rate_Bps: float


class GpuPart(msgspec.Struct, frozen=True, kw_only=True):
    """What messages of one GPU's memory pay before the wire, in seconds; None: not measured.

    `launch_s` is an empty kernel until the host knows its end, `launch_returns_s` until the call
    returns, `wait_s` a wait for a stream that is empty, `flag_s` a flag in mapped host memory to
    the GPU and back.
    """

    name: str
    source: str
    launch_s: float | None = None
    launch_returns_s: float | None = None
    wait_s: float | None = None
    flag_s: float | None = None
    copies: tuple[GpuCopy, ...] = ()
