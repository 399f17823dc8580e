"""What is injected, as typed and as the tracer reads it."""

from __future__ import annotations

import pytest

from nhalf.base.errors import InputError
from nhalf.measure.traced.start import parse_injection


def test_delays_are_written_for_the_tracer() -> None:
    injection = parse_injection(
        ["latency=5 s", "byte=1 s", "slow-rank=3:1.5"], "MPI_Recv, MPI_Wait", "0,1", "2"
    )
    words = injection.variable().split()
    assert words == [
        "latency_s=5.0",
        "byte_s=1.0",
        "slow_rank=3",
        "slow_share=0.5",
        "from=0,1",
        "to=2",
        "calls=MPI_Recv,MPI_Wait",
    ]
    assert injection.is_on_network


def test_nothing_is_nothing() -> None:
    assert parse_injection([]).variable() == ""
    assert not parse_injection(["noise=1%"]).is_on_network


@pytest.mark.parametrize(
    ("texts", "more", "message"),
    [
        (["latency"], {}, "injects nothing"),
        (["latency="], {}, "injects nothing"),
        (["latency=5"], {}, "time"),
        (["latency=-5us"], {}, "time"),
        (["delay=5us"], {}, "delay"),
        (["noise=3.5"], {}, "fraction"),
        (["slow-rank=3"], {}, "times as slow"),
        (["slow-rank=3:0.5"], {}, "times as slow"),
        (["slow-rank=3:nan"], {}, "times as slow"),
        (["slow-rank=x:2"], {}, "no rank"),
        (["noise=1%"], {"calls": "MPI_Recv"}, "choose messages"),
        (["latency=1us"], {"source_ranks": "a"}, "no ranks"),
        (["latency=1us"], {"calls": "Recv"}, "no call"),
    ],
)
def test_what_cannot_be_injected_is_refused(
    texts: list[str], more: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        parse_injection(texts, **more)
