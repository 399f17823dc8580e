"""Delays that a traced program gets as if its network or a rank were slower: for the tracer.

`native/trace/inject.hpp` reads them from an environment variable.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nhalf.base.errors import InputError, unknown
from nhalf.base.units import parse_share, parse_time

VARIABLE = "NHALF_TRACE_INJECT"
TIMES = {"latency": "latency_s", "overhead": "overhead_s", "byte": "byte_s"}
NOISE, SLOW_RANK = "noise", "slow-rank"
NAMES = (*TIMES, NOISE, SLOW_RANK)
FORMS = "latency=5us, overhead=2us, byte=1ns, noise=1% or slow-rank=3:1.1"
FACTOR_MAX = 1000.0


@dataclass(frozen=True)
class Injection:
    """What is injected, by the names that the tracer reads; only into messages from and to some
    ranks, or completed by some calls, where such are named.
    """

    added: Mapping[str, float] = field(default_factory=dict)
    source_ranks: tuple[int, ...] = ()
    target_ranks: tuple[int, ...] = ()
    calls: tuple[str, ...] = ()

    @property
    def is_on_network(self) -> bool:
        """Whether messages are delayed."""
        return any(name in self.added for name in TIMES.values())

    @property
    def is_of_all_messages(self) -> bool:
        """Whether none are chosen."""
        return not (self.source_ranks or self.target_ranks or self.calls)

    def variable(self) -> str:
        """The value of VARIABLE; '' without anything to inject."""
        words = [f"{name}={amount!r}" for name, amount in self.added.items()]
        lists: dict[str, Sequence[object]] = {
            "from": self.source_ranks,
            "to": self.target_ranks,
            "calls": self.calls,
        }
        words += [f"{name}={','.join(map(str, some))}" for name, some in lists.items() if some]
        return " ".join(words) if self.added else ""


def parse_injection(
    texts: Sequence[str], calls: str = "", source_ranks: str = "", target_ranks: str = ""
) -> Injection:
    """What is to be injected; raises InputError for a text that says nothing, and for ranks or
    calls without a delay of messages.
    """
    amounts: dict[str, float] = {}
    for text in texts:
        amounts |= _amounts(text)
    injection = Injection(
        amounts,
        _ranks(source_ranks, "--from"),
        _ranks(target_ranks, "--to"),
        tuple(filter(None, (word.strip() for word in calls.split(",")))),
    )
    if (calls or source_ranks or target_ranks) and not injection.is_on_network:
        raise InputError(
            "--calls, --from and --to choose messages that are delayed",
            "name the delay: --inject latency=5us",
        )
    for call in injection.calls:
        if not call.startswith("MPI_"):
            raise InputError(f"{call} is no call of MPI", "write --calls MPI_Recv,MPI_Wait")
    return injection


def _amounts(text: str) -> dict[str, float]:
    name, equals, value = text.partition("=")
    if not equals or not value:
        raise InputError(f"--inject {text!r} injects nothing", f"write {FORMS}")
    if name in TIMES:
        return {TIMES[name]: parse_time(value)}
    if name == NOISE:
        return {"noise_share": parse_share(value)}
    if name != SLOW_RANK:
        raise unknown("delay", name, NAMES)
    rank, _, factor = value.partition(":")
    share = _factor(factor) - 1
    if not rank.isdecimal():
        raise InputError(f"--inject {text} names no rank", f"write {FORMS}")
    return {"slow_rank": int(rank), "slow_share": share}


def _factor(text: str) -> float:
    """How many times as long a rank computes; a tracer can only make it slower."""
    try:
        factor = float(text)
    except ValueError:
        factor = math.nan
    if not 1 < factor <= FACTOR_MAX:
        raise InputError(
            f"a rank cannot be made {text or 'so'} times as slow",
            f"give a factor above 1, {FACTOR_MAX:.0f} at most: slow-rank=3:1.1",
        )
    return factor


def _ranks(text: str, option: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not all(word.isdecimal() for word in words):
        raise InputError(f"{option} {text} are no ranks", f"write {option} 0,3")
    return tuple(map(int, words))
