# SPDX-License-Identifier: Apache-2.0
"""Differential cryptanalysis of simplified DES on shared arrays, a pattern of transports."""

from __future__ import annotations

import msgspec

from nhalf.base.errors import InputError, unknown
from nhalf.measure.apps import App, AppRequest, planned
from nhalf.measure.plan.axes import parse_ranks
from nhalf.measure.plan.plan import Block, Plan
from nhalf.measure.plan.planning import check_hosts, placed, placements, words
from nhalf.sites.site import Site

ALL = "all"
SDES = "sdes"
"""The pattern."""
ACCESSES = ("for-all", "pointer", "block", "cast")
"""How the arrays are read: what other applications call kernels."""
TRANSPORTS = {"mpi": "rma", "threads": "threads"}
"""By programming model; those of MPI read by one-sided calls."""
KEYS_USUAL = "1024"


class Sdes(App):
    """Every key is recovered and compared: that is its verification."""

    title = "S-DES: keys of simplified DES recovered by differential cryptanalysis"

    def plan(self, asked: AppRequest, site: Site) -> Plan:
        """One block for each programming model. Raises InputError for what cannot be."""
        if asked.barrier or asked.table:
            raise InputError("S-DES has no collective operations", "omit --barrier and --table")
        models = words(asked.program)
        for model in models:
            if model not in TRANSPORTS:
                raise unknown("program", model, TRANSPORTS)
        blocks = [_block(asked, site, model) for model in models]
        if "placement" in asked.given:
            check_hosts(blocks, site)
        plan = planned(asked, [TRANSPORTS[model] for model in models], blocks)
        return msgspec.structs.replace(plan, app=SDES)


def _block(asked: AppRequest, site: Site, model: str) -> Block:
    accesses = words(asked.kernel)
    for name in accesses:
        if name not in [ALL, *ACCESSES]:
            raise unknown("kernel", name, ACCESSES)
    text = asked.ranks if model == "mpi" else asked.threads or asked.ranks
    block = Block(
        patterns=[SDES],
        ranks=parse_ranks(text, site.cores),
        bytes="0",
        axes={
            "access": ",".join(ACCESSES if ALL in accesses else accesses),
            "keys": ",".join(_keys(asked)),
        },
        transports=[TRANSPORTS[model]],
    )
    if model != "mpi":
        return block
    block = msgspec.structs.replace(block, placements=placements(asked.placement))
    return placed(block, asked.given, site)


def _keys(asked: AppRequest) -> list[str]:
    """Numbers of keys. Raises InputError for anything else."""
    if "class_" not in asked.given:
        return [KEYS_USUAL]
    found = words(asked.class_)
    for number in found:
        if not number.isdecimal() or int(number) < 1:
            raise InputError(
                f"S-DES has no class {number}", "give --class a number of keys, such as 4096"
            )
    return found
