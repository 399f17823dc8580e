"""Eager limits beside the sizes that the program sends."""

from collections.abc import Iterator

import polars as pl

from nhalf.experiment.improve.candidates import CandidateSource
from nhalf.experiment.improve.change import Candidate, LaunchChange
from nhalf.experiment.improve.situation import MESSAGE_KINDS, Situation
from nhalf.facts.program.program import Program
from nhalf.mpi.switch import Affected
from nhalf.mpi.vendors import vendor_of

PROMISE_SHARE = 0.2
HEADER_BYTES = 256
"""What libraries add to a message, at most, as far as limits count it."""
LIMIT_BYTES_MAX = 4 << 20
"""Nobody wants larger messages in buffers."""
LEAST_BYTES = 64


class EagerLimits(CandidateSource):
    """For each limit of a transport in use one above and below the size that takes most time."""

    def candidates(self, situation: Situation) -> Iterator[Candidate]:
        """The limits of the library, as it names them; none without a trace."""
        library, program = situation.library, situation.program
        if library is None or program is None or situation.is_virtual:
            return
        vendor = vendor_of(library)
        limits = vendor.limits_in_use(
            vendor.eager_limits(library),
            situation.launch.words,
            situation.launch.variables,
            is_on_one_host=situation.is_on_one_host,
        )
        for parameter, limit_bytes in limits.items():
            variable = f"{vendor.parameter_prefix}{parameter}"
            present = situation.launch.variables.get(variable, "")
            now_bytes = int(present) if present.isdigit() else limit_bytes
            for limit in limits_beside(program, now_bytes):
                low, high = sorted((limit, now_bytes))
                yield situation.candidate(
                    f"{variable}={limit}",
                    f"the limit is {limit} bytes instead of {now_bytes}",
                    f"leave out {variable}={limit}",
                    LaunchChange({variable: str(limit)}, honoured_by=library.vendor),
                    Affected(messages=True, from_bytes=low - HEADER_BYTES, to_bytes=high),
                    PROMISE_SHARE,
                )


def limits_beside(program: Program, now_bytes: int) -> list[int]:
    """A limit that makes eager what takes most of what is not, and the other way round."""
    sent = program.calls.filter(pl.col("kind").is_in(MESSAGE_KINDS))
    by_size = sent.group_by("size_bytes").agg(pl.col("time_s").sum()).sort("time_s", "size_bytes")
    above = by_size.filter(pl.col("size_bytes") > now_bytes - HEADER_BYTES)["size_bytes"]
    below = by_size.filter(pl.col("size_bytes").is_between(LEAST_BYTES, now_bytes))["size_bytes"]
    limits = []
    if len(above) and above[-1] <= LIMIT_BYTES_MAX:
        limits.append(1 << int(above[-1] + HEADER_BYTES).bit_length())
    if len(below):
        limits.append(max(LEAST_BYTES, (1 << int(below[-1] - 1).bit_length()) // 2))
    return [limit for limit in limits if limit != now_bytes]
