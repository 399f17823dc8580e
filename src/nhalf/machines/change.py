"""What if: a changed machine, 'network.bandwidth=2x', with all consequences of the change.

A change of a part changes the messages that pass through it: in simulators that separate the two,
links of twice the rate have no effect. So

- `network.bandwidth` changes links, adapters and, by the same factor, the per-byte time of every
  ping-pong between nodes;
- `network.latency` changes the latency of a link and, by the same factor, of every ping-pong
  between nodes that part of t0 which processors do not spend: t0 - o_s - o_r;
- `node.memory` changes the memory of a node and the per-byte time of every ping-pong within one;
- `protocol.rendezvous` moves the border between two segments that lies at the old threshold;
- `network.topology` removes curves of ranks farther apart, which held for the old topology.

Where o_s and o_r are unknown, each is taken to be OVERHEAD_SHARE of the first segment's t0, and
kept as such in the changed machine, so that later changes apply to the same part.
Published data of the original machine (patterns, points, operations) do not hold for a changed one,
and are left out; so are intervals and errors of fits.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from nhalf.base.errors import InputError, unknown
from nhalf.base.units import parse_rate, parse_size, parse_time
from nhalf.machines.changed_curves import (
    curve_with_latency_factor,
    loggp_with_latency_factor,
    loggp_with_rate_factor,
    nearest_only,
    overhead_s,
    with_border,
    with_rate_factor,
)
from nhalf.machines.curve import OVERHEAD_SHARE, is_between_nodes, is_message, loggp_of
from nhalf.machines.machine import FittedModel, LogGP, Machine, Network, Node, Protocol
from nhalf.machines.shared import shared_with_rate_factor
from nhalf.machines.topology import SharedMemory, parse_topology

_FACTOR = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+))?")


def rate_Bps(text: str) -> float:
    """Bytes per second, written '12 GB/s' or, as SimGrid has it, '12GBps'."""
    return parse_rate(re.sub(r"(?<=B)ps$", "/s", text.strip()))


Reader = Callable[[str], float]
READERS: dict[str, tuple[Reader, str]] = {
    "rate": (rate_Bps, "2x, /2, +1GBps or 12GBps"),
    "time": (parse_time, "2x, /2, +1us or 0.5us"),
    "size": (lambda text: float(parse_size(text)), "2x, /2, +4K or 64K"),
}
"""The parser of each kind of value, and examples of its changes."""


@dataclass(frozen=True)
class Amount:
    """A factor, or else a new value or, if it `adds`, a difference.

    The value has the unit of the quantity that it changes.
    """

    factor: float | None = None
    value: float = 0.0
    adds: bool = False

    def of(self, before: float | None, name: str) -> float | None:
        """The changed quantity; None if it is unknown and this is a factor.

        Raises InputError if the result would not be positive and finite, or if the quantity to
        add to is unknown.
        """
        if self.factor is None and not self.adds:
            return self.value
        if before is None:
            if self.factor is not None:
                return None
            raise InputError(f"{name} is unknown", "give a factor, such as 2x, or a value")
        after = before + self.value if self.factor is None else before * self.factor
        if not 0 < after < math.inf:
            raise InputError(f"{name} would be {after:g}", "it has to stay above 0 and finite")
        return after


def parse_amount(text: str, kind: str) -> Amount:
    """An amount of one of the kinds in READERS; raises InputError for anything else."""
    reader, example = READERS[kind]
    words = text.strip()
    try:
        if words[-1:] in ("x", "×") or words[:1] in ("/", "÷"):
            return Amount(factor=_amount_factor(words))
        if words[:1] in ("+", "-"):
            size = _positive(reader(words[1:]))
            return Amount(value=size if words[0] == "+" else -size, adds=True)
        return Amount(value=_positive(reader(words)))
    except (InputError, OverflowError, ZeroDivisionError):
        raise InputError(f"{text!r} is no change of a {kind}", f"write {example}") from None


def _amount_factor(words: str) -> float:
    """Parse a factor: '2x' is 2, '/2' is 0.5."""
    divides = words[0] in "/÷"
    digits = (words[1:] if divides else words[:-1]).strip()
    if _FACTOR.fullmatch(digits) is None:
        raise InputError(f"{words!r} is no factor")
    factor = _positive(float(digits))
    return _positive(1 / factor if divides else factor)


def _positive(value: float) -> float:
    if not 0 < value < math.inf:
        raise InputError("it has to be above 0 and finite")
    return value


NODE_RANKS_MAX = 2**20

replace = msgspec.structs.replace

Assumed = list[str]
"""What has to be assumed for a change: each adds its own."""


def change(machine: Machine, changes: Sequence[str]) -> Machine:
    """The machine after the changes, in their order; each is 'NAME=VALUE' with a name of NAMES.

    A name may end with its unit (`network.bandwidth_Bps`). Name and title list the changes,
    `assumptions` also what had to be assumed. Raises InputError for a text that is no change, and
    if the machine has nothing that the change applies to.
    """
    if not changes:
        return machine
    changed, assumed = machine, list[str]()
    for text in changes:
        name, value = _parsed(text)
        changed = NAMES[name](changed, value, assumed)
    changes_text = ", ".join(text.strip() for text in changes)
    further = [words for words in dict.fromkeys(assumed) if words not in machine.assumptions]
    return replace(
        changed,
        name=_named(machine.name, changes_text),
        title=_named(machine.title, changes_text) if machine.title else "",
        patterns=(),
        operations=(),
        points=(),
        assumptions=(*machine.assumptions, f"changed: {changes_text}", *further),
    )


def _named(name: str, changes_text: str) -> str:
    """The name with changes: 'altix-bx2 (network.bandwidth=2x)'; all share the brackets."""
    has_brackets = name.endswith(")") and " (" in name and "=" in name.rpartition(" (")[2]
    return f"{name[:-1]}, {changes_text})" if has_brackets else f"{name} ({changes_text})"


def _parsed(text: str) -> tuple[str, str]:
    """The known name and the value; raises InputError for a text without them."""
    name, equals, value = text.partition("=")
    name, value = name.strip(), value.strip()
    for unit in ("_Bps", "_s", "_bytes"):
        if name.removesuffix(unit) in NAMES:
            name = name.removesuffix(unit)
    if not equals or not name or not value:
        raise InputError(f"{text!r} changes nothing", "write NAME=VALUE: " + ", ".join(NAMES))
    if name not in NAMES:
        raise unknown("change", name, NAMES)
    return name, value


def _network(machine: Machine) -> Network:
    """The network that links the nodes; raises InputError if there is one node only."""
    if machine.network is None or isinstance(machine.network.topology, SharedMemory):
        raise InputError(
            f"{machine.name} has no network", "give it one first: network.topology=crossbar"
        )
    return machine.network


def _factor(before: float | None, after: float | None, factor: float | None, name: str) -> float:
    """The factor of a change: as given, or the ratio of the values after and before."""
    if factor is not None:
        return factor
    if before and after:
        return after / before
    raise InputError(f"{name} is unknown", "give a factor, such as 2x: it changes the curves")


def _changed_loggp(
    machine: Machine, change_one: Callable[[LogGP, float], LogGP], factor: float, *, between: bool
) -> tuple[LogGP, ...]:
    """All LogGP parameters, with those between nodes, or within one, changed by a factor."""
    return tuple(
        change_one(loggp, factor) if is_between_nodes(loggp.placement) == between else loggp
        for loggp in machine.loggp
    )


def _bandwidth(machine: Machine, text: str, _: Assumed) -> Machine:
    network, amount = _network(machine), parse_amount(text, "rate")
    name = f"the bandwidth of a link of {machine.name}"
    after = amount.of(network.bandwidth_Bps, name)
    if amount.factor is None and not network.bandwidth_Bps and not _between(machine):
        return replace(machine, network=replace(network, bandwidth_Bps=after))
    factor = _factor(network.bandwidth_Bps, after, amount.factor, name)
    adapter_Bps = None if network.adapter_Bps is None else network.adapter_Bps * factor
    return replace(
        with_rate_factor(machine, factor, between=True),
        network=replace(network, bandwidth_Bps=after, adapter_Bps=adapter_Bps),
        shared=shared_with_rate_factor(machine.shared, ("adapter", "bus", "medium"), factor),
        loggp=_changed_loggp(machine, loggp_with_rate_factor, factor, between=True),
    )


def _adapter(machine: Machine, text: str, _: Assumed) -> Machine:
    """Change only adapters: a single message slows down only if the adapter is slower than it."""
    network = _network(machine)
    name = f"the rate of an adapter of {machine.name}"
    after = parse_amount(text, "rate").of(network.adapter_Bps, name)
    if after is None:
        raise InputError(f"{name} is unknown", "give a value, such as 1GBps")
    return replace(machine, network=replace(network, adapter_Bps=after))


def _memory(machine: Machine, text: str, _: Assumed) -> Machine:
    node, amount = machine.node or Node(), parse_amount(text, "rate")
    name = f"the memory bandwidth of a node of {machine.name}"
    after = amount.of(node.memory_Bps, name)
    within = [m for m in machine.models if is_message(m) and not is_between_nodes(m.placement)]
    if amount.factor is None and not node.memory_Bps and not within:
        return replace(machine, node=replace(node, memory_Bps=after))
    if node.memory_Bps is None and not within:
        raise InputError(f"{name} is unknown", "give a value, such as 10GBps")
    factor = _factor(node.memory_Bps, after, amount.factor, name)
    return replace(
        with_rate_factor(machine, factor, between=False),
        node=replace(node, memory_Bps=after),
        shared=shared_with_rate_factor(machine.shared, ("memory",), factor),
        loggp=_changed_loggp(machine, loggp_with_rate_factor, factor, between=False),
    )


def _between(machine: Machine) -> list[FittedModel]:
    return [m for m in machine.models if is_message(m) and is_between_nodes(m.placement)]


def _latency(machine: Machine, text: str, assumed: Assumed) -> Machine:
    network, amount = _network(machine), parse_amount(text, "time")
    name = f"the latency of a link of {machine.name}"
    after = amount.of(network.latency_s, name)
    curves = _between(machine)
    if amount.factor is None and not network.latency_s and not curves:
        return replace(machine, network=replace(network, latency_s=after))
    factor = _factor(network.latency_s, after, amount.factor, name)
    machine = _with_overheads(machine, curves, assumed)
    models = tuple(
        curve_with_latency_factor(machine, model, factor) if model in curves else model
        for model in machine.models
    )
    loggp = _changed_loggp(machine, loggp_with_latency_factor, factor, between=True)
    network = replace(network, latency_s=after)
    return replace(machine, network=network, models=models, loggp=loggp)


def _with_overheads(machine: Machine, curves: Sequence[FittedModel], assumed: Assumed) -> Machine:
    """The machine with overheads for every curve; unknown ones are assumed."""
    for model in curves:
        if overhead_s(machine, model) is not None or not model.segments:
            continue
        share_s = OVERHEAD_SHARE * model.segments[0].t0_s
        own = loggp_of(machine, model)
        if own is None or own.placement != model.placement:
            own = LogGP(
                transport=model.transport,
                mpi=model.mpi,
                ranks=model.ranks,
                placement=model.placement,
            )
        added = replace(own, send_overhead_s=share_s, recv_overhead_s=share_s)
        other_loggp = (parameters for parameters in machine.loggp if parameters is not own)
        machine = replace(machine, loggp=(*other_loggp, added))
        assumed.append(
            f"send and receive overhead are {OVERHEAD_SHARE:.0%} of t0 each: they are unknown"
        )
    return machine


def _topology(machine: Machine, text: str, assumed: Assumed) -> Machine:
    topology = parse_topology(text)
    network = machine.network or Network(topology=topology)
    if not isinstance(topology, SharedMemory) and not _between(machine):
        assumed.append("no message between nodes is known: it costs what one within a node does")
    models = nearest_only(machine.models)
    if len(models) < len(machine.models):
        assumed.append("all other nodes are as near as the nearest, but for links shared")
    return replace(machine, network=replace(network, topology=topology), models=models)


def _ranks(machine: Machine, text: str, _: Assumed) -> Machine:
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:9]) <= NODE_RANKS_MAX):
        raise InputError(f"{text!r} is not a number of ranks of a node", "write 1, 2, 4 or more")
    return replace(machine, node=replace(machine.node or Node(), ranks=int(text)))


def _rendezvous(machine: Machine, text: str, assumed: Assumed) -> Machine:
    old = None if machine.protocol is None else machine.protocol.rendezvous_bytes
    name = f"the rendezvous threshold of {machine.name}"
    changed_bytes = parse_amount(text, "size").of(old, name)
    after = None if changed_bytes is None else round(changed_bytes)
    if not after:
        raise InputError(f"{name} is unknown", "give a size, such as 64K")
    protocol = replace(machine.protocol or Protocol(), rendezvous_bytes=after)
    models = machine.models
    if old is not None:
        models = tuple(with_border(m, old, after) if is_message(m) else m for m in models)
    if models == machine.models:
        assumed.append("no curve shows the old rendezvous threshold: times stay as they are")
    return replace(machine, protocol=protocol, models=models)


NAMES: dict[str, Callable[[Machine, str, Assumed], Machine]] = {
    "network.bandwidth": _bandwidth,
    "network.latency": _latency,
    "network.adapter": _adapter,
    "network.topology": _topology,
    "node.ranks": _ranks,
    "node.memory": _memory,
    "protocol.rendezvous": _rendezvous,
}
"""All changes by name."""
