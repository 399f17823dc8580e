"""A library on the virtual network: as a subject of measurement, and asked what operations take.

Every answer is kept in the cache folder, by all that it depends on: the network between the ranks,
the library with the variables and files that set it, and the programs of nhalf. What was not
answered in time is left out, and asked again the next time.
"""

import dataclasses
import functools
import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import ClassVar, NamedTuple

import msgspec

from nhalf.base.errors import InputError, MissingError, NhalfError
from nhalf.base.folders import cache_folder, need_own, write_cached
from nhalf.base.operations import TABLE
from nhalf.base.version import __version__
from nhalf.machines.message import Messages
from nhalf.machines.wires import description
from nhalf.measure.probe.process import NOBODY, LaunchError, Probe
from nhalf.measure.probe.subject import Open, Subject, library_subject
from nhalf.measure.traced.layout import REGION
from nhalf.measure.virtual.machine import VirtualMachine
from nhalf.measure.virtual.region import Region, VirtualProgress
from nhalf.measure.virtual.start import BYPASS, error_of, provider, start_virtually, surroundings
from nhalf.mpi import Library
from nhalf.mpi.identify import stamps_of
from nhalf.mpi.vendors import vendor_of
from nhalf.sites.health import Examiner
from nhalf.sites.placement import CORES
from nhalf.sites.site import HERE, Site
from nhalf.statistics.summary import VIRTUAL, VIRTUAL_NOISE


class BypassError(LaunchError):
    """Messages did not pass the network."""

    is_final: ClassVar[bool] = True


@dataclass(frozen=True)
class VirtualRanks:
    """The ranks of a launch: what lies between them, how many, on which library.

    `progress` is told how far they are.
    """

    wires: str
    number: int
    library: Library
    progress: VirtualProgress


class VirtualProbe(Probe):
    """A running launch whose ranks share a region: they say themselves why they cannot go on.

    A rank that waits for the next point holds up the others outside MPI, so that virtual time
    stands until it comes.
    """

    def __init__(
        self,
        ranks: VirtualRanks,
        tokens: Sequence[str],
        environment: Mapping[str, str],
        timeout_s: float,
        examiner: Examiner,
    ) -> None:
        """Start the processes as `Probe` does, on the network between these ranks."""
        self._virtual_ranks = ranks
        self._region = Region(ranks.wires)
        own = {**environment, REGION: str(self._region.path)}
        try:
            super().__init__(tokens, own, timeout_s, examiner, surroundings())
        except BaseException:
            self._region.close()
            raise

    def _look(self, timeout_s: float) -> list[int]:
        """Wait as `Probe` does; raises LaunchError once the ranks have stopped."""
        ready = super()._look(timeout_s)
        self._virtual_ranks.progress.look(self._region.members(self._virtual_ranks.number))
        if stopped := self._region.stopped:
            reason = str(error_of(stopped, self._virtual_ranks.library))
            if stopped.kind == "abort":
                reason += self._last_words()
            raise (BypassError if reason.startswith(BYPASS) else LaunchError)(reason)
        return ready

    def kill(self) -> None:
        """End every process of the launch."""
        super().kill()
        self._region.kill_ranks(self._virtual_ranks.number)
        self._region.close()


@dataclass(frozen=True)
class OnNetwork:
    """The network below a library: its machine, and the libraries that may lend libfabric."""

    machine: VirtualMachine
    installed: tuple[Library, ...]


@dataclass(frozen=True)
class VirtualSubject(Subject):
    """A library whose messages take a machine file's times."""

    network: OnNetwork | None = None

    @property
    def is_exact(self) -> bool:
        """Every launch takes the same virtual time, unless something differs on purpose."""
        return self._parts[0].machine.is_exact

    @property
    def advice(self) -> tuple[str, ...]:
        """That times are virtual."""
        return (VIRTUAL if self.is_exact else VIRTUAL_NOISE,)

    def launch(
        self, ranks: int, placement: str, options: str, site: Site = HERE
    ) -> tuple[list[str], dict[str, str]]:
        """Return the tokens and variables that start the probe on this host."""
        network, library = self._parts
        network.machine.nodes(ranks, placement)
        command = list(self.command)
        if all_options := ",".join(filter(None, [options, self.options])):
            command += ["--options", all_options]
        begin = start_virtually(library, command, ranks, network.installed)
        return begin.command, begin.environment

    def opener(
        self, ranks: int, placement: str, launch: int, say: Callable[[str], None]
    ) -> Open | None:
        """What starts the probe with the region that its ranks share."""
        network, library = self._parts
        wires = network.machine.wires(ranks, placement, launch)
        progress = VirtualProgress(
            lambda text: say(f"{self.title}, {network.machine.host}: {text}")
        )
        return functools.partial(VirtualProbe, VirtualRanks(wires, ranks, library, progress))

    @property
    def _parts(self) -> tuple[OnNetwork, Library]:
        assert self.network is not None and self.library is not None
        return self.network, self.library


def on_network(
    subjects: Sequence[Subject], machine: VirtualMachine, installed: Sequence[Library]
) -> list[Subject]:
    """Subjects with the network of a machine below their libraries, for which it is compiled.

    Raises InputError for a transport that does not send by a library.
    """
    network = OnNetwork(machine, tuple(installed))
    virtual = [_on(subject, network) for subject in subjects]
    for subject in virtual:
        with suppress(NhalfError):  # raised again where it is started
            subject.launch(1, CORES, "")
    return list(virtual)


def _on(subject: Subject, network: OnNetwork) -> VirtualSubject:
    if not subject.measures_library:
        raise InputError(
            f"transport {subject.transport} does not send by an MPI library",
            "a simulated machine takes --transport mpi",
        )
    values = {field.name: getattr(subject, field.name) for field in dataclasses.fields(Subject)}
    return VirtualSubject(**values, network=network)


LIMIT_S = 120.0
"""How long all questions may take in real time, the starts of ranks included."""
FOLDER = "asked"


PLACED_IN = " axis.place=in"
"""After a pattern: the result comes where the data was."""
WITH_WORK = " axis.work=1"
"""After a pattern: what is left of a begun operation after as much work as it takes."""
ROOTED = " axis.root="
"""After a pattern, before the rank that is the root."""
SHARED = " axis.shares="
"""After a pattern, before the shares of its ranks."""
BESIDE_IT = " axis.beside="
"""After a pattern, before the sizes of further ones that are begun after it and go on with it."""
FROM_ROOT = frozenset(row.like or row.pattern for row in TABLE if row.flow == "from_root")
"""Patterns of which the ranks' own times are kept."""
Times = tuple[float, ...]
"""Seconds of an operation; then those until each rank leaves it, of FROM_ROOT."""


class Question(NamedTuple):
    """An operation: its pattern, with axes if they count, and its size as patterns have it."""

    pattern: str
    size_bytes: int


@dataclass(frozen=True)
class AskedLibrary:
    """A library on the network of a machine, of which answers are kept.

    `installed` are all libraries here; `say` takes a line about how far a launch is; nothing more
    is asked `limit_s` after the first question, before which a probe may be compiled.
    """

    messages: Messages
    library: Library
    installed: Sequence[Library]
    say: Callable[[str], None] = lambda _: None
    limit_s: float = LIMIT_S

    @cached_property
    def _deadline_s(self) -> float:
        return time.monotonic() + self.limit_s

    def times_s(self, nodes: Sequence[int], questions: Iterable[Question]) -> dict[Question, Times]:
        """What operations of ranks on these nodes take, without those that have no answer.

        Questions without one so far are asked in one launch. Raises MissingError for a library
        that cannot use the virtual network or has no probe, InputError for too many ranks.
        """
        path = self._kept_at(nodes)
        times_s = _read(path)
        missing = [question for question in dict.fromkeys(questions) if question not in times_s]
        if missing:
            times_s.update(self._answers(nodes, missing))
            rows = [(*question, own_s) for question, own_s in sorted(times_s.items())]
            with suppress(MissingError):  # which costs time only, so it is no error
                write_cached(path, msgspec.json.encode(rows).decode())
        return times_s

    def _answers(
        self, nodes: Sequence[int], questions: Sequence[Question]
    ) -> Iterator[tuple[Question, Times]]:
        """Yield the answers that come in time."""
        subject = library_subject(self.library)
        begin = start_virtually(self.library, subject.command, len(nodes), self.installed)
        wires = description(self.messages, nodes)
        ranks = VirtualRanks(wires, len(nodes), self.library, VirtualProgress(self.say))
        # Short operations first, so that few are left out for want of time.
        ordered = sorted(questions, key=lambda question: question.size_bytes)
        left_s = self._deadline_s - time.monotonic()
        if left_s <= 0:
            return
        with (
            suppress(LaunchError),
            VirtualProbe(ranks, begin.command, begin.environment, left_s, NOBODY) as probe,
        ):
            for number, question in enumerate(ordered):
                left_s = self._deadline_s - time.monotonic()
                if left_s <= 0:
                    return
                probe.send(
                    f"id={number} pattern={question.pattern} bytes={question.size_bytes} "
                    "samples_min=1 samples_max=1"
                )
                record = probe.receive(left_s, identity=str(number))
                values = record.get("values", {})
                if question.pattern.endswith(WITH_WORK) and "total_s" in values:
                    yield question, (max(0.0, values["total_s"] - values["work_s"]),)
                elif samples_s := record.get("samples_s"):
                    is_kept = question.pattern.partition(" ")[0] in FROM_ROOT
                    yield question, (median(samples_s), *(record["rank_s"] if is_kept else ()))

    def _kept_at(self, nodes: Sequence[int]) -> Path:
        """The file of the answers; raises MissingError if there is no place for it."""
        library, vendor = self.library, vendor_of(self.library)
        surroundings = {**os.environ, **library.environment}
        settings = {
            name: surroundings[name]
            for name in sorted(surroundings)
            if name.startswith(vendor.settings)
        }
        files = [
            *filter(None, [library.mpiexec]),
            *map(Path, [*library_subject(library).command, *settings.values()]),
            *vendor.settings_files(library.prefix),
            provider(),
        ]
        wires = description(self.messages, nodes)
        parts = [__version__, wires, library.name, library.version, settings, stamps_of(files)]
        digest = hashlib.sha256(msgspec.json.encode(parts)).hexdigest()
        return cache_folder() / FOLDER / f"{digest[:32]}.json"


def _read(path: Path) -> dict[Question, Times]:
    """The answers that are kept in a file; none if it is not there or of another form."""
    with suppress(OSError, msgspec.MsgspecError, MissingError):
        need_own(path)
        rows = msgspec.json.decode(path.read_bytes(), type=list[tuple[str, int, Times]])
        return {Question(pattern, size_bytes): times_s for pattern, size_bytes, times_s in rows}
    return {}
