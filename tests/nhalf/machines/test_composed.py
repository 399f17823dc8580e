"""Messages of an algorithm that are followed, and what cannot be."""

from __future__ import annotations

import pytest

from nhalf.base.errors import FailedError
from nhalf.machines import catalogue
from nhalf.machines.change import change
from nhalf.machines.composed import RANKS_MAX, Composer
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


def test_a_program_that_has_ended_is_told_in_a_line() -> None:
    followed = composer()
    followed.program.kill()
    followed.program.wait()
    with pytest.raises(FailedError, match="has ended"):
        followed.time_s("bcast", "linear", 4, 8)
