"""What can be wrong with a study although it has the form of one: names that nothing has."""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from nhalf.base.errors import InputError, NhalfError, unknown
from nhalf.machines import catalogue
from nhalf.mpi.transport_files import kernels_of, program_files, transport_files
from nhalf.studies.counted import PREFIX
from nhalf.studies.derived import DERIVED
from nhalf.studies.form import Quantity, StudyForm

OF_KERNELS = frozenset({"class", "barriers", "threads"})
"""Axes of the kernels of an application, which no probe has."""


def check_names(path: Path, form: StudyForm) -> None:
    """Check the names and sizes in a study before anything is measured for it.

    Raises InputError with the place and the closest names for a machine, a pattern, a transport or
    an axis that is unknown, and for a size or an axis that cannot be read.
    """
    machines = catalogue.names()
    groups = [name for group in form.machines for name in group]
    _check(path, "machines", "machine of record", groups, machines)
    for conclusion in form.conclusion:
        _check(path, conclusion.id, "machine of this study", conclusion.drawn_on, groups)
        records = [*conclusion.not_of, *conclusion.contained_in]
        records += [conclusion.published.machine] if conclusion.published else []
        _check(path, conclusion.id, "machine of record", records, machines)
    for place, quantity in quantities(form):
        try:
            _check_quantity(path, place, quantity)
        except InputError as error:
            start = "" if str(path) in error.message else f"{path}: {place}: "
            raise InputError(f"{start}{error.message}", error.remedy) from error


def quantities(form: StudyForm) -> Iterator[tuple[str, Quantity]]:
    """Every number of a study, with the id of what it belongs to."""
    for table in form.table:
        yield from ((table.id, column.value) for column in table.column)
    yield from ((figure.id, figure.value) for figure in form.figure)
    for options in form.options:
        yield from ((options.id, quantity) for quantity in options.options.values())
    for conclusion in form.conclusion:
        yield conclusion.id, conclusion.value
        if conclusion.over is not None:
            yield conclusion.id, conclusion.over


def _check_quantity(path: Path, place: str, quantity: Quantity) -> None:
    if quantity.machine:
        _check(path, place, "machine of record", [quantity.machine], catalogue.names())
    if quantity.transport and len(transport_files()) > 1:
        _check(path, place, "transport", [quantity.transport], _transports())
    axes = _axes_by_pattern()
    if quantity.pattern and axes:
        _check(path, place, "pattern", [quantity.pattern], axes)
        of_kernel = OF_KERNELS if quantity.pattern.startswith(PREFIX) else frozenset[str]()
        _check(path, place, "axis", quantity.axes, axes[quantity.pattern] | of_kernel)
    quantity.axis_values(max(4, quantity.ranks))
    if quantity.size_bytes < 0 or quantity.ranks < 1:
        raise InputError("bytes must be at least 0, and ranks at least 1")


def _check(path: Path, place: str, kind: str, names: Iterable[str], allowed: Iterable[str]) -> None:
    """Raises InputError for a name that is not allowed."""
    for name in names:
        if name not in allowed:
            error = unknown(kind, name, allowed)
            raise InputError(f"{path}: {place}: {error.message}", error.remedy)


@cache
def _transports() -> frozenset[str]:
    """The transports of probes and of records."""
    recorded = {
        curve.transport for name in catalogue.names() for curve in catalogue.machine(name).models
    }
    return frozenset(transport_files()) | recorded


@cache
def _axes_by_pattern() -> dict[str, frozenset[str]]:
    """The axes of every pattern that a probe, a record or a result has; none without probes."""
    from nhalf.measure.probe.pattern import every_info

    try:
        infos = every_info()
    except NhalfError:
        return {}
    patterns = set(DERIVED)
    for program in program_files().values():
        patterns.update(f"{program.app}-{kernel}" for kernel in kernels_of(program))
    for machine in map(catalogue.machine, catalogue.names()):
        patterns.update(point.pattern for point in machine.points)
        patterns.update(curve.pattern for curve in machine.models)
        patterns.update(model.pattern for model in machine.patterns)
    axes = {name: frozenset[str]() for name in patterns}
    return axes | {name: frozenset(a.name for a in info.axes) for name, info in infos.items()}
