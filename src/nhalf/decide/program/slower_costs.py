"""The costs of a network that is slower by some amounts: latency, overhead, time per byte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nhalf.decide.program.costs import Costs
from nhalf.decide.program.operation_paths import Paths, usual_path
from nhalf.facts.program.script import Work


@dataclass(frozen=True)
class Slower:
    """What a message takes in addition: on its way, in the processor of either end, per byte."""

    latency_s: float = 0.0
    overhead_s: float = 0.0
    byte_s: float = 0.0

    def messages_s(self, messages: float, size_bytes: float) -> float:
        """From the begin of the first send to the last arrival, of messages one after another."""
        return messages * (self.latency_s + 2 * self.overhead_s) + size_bytes * self.byte_s


class SlowerCosts(Costs):
    """The costs of a network, each message slower, but those of a rank to itself.

    `paths` says which messages of an operation follow each other.
    """

    def __init__(self, usual: Costs, slower: Slower, paths: Paths | None = None) -> None:
        self.rendezvous_bytes = usual.rendezvous_bytes
        self.calls_take_time = usual.calls_take_time
        self._usual = usual
        self._slower = slower
        self._paths = paths or usual_path

    def message_s(self, source: int, target: int, size_bytes: int) -> float:
        """The usual time and what is added."""
        usual_s = self._usual.message_s(source, target, size_bytes)
        return usual_s + self._added_s(source, target, size_bytes)

    def crossing_s(self, source: int, target: int, size_bytes: int) -> float:
        """The usual time and what is added."""
        usual_s = self._usual.crossing_s(source, target, size_bytes)
        return usual_s + self._added_s(source, target, size_bytes)

    def busy_s(self, source: int, target: int, size_bytes: int) -> tuple[float, float]:
        """The usual times and the overhead that is added to each."""
        sending_s, receiving_s = self._usual.busy_s(source, target, size_bytes)
        if source == target:
            return sending_s, receiving_s
        return sending_s + self._slower.overhead_s, receiving_s + self._slower.overhead_s

    def port_s(self, source: int, target: int, size_bytes: int) -> float:
        """The usual time, or what the bytes take if that is longer."""
        usual_s = self._usual.port_s(source, target, size_bytes)
        if source == target or usual_s == 0:
            return usual_s
        longer_s = size_bytes * self._slower.byte_s
        bytes_s = self._usual.message_s(source, target, size_bytes)
        bytes_s -= self._usual.message_s(source, target, 0)
        return max(usual_s, bytes_s + longer_s)

    def collective_s(self, call: str, ranks: Sequence[int], size_bytes: int) -> float:
        """The usual time and what is added to its messages."""
        usual_s = self._usual.collective_s(call, ranks, size_bytes)
        path = self._paths(call, len(ranks), size_bytes)
        return usual_s + self._slower.messages_s(path.messages, path.bytes)

    def leave(self, work: Work, seat: int) -> tuple[float, float]:
        """The usual shares."""
        return self._usual.leave(work, seat)

    def _added_s(self, source: int, target: int, size_bytes: int) -> float:
        return 0.0 if source == target else self._slower.messages_s(1, size_bytes)
