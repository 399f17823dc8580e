"""Findings on collective operations, barriers, multicasts, and violated guidelines."""

from collections import Counter
from collections.abc import Iterator

from nhalf.base.listing import few, listed
from nhalf.base.numbers import percent, times
from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.facts import algorithms, multicast
from nhalf.facts.collectives import MISLEADS, Match, matches, misled
from nhalf.facts.contests import CLASSES
from nhalf.facts.facts import Facts
from nhalf.facts.guidelines import Verdict, size_words, violations
from nhalf.facts.series import library_label
from nhalf.models.expression import PART_BYTES
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, count, sentence, size_range, weight
from nhalf.statistics.intervals import Interval

OPERATIONS_MAX = 4


class FastestCollectives(Finder[Facts]):
    """The fastest library in collective operations, small and large."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for name, low, high in CLASSES:
            operations = list(matches(facts, low, high))
            if operations:
                largest = max(operations, key=lambda match: match.behind.median)
                where = f" on {largest.where}" if largest.where else ""
                text = (
                    f"{sentence(name)} collectives: {_who_leads(operations)}. Most in "
                    f"{largest.pattern}{where}: {largest.worst} takes {_how_long(largest)}."
                )
                kind = f"collectives-{name}"
                label = f"Collectives, {name}"
                yield Finding.of(largest, text, (48, 72), kind, label, interval=largest.behind)


def _how_long(match: Match) -> str:
    """'1.3x as long as MPICH at 8 B to 2.7x at 1 KiB', or one ratio with its interval.

    Where it is faster at some size: '2.7x as long as MPICH at 1 KiB, but 0.83x at 8 B'.
    """
    if match.first_bytes == match.last_bytes:
        place = f" at {format_size(match.first_bytes)}" if match.first_bytes else ""
        ratio = f"{times(match.behind.median)} as long as {match.best}{place}"
        return f"{ratio} ({between(match.behind)})"
    (low_bytes, low), (high_bytes, high) = match.smallest_ratio, match.largest_ratio
    if times(low) == times(high):
        sizes = size_range(match.first_bytes, match.last_bytes)
        ratio = f"{times(match.behind.median)} as long as {match.best}, on average over {sizes}"
        return f"{ratio} ({between(match.behind)})"
    if low < 1:
        ratio = f"{times(high)} as long as {match.best} at {format_size(high_bytes)}"
        return f"{ratio}, but {times(low)} at {format_size(low_bytes)}"
    return (
        f"{times(low)} as long as {match.best} at {format_size(low_bytes)} to {times(high)} at "
        f"{format_size(high_bytes)}"
    )


def _who_leads(operations: list[Match]) -> str:
    """'A is fastest in 4 of 6 operations where libraries differ; B is in reduce and scan'.

    With several settings of an operation: 'A is fastest in reduce and bcast (2 ranks); B is in
    bcast (8 ranks)'.
    """
    wins = Counter(match.best for match in operations)
    leader, won = wins.most_common(1)[0]
    of = "operation" if len(operations) == 1 else f"of {len(operations)} operations"
    patterns = {library: few(_won(operations, library), OPERATIONS_MAX) for library in wins}
    first = patterns.pop(leader)
    if not any(match.where for match in operations):
        first = f"{won} {of} where libraries differ"
    further = "".join(f"; {library} is in {names}" for library, names in patterns.items())
    return f"{leader} is fastest in {first}{further}"


def _won(operations: list[Match], library: str) -> list[str]:
    """The operations in which a library is fastest, with where if another is elsewhere."""
    patterns = sorted({match.pattern for match in operations if match.best == library})
    return [pattern + _where(operations, pattern, library) for pattern in patterns]


def _where(operations: list[Match], pattern: str, library: str) -> str:
    """' (2 and 4 ranks)': the settings in which a library wins an operation; '' if in all."""
    contests = [match for match in operations if match.pattern == pattern]
    won = [match.where for match in contests if match.best == library]
    if len(won) == len(contests):
        return ""
    numbers = [where.removesuffix(" ranks") for where in won]
    if all(number.isdecimal() for number in numbers):
        return f" ({listed(numbers)} ranks)"
    return f" ({'; '.join(won)})"


class FastestAlgorithm(Finder[Facts]):
    """Where an algorithm on a library's messages is faster than the library's own collective."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for library in algorithms.beaten(facts):
            row, behind = library.worst.row, library.worst.behind
            size = f" of {format_size(row['bytes'])}" if row["bytes"] else ""
            text = (
                f"{library.title} is slower than an algorithm on its own messages at "
                f"{len(library.wins)} of {count(library.points, 'point')}. Most so in "
                f"{row['pattern']}{size} on {row['ranks']} ranks: it takes {times(behind.median)} "
                f"as long as {row['algorithm']} ({between(behind)})."
            )
            yield Finding.of(row, text, (46, 70), "algorithm", "Faster algorithm", interval=behind)


class PartSizes(Finder[Facts]):
    """Where an algorithm that cuts messages is faster with another size of parts."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        largest: dict[tuple[str, str, str], Row] = {}
        for row in algorithms.gains_by_part(facts).iter_rows(named=True):
            key = row["mpi"], row["pattern"], row["algorithm"]
            if key not in largest or row["gain"].median > largest[key]["gain"].median:
                largest[key] = row
        for row in largest.values():
            gain = row["gain"]
            text = (
                f"{library_label(facts, row['transport'], row['mpi'])}: {row['pattern']} by "
                f"{row['algorithm']} of {format_size(row['bytes'])} on {row['ranks']} ranks is "
                f"fastest in parts of {format_size(row['part_bytes'])} "
                f"({format_time(row['median_s'])}); in parts of {format_size(PART_BYTES)} it takes "
                f"{times(gain.median)} as long ({between(gain)})."
            )
            yield Finding.of(row, text, (42, 60), "part-size", "Size of parts", interval=gain)


class RootBusy(Finder[Facts]):
    """Where the algorithm that completes first is not the one that frees the root first."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        worst: dict[tuple[str, str], algorithms.Freed] = {}
        for freed in algorithms.freed_first(facts):
            previous = worst.get((freed.mpi, freed.pattern))
            if previous is None or freed.ratio.low > previous.ratio.low:
                worst[freed.mpi, freed.pattern] = freed
        for freed in worst.values():
            size = format_size(freed.size_bytes)
            text = (
                f"{freed.series}: the fastest {freed.pattern} is not the one that frees the root "
                f"first. For {size} on {freed.ranks} ranks {freed.completes} completes first "
                f"({format_time(freed.complete_s)}; its root is busy for "
                f"{format_time(freed.completes_root_s)}), but with {freed.frees} the root is free "
                f"after {format_time(freed.frees_root_s)}, {times(freed.ratio.median)} sooner "
                f"({between(freed.ratio)}); all ranks then complete after "
                f"{format_time(freed.frees_complete_s)}."
            )
            importance = weight(freed.ratio.low, 41, 58)
            yield Finding.of(freed, text, importance, "root-busy", "The root's own time")


class BarrierStart(Finder[Facts]):
    """The error that a start after a barrier would have made."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        most = misled(facts)
        if most is None:
            return
        size = f" of {format_size(most.size_bytes)}" if most.size_bytes else ""
        text = (
            f"Timed from its exit of a barrier, as most benchmarks do, {most.pattern}{size} on "
            f"{most.series} would read {times(most.ratio.median)} its real time "
            f"({between(most.ratio)}); {most.sure} of {most.points} points would be off by more "
            f"than {MISLEADS - 1:.0%}."
        )
        yield Finding.of(most, text, 44, "barrier-start", "Barrier start misleads")


class Grain(Finder[Facts]):
    """The grain of work below which a barrier matters."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for crossing in algorithms.crossings(facts):
            alternative = ""
            if crossing.faster_s:
                alternative = f" With {crossing.algorithm} that is {_time(crossing.faster_s)}."
            text = (
                f"{crossing.series}: barriers take more than {percent(algorithms.MATTERS)} of the "
                f"time of {crossing.ranks} ranks where there is less than "
                f"{_time(crossing.grain_s)} of work between them; beyond, a faster barrier gains "
                f"less than that.{alternative}"
            )
            numbers = {"figure": format_time(crossing.grain_s.median), "interval": crossing.grain_s}
            pattern, label = algorithms.PATTERN, "Work between barriers"
            yield Finding.of(crossing, text, 46, "grain", label, pattern=pattern, **numbers)


def _time(interval: Interval) -> str:
    ends = f"{format_time(interval.low)} to {format_time(interval.high)}"
    return f"{format_time(interval.median)} (interval {ends})"


class Multicast(Finder[Facts]):
    """The fastest multicast to a whole group by size, and what adapters save."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        yield from map(_fastest, multicast.fastest_multicasts(facts))
        yield from map(_spared, multicast.spared(facts))


def _fastest(fastest: multicast.Fastest) -> Finding:
    """The fastest method at the smallest size, and the sizes at which it changes."""
    first = fastest.first
    changes = [f"{row['method']} from {format_size(row['bytes'])} on" for row in fastest.changes]
    text = (
        f"{fastest.name}, {fastest.forwarding} multicast to {first['group']} destinations: "
        f"{first['method']} is fastest for {format_size(first['bytes'])} "
        f"({format_time(first['median_s'])}), {times(first['behind'])} as fast as "
        f"{first['slowest']}" + "".join(f"; {change}" for change in changes) + "."
    )
    numbers = {"value": first["behind"], "figure": times(first["behind"])}
    about = {"pattern": multicast.PATTERN, "size_bytes": first["bytes"]}
    importance = weight(first["behind"], 44, 64)
    kind, label = "multicast-fastest", "Multicast"
    return Finding.of(fastest, text, importance, kind, label, **numbers, **about)


def _spared(saving: multicast.Spared) -> Finding:
    text = (
        f"{saving.name}: when adapters forward messages, a multicast to {saving.group} "
        f"destinations takes {format_time(saving.nic_s)} of processor time per node on average "
        f"instead of {format_time(saving.host_s)}, {times(saving.gain_ratio)} less."
    )
    importance, figure = weight(saving.gain_ratio, 42, 60), times(saving.gain_ratio)
    about = {"pattern": multicast.PATTERN, "value": saving.gain_ratio, "figure": figure}
    kind, label = "multicast-processor", "Saved by adapters"
    return Finding.of(saving, text, importance, kind, label, **about)


WEIGHTS = (44, 66)
UNSURE = (30, 40)
"""Weights of what may be due to caches."""
LABELS = {
    "composition": "Slower than its parts",
    "monotony": "Slower than a longer message",
    "pieces": "Slower than in pieces",
}


class Guidelines(Finder[Facts]):
    """Where a library does the work of one operation faster by others, or contradicts itself."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        groups: dict[tuple[str, str, str, str], list[Verdict]] = {}
        for verdict in violations(facts):
            key = (verdict.run, verdict.transport, verdict.mpi, verdict.kind)
            groups.setdefault(key, []).append(verdict)
        for verdicts in groups.values():
            # One sentence for a library and a kind of guideline: its largest factor.
            worst = verdicts[0]
            label = library_label(facts, worst.transport, worst.mpi)
            operation = worst.mock_up.operation
            yield Finding.of(
                worst,
                f"{label}: {_call(worst)} on {worst.ranks} ranks takes "
                f"{times(worst.factor.median)} as long as {instead(worst)} "
                f"({between(worst.factor)}).{_caveat(worst)}{_further(verdicts)}",
                weight(worst.factor.median, *(WEIGHTS if not worst.may_be_cache else UNSURE)),
                f"guideline-{worst.kind}",
                LABELS[worst.kind],
                remedy=_remedy(worst),
                interval=worst.factor,
                pattern=operation,
            )


def _call(verdict: Verdict) -> str:
    """'one 1 MiB per pair alltoall', or 'barrier' without a size."""
    operation = verdict.mock_up.operation
    if not verdict.size_bytes:
        return operation
    return f"{operation} of {format_size(verdict.size_bytes)}{size_words(operation)}"


def _caveat(verdict: Verdict) -> str:
    if not verdict.may_be_cache:
        return ""
    return (
        " This may be the cache: the shorter operation was repeated on the same buffers, which "
        "stay in it."
    )


def _further(verdicts: list[Verdict]) -> str:
    """The other points, the worst of each operation by name."""
    worst_by_operation: dict[str, Verdict] = {}
    for verdict in verdicts[1:]:
        worst_by_operation.setdefault(verdict.mock_up.operation, verdict)
    if not worst_by_operation:
        return ""
    calls = [
        f"{_call(verdict)} on {verdict.ranks} ranks ({times(verdict.factor.median)})"
        for verdict in worst_by_operation.values()
    ]
    further = len(verdicts) - 1 - len(calls)
    more = f" and {count(further, 'other point')}" if further else ""
    return f" Also {', '.join(calls)}{more}."


def _remedy(verdict: Verdict) -> str:
    """What the library's user can do; only libraries of MPI can be tuned."""
    if verdict.may_be_cache:
        return "Measure with buffers of the program's size before changing it."
    tune = "nhalf tune --violated RUN tries what may be faster there, or "
    return f"{tune if verdict.transport == 'mpi' else ''}call {plan(verdict)}"


def instead(verdict: Verdict) -> str:
    """The mock-up with its sizes: 'reduce of 8 B and bcast of 8 B, which do the same'."""
    sizes = [format_size(size) for size in verdict.sizes_bytes]
    if verdict.kind == "monotony":
        return f"one of {sizes[0]}"
    if verdict.kind == "pieces":
        return f"{verdict.mock_up.parts[0].calls} of {sizes[0]}"
    parts = zip(verdict.mock_up.parts, sizes, strict=True)
    words = " and ".join(f"{part.pattern} of {size}" for part, size in parts)
    return f"{words}, which {'do' if len(sizes) > 1 else 'does'} its work"


def plan(verdict: Verdict) -> str:
    """What a program can do: 'reduce and bcast instead'."""
    if verdict.kind == "monotony":
        return f"it with {format_size(verdict.sizes_bytes[0])}"
    if verdict.kind == "pieces":
        return (
            f"it {verdict.mock_up.parts[0].calls} times with {format_size(verdict.sizes_bytes[0])}"
        )
    return " and ".join(part.pattern for part in verdict.mock_up.parts)
