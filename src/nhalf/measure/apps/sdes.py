"""Differential cryptanalysis of simplified DES on shared arrays, a pattern of transports."""

import msgspec

from nhalf.base.errors import InputError, unknown
from nhalf.measure.apps import App, AppRequest, make_plan
from nhalf.measure.plan.axes import parse_ranks
from nhalf.measure.plan.plan import Block, Plan
from nhalf.measure.plan.planning import placed, placement_texts
from nhalf.measure.plan.request import words
from nhalf.sites.site import Site

ALL = "all"
SDES = "sdes"
"""The pattern."""
ACCESSES = ("for-all", "pointer", "block", "cast")
"""How the arrays are read: what other applications call kernels."""
TRANSPORTS = {"mpi": "rma", "threads": "threads"}
"""Transports by programming model; MPI reads with one-sided calls."""
KEYS_USUAL = "1024"


class Sdes(App):
    """Recovers every key and compares it with the original, which verifies the run."""

    title = "S-DES: keys of simplified DES recovered by differential cryptanalysis"

    def plan(self, request: AppRequest, site: Site) -> Plan:
        """Plan one block per programming model. Raises InputError for an impossible request."""
        if request.barrier or request.table:
            raise InputError("S-DES has no collective operations", "omit --barrier and --table")
        models = words(request.program)
        for model in models:
            if model not in TRANSPORTS:
                raise unknown("program", model, TRANSPORTS)
        blocks = [_block(request, site, model) for model in models]
        plan = make_plan(request, site, [TRANSPORTS[model] for model in models], blocks)
        return msgspec.structs.replace(plan, app=SDES)


def _block(request: AppRequest, site: Site, model: str) -> Block:
    accesses = words(request.kernel)
    for name in accesses:
        if name not in [ALL, *ACCESSES]:
            raise unknown("kernel", name, ACCESSES)
    text = request.ranks if model == "mpi" else request.threads or request.ranks
    block = Block(
        patterns=[SDES],
        ranks=parse_ranks(text, site.cores),
        bytes="0",
        axes={
            "access": ",".join(ACCESSES if ALL in accesses else accesses),
            "keys": ",".join(_keys(request)),
        },
        transports=[TRANSPORTS[model]],
    )
    if model != "mpi":
        return block
    block = msgspec.structs.replace(block, placements=placement_texts(request.placements))
    return placed(block, request.given, site)


def _keys(request: AppRequest) -> list[str]:
    """Parse numbers of keys. Raises InputError for anything else."""
    if "class_" not in request.given:
        return [KEYS_USUAL]
    key_counts = words(request.class_)
    for number in key_counts:
        if not number.isdecimal() or int(number) < 1:
            raise InputError(
                f"S-DES has no class {number}", "give --class a number of keys, such as 4096"
            )
    return key_counts
