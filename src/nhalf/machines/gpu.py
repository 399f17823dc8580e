"""What a message of GPU memory pays on a machine's GPU before it is on the wire."""

import msgspec


class GpuCopy(msgspec.Struct, frozen=True, kw_only=True):
    """Copies between two kinds of memory, such as "pinned-device", until the host knows the end.

    `latency_s` is the time of the fewest bytes that were copied, `rate_Bps` the rate of the most.
    """

    memory: str
    latency_s: float
    rate_Bps: float


class GpuPart(msgspec.Struct, frozen=True, kw_only=True):
    """One GPU, in seconds; None if it was not measured.

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
