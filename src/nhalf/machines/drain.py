"""Predicted times of receives from a queue, by its depth and the order of the receives."""

from collections.abc import Iterator, Sequence

from nhalf.base.carrier import carrier
from nhalf.base.errors import InputError, library_named, unknown
from nhalf.base.rows import Row
from nhalf.machines.machine import Machine, PatternModel
from nhalf.store.keys import parse_axes


def predict_drain(
    machine: Machine,
    way: str,
    depths: Sequence[int],
    sizes: Sequence[int],
    mpi: str = "",
    *,
    extrapolate: bool = False,
) -> list[Row]:
    """Predict the time of a message in every queue and order known, or in one ('posted/any').

    A row has `algorithm` (the way), `ranks`, `bytes`, `depth`, `time_s` of a message with its
    `interval_s` by the errors of the model (None: unknown), `total_s` of all `depth` messages, and
    `extrapolated`. Raises InputError if the machine has no model of queues, several libraries have
    one and none is named, or something was not measured and `extrapolate` is not set.
    """
    by_way: dict[tuple[str, str], list[PatternModel]] = {}
    for model in _models(machine, mpi):
        axes = parse_axes(model.axes)
        by_way.setdefault((f"{axes['queue']}/{axes['order']}", axes["ranks"]), []).append(model)
    names = sorted({name for name, _ in by_way})
    if way and way not in names:
        raise unknown("queue and order", way, names)
    chosen = {key: models for key, models in by_way.items() if way in ("", key[0])}
    return [
        {"algorithm": name, "ranks": int(ranks), **row}
        for (name, ranks), regions in chosen.items()
        for row in _rows(name, regions, depths, sizes, extrapolate)
    ]


def _models(machine: Machine, mpi: str) -> list[PatternModel]:
    models = [model for model in machine.patterns if model.counts == "depth"]
    if not models:
        remedy = "measure one: nhalf run --pattern drain --bytes 8, then nhalf fit"
        raise InputError(f"{machine.name} has no model of queues", remedy)
    libraries = sorted({carrier(model.mpi, model.transport) for model in models})
    if len(libraries) > 1 and not mpi:
        reason = f"{machine.name} has queues of {', '.join(libraries)}"
        raise InputError(reason, "name one: --mpi NAME")
    name = library_named(mpi, libraries) if mpi else libraries[0]
    return [model for model in models if carrier(model.mpi, model.transport) == name]


def _rows(
    way: str,
    regions: Sequence[PatternModel],
    depths: Sequence[int],
    sizes: Sequence[int],
    extrapolate: bool,
) -> Iterator[Row]:
    """A row for each size and depth, by the model that covers it, else by the first."""
    for size, depth in ((size, depth) for size in sizes for depth in depths):
        covering = [model for model in regions if model.covers(size, depth)]
        if not covering and not extrapolate:
            remedy = "choose what was measured, or allow more with --extrapolate"
            raise InputError(f"{way} was not measured with {depth} messages of {size} B", remedy)
        model = (covering or regions)[0]
        time_s, error = model.time_s(size, depth), model.heldout_ranks_p95
        yield {
            "bytes": size,
            "depth": depth,
            "part_bytes": None,
            "time_s": time_s,
            "total_s": depth * time_s,
            "interval_s": None if error is None else (time_s / (1 + error), time_s * (1 + error)),
            "extrapolated": not covering,
        }
