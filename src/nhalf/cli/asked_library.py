"""The library that --mpi names where a traced program is predicted: of the machine, or asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nhalf.base.errors import InputError, NhalfError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nhalf.decide.program.asked_operations import AskedOperations
    from nhalf.facts.program.program import Program
    from nhalf.machines.machine import Machine
    from nhalf.machines.message import Messages
    from nhalf.mpi import Library


def messages_and_library(
    machine: Machine, of_machine: str, name: str
) -> tuple[Messages, Library | None, str]:
    """The messages of a machine, the library to be asked, and why there is none.

    `of_machine` is that of MACHINE:LIBRARY, `name` that of --mpi; '' for none. Raises InputError
    for a name that is neither of the machine nor of a library that may be installed.
    """
    from nhalf.machines.message import Messages
    from nhalf.mpi.discover import find
    from nhalf.mpi.vendors import vendors

    own = Messages(machine, name or of_machine)
    if not name:
        return own, None, ""
    try:
        own_name = own.library
    except InputError:
        # Curves of another library that was measured say nothing of this one.
        names = {library.partition("-")[0] for library in own.libraries}
        if name.partition("-")[0] not in vendors() or names & vendors().keys():
            raise
        own_name, own = "", Messages(machine, of_machine)
    if own_name and own_name.partition("-")[0] not in vendors():
        return own, None, ""
    try:
        library = find(name)
    except NhalfError as error:
        return own, None, "" if own_name else f"{error.message}: {error.remedy}"
    # What another version did there was measured; this one would answer otherwise.
    return own, library if own_name in ("", library.name) else None, ""


def asked_operations(
    messages: Messages,
    library: Library,
    programs: Sequence[Program],
    hosts: Sequence[str],
    say: Callable[[str], None],
) -> AskedOperations:
    """What a library answers of the operations of programs whose ranks are on these hosts.

    Of a machine that was measured with the library, only what was not measured is asked for, and
    nothing within one node, where the library has ways that virtual time has not.
    """
    from nhalf.decide.program.asked_operations import AskedOperations, works_of
    from nhalf.decide.program.costs import MachineCosts
    from nhalf.measure.virtual.asked import LIMIT_S, AskedLibrary
    from nhalf.measure.virtual.machine import START_MOST, start_s
    from nhalf.mpi.discover import libraries

    ask = AskedLibrary(messages, library, libraries(), say).times_s
    title = f"{library.vendor_title or library.vendor} {library.version}"
    operations = AskedOperations(library.name, title, messages, ask)
    numbers: dict[str, int] = {}
    nodes = [numbers.setdefault(host, len(numbers)) for host in hosts]
    works = {work for program in programs for work in works_of(program)}
    if messages.library == library.name:
        costs = MachineCosts(messages, hosts)
        works = {work for work in works if len(numbers) > 1 and not costs.is_measured(*work)}
    if START_MOST * start_s(library, len(hosts)) > LIMIT_S:
        operations.refusals.add(f"{len(hosts)} ranks take too long to start in virtual time here")
    else:
        operations.prepare(works, nodes)
    return operations
