"""Simulated machines, as options name them for verbs that measure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from nhalf.base.errors import InputError
from nhalf.base.numbers import fixed
from nhalf.base.printable import say
from nhalf.base.units import parse_share
from nhalf.sites.placement import Placement

if TYPE_CHECKING:
    from nhalf.machines.computing import ComputingRatio
    from nhalf.machines.wires import Noise
    from nhalf.measure.plan.request import OnMachine
    from nhalf.measure.virtual.machine import VirtualMachine

FACTOR_MAX = 1000.0
"""Slower processors are refused."""
NOISE_MAX = 10.0
SEED_MAX = 2**63 - 1
_MEASURED = re.compile(r"measured:(\d+(?:\.\d+)?)")
OF_HOSTS = ("hosts", "host_file", "launcher")
"""Options that have no meaning without hosts."""
OF_MACHINES = ("noise", "computing")
"""Options that have no meaning on hosts."""


def virtual_machine(
    request: OnMachine, ranks: str, seed: int, placements: Sequence[Placement], cores_least: int = 0
) -> VirtualMachine | None:
    """The machine that a request names, with nodes for its ranks; None for real hosts.

    Where ranks are as many as cores, there are `cores_least`. Raises InputError for an unknown
    machine, and for options that go with hosts only.
    """
    if not request.machine:
        for name in OF_MACHINES:
            if name in request.given:
                raise InputError(f"--{name} goes with --machine", "name one, or leave it out")
        return None
    for name in OF_HOSTS:
        if name in request.given:
            raise InputError(
                f"--{name.replace('_', '-')} does not go with --machine",
                "all ranks of a simulated machine run on this host: leave it out",
            )
    from nhalf.cli.sides import machine_and_library
    from nhalf.machines.message import Messages
    from nhalf.measure.simulate.session import numbers_of, ranks_asked
    from nhalf.measure.virtual.machine import CORES_USUAL, VirtualMachine

    if "cores" in ranks:
        cores_least = max(cores_least, CORES_USUAL)
    most = max(ranks_asked(ranks, placements), cores_least)
    messages = Messages(*machine_and_library(request.machine))
    machine = VirtualMachine.for_ranks(messages, {most, *numbers_of(ranks)}, placements)
    return replace(
        machine,
        noise=noise_of(request.noise, seed),
        computing_factor=computing_factor(request.computing),
    )


def in_words(machine: VirtualMachine) -> str:
    """Whether launches in virtual time are equal, and why not."""
    if machine.is_exact:
        return "launches are equal, so there is one"
    noise = machine.noise
    reasons = [
        f"a noise of {100 * noise.share:g} % by seed {noise.seed}" if noise.share else "",
        "computing, which is measured here" if machine.computing_factor else "",
    ]
    return f"launches differ by {' and '.join(filter(None, reasons))}"


def noise_of(text: str, seed: int) -> Noise:
    """The noise that options give; raises InputError for too much of it."""
    from nhalf.machines.wires import Noise

    share = parse_share(text) if text else 0.0
    if text and (share > NOISE_MAX or seed > SEED_MAX):
        raise InputError(
            f"--noise {text} --seed {seed} is too much",
            f"take a share up to {100 * NOISE_MAX:.0f}% and a seed up to {SEED_MAX}",
        )
    return Noise(share, seed)


def computing_factor(computing: str) -> float:
    """The factor of the processors' time; 0 for none. Says that of a processor; raises InputError
    for a text that is no way to count computing.
    """
    return computing_ratio(computing).mean_ratio


def computing_ratio(computing: str) -> ComputingRatio:
    """The factor, with how far it may be off for a processor; the rest as `computing_factor`."""
    from nhalf.machines.computing import ComputingRatio

    if computing == "none":
        return ComputingRatio(0.0, {"none": 0.0})
    match = _MEASURED.fullmatch(computing)
    typed_factor = float(match[1]) if match else 0.0
    ratio = (
        ComputingRatio(typed_factor, {"given": typed_factor})
        if match
        else _ratio_of_processor(computing)
    )
    if ratio is None or not 0 < ratio.mean_ratio <= FACTOR_MAX:
        raise InputError(
            f"{computing!r} is not a way to count computing",
            f"write none, measured:FACTOR or a processor, with a factor up to {FACTOR_MAX:.0f}",
        )
    return ratio


def _ratio_of_processor(name: str) -> ComputingRatio | None:
    """How many times longer than here a processor computes; None for a name that is none."""
    from nhalf.machines.processor import time_ratio
    from nhalf.machines.processor_file import names
    from nhalf.node.described import HERE, described

    if name not in names() and not name.endswith(".toml"):
        return None
    ratio = time_ratio(described(HERE), described(name))
    say(
        f"computing takes {fixed(ratio.mean_ratio, 1)} times as long on {name} as here "
        f"({fixed(ratio.low, 1)} to {fixed(ratio.high, 1)} by {', '.join(ratio.each_ratio)})"
    )
    return ratio
