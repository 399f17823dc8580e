"""Messages of an algorithm that are followed, and what cannot be."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from nhalf.machines import catalogue
from nhalf.machines.change import change
from nhalf.machines.composed import RANKS_MAX, Composer
from nhalf.machines.curve import OVERHEAD_SHARE
from nhalf.machines.message import Messages
from nhalf.machines.parts import parts_of


def composer(*changes: str) -> Composer:
    machine = catalogue.machine("altix-bx2")
    messages = Messages(change(machine, changes) if changes else machine)
    return Composer(messages, parts_of(messages))


def test_a_linear_broadcast_of_two_ranks_is_a_message() -> None:
    followed = composer()
    message_s = float(followed.parts.functions["T"]([1024.0])[0])
    assert followed.time_s("bcast", "linear", 2, 1024) == pytest.approx(message_s, rel=1e-5)


@pytest.mark.parametrize("partners", [1, 2, 7])
def test_all_ranks_of_a_fan_begin_at_one_time(partners: int) -> None:
    """A first message that arrives later for one rank than for another would be in the rounds."""
    followed = composer()
    overhead_s = OVERHEAD_SHARE * float(followed.parts.functions["T"]([0.0])[0])
    time_s = followed.time_s("many-to-one", "followed", partners + 1, 0)
    assert time_s == pytest.approx(partners * overhead_s, rel=1e-6)


@pytest.mark.parametrize(
    "text",
    ["network.bandwidth=1e-12x", "network.bandwidth=1e-300x", "network.latency=1e300x"],
)
def test_times_beyond_virtual_time_are_not_followed(text: str) -> None:
    assert composer(text).time_s("bcast", "linear", 2, 1 << 20) is None


def test_what_is_unknown_or_too_many_messages_has_no_time() -> None:
    followed = composer()
    assert followed.time_s("bcast", "nonsense", 4, 8) is None
    assert followed.time_s("bcast", "linear", RANKS_MAX + 1, 8) is None
    assert followed.time_s("alltoall", "pairwise", 300, 8) is None
    assert followed.time_s("bcast", "linear", 4, 8) is not None


def test_a_limit_of_address_space_changes_no_answer() -> None:
    """The network takes 16 GiB of it where it may (ulimit -v)."""
    question = ("bcast", "scatter-allgather", 8, 65536)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    try:
        most_bytes = pages * resource.getpagesize() + (1 << 30)
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, limits[1]))
        time_s = composer().time_s(*question)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    assert time_s is not None
    assert time_s == composer().time_s(*question)
