"""Looks at pairs of hosts: which rounds are asked, whose time is whose, who is in all of them."""

from __future__ import annotations

from typing import Any

import pytest

from nhalf.base.errors import InputError
from nhalf.node.all_pairs import ROUNDS_MAX, AllPairs, all_pairs, common_host
from nhalf.sites.hosts import Host
from nhalf.sites.site import Site


class Ranks:
    """A probe with a rank on each host; in each round rank 0 meets the rank of its number."""

    def __init__(self, hosts: int) -> None:
        self.asked: list[dict[str, str]] = []
        self.launch = {
            "placement": [{"rank": rank, "host": f"n{rank}.cluster"} for rank in range(hosts)]
        }

    def send(self, line: str) -> None:
        self.asked.append(dict(word.split("=", 1) for word in line.split()))

    def receive(self, timeout_s: float, kind: str = "", identity: str = "") -> dict[str, Any]:
        point = self.asked[-1]
        assert point["id"] == identity
        peer = 1 + (int(point["axis.round"]) - 1) % (len(self.launch["placement"]) - 1)
        direction = point.get("axis.direction")
        time_s = {None: 1e-6, "up": 2e-3, "down": 1e-3}[direction] * peer
        pair = (0, peer) if direction != "down" else (peer, 0)
        rank_s = [0.0] * len(self.launch["placement"])
        rank_s[pair[0]] = time_s
        values = {f"peer_of_{pair[0]}": float(pair[1]), "flag_low_s": 1.0}
        return {"nhalf": "point", "verified": True, "rank_s": rank_s, "values": values}

    def kill(self) -> None: ...

    def __enter__(self) -> Ranks:
        return self

    def __exit__(self, *cause: Any) -> None: ...


def test_every_pair_has_its_latency_and_its_slower_way() -> None:
    look = AllPairs(Ranks(4)).look()
    assert look.times_s == pytest.approx(
        {
            **{f"latency n0 n{peer}": 1e-6 * peer for peer in (1, 2, 3)},
            **{f"transfer n0 n{peer}": 2e-3 * peer for peer in (1, 2, 3)},
        }
    )
    assert look.is_calm


@pytest.mark.parametrize(
    ("hosts", "first", "rounds"),
    [(2, 0, [1]), (3, 1, [2, 3, 1]), (4, 2, [3, 1, 2]), (12, 8, [9, 10, 11, 1, 2, 3, 4, 5])],
)
def test_of_many_rounds_each_gate_has_other_ones(hosts: int, first: int, rounds: list[int]) -> None:
    ranks = Ranks(hosts)
    AllPairs(ranks, first).look()
    asked = [int(point["axis.round"]) for point in ranks.asked]
    assert asked == [number for number in rounds for _ in range(3)]
    assert len(rounds) <= ROUNDS_MAX


def test_a_host_that_all_slow_pairs_have_is_named() -> None:
    assert common_host(["transfer n1 n3", "latency n2 n3"]) == "n3"
    assert common_host(["transfer n1 n3"]) == ""
    assert common_host(["transfer n1 n3", "latency n1 n3"]) == ""
    assert common_host(["transfer n1 n3", "latency n2 n4"]) == ""
    assert common_host(["core 0", "memory 0"]) == ""
    assert common_host([]) == ""


def test_one_host_has_no_pairs_and_threads_no_hosts() -> None:
    with pytest.raises(InputError, match="--hosts"), all_pairs(Site(), "mpi", "", 0):
        pass
    two = Site((Host("n1"), Host("n2")))
    with pytest.raises(InputError, match="one host"), all_pairs(two, "threads", "", 0):
        pass
