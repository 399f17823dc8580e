"""Open MPI's coll/han as choices of algorithms: what the library has, and what selects it.

han performs a collective on several nodes in two levels: one rank of each node (`up`,
inter_node), and the ranks of a node (`low`, intra_node). A choice has one of these names:

    tuned                           coll/tuned by its own rules, without han
    han-simple                      one level after the other
    han-simple/inter_node=basic     with another component than coll/tuned between nodes
    han-intra                       segment by segment, both levels at once
    han-intra/up=adapt              with another component than libnbc between nodes
    han-intra/segsize=16384         with segments of this many bytes

A file of rules has the first three by numbers of ranks and bytes. The others are variables, which
hold for all sizes of the operation: see `together`.

`ompi_info` lists all of it, so that other versions may have more components, as xhc, or algorithms.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from nhalf.base.operations import OPERATIONS
from nhalf.mpi.decision_table import (
    NATIVE,
    Rule,
    Steps,
    blocks_of,
    call_of,
    changed_between,
    choice,
    rules_from,
)
from nhalf.mpi.tuning_files.openmpi_han import (
    GLOBAL,
    HAN,
    INTER_NODE,
    INTRA_NODE,
    LEVELS,
    Blocks,
    HanFile,
)

TUNED = "tuned"
PREFIX = "han-"
SIMPLE, INTRA = "simple", "intra"
SEGMENT = "segsize"
SEGMENTS_BYTES = (16384, 262144)
"""Sizes of segments that are tried."""
PARTS = {"up": ("libnbc",), "low": (TUNED,)}
"""The levels as variables of `intra` name them, each with its usual component."""
IN_MEMORY = ("sm", "xhc", "acoll")
"""Components that send no messages within a node."""
IDLE = ("self", "libnbc", HAN, TUNED)
"""Components that change nothing on a level of `simple`: tuned is usual there, and the others have
no blocking collective of several ranks."""
ONE_SIZE = ("allreduce", "barrier", "bcast", "reduce")
"""Operations whose message size is the same on each level."""
BELOW_TUNED = "20"
"""The priority that makes a component available which is off. It is disabled below basic and libnbc
(10), on which it builds, and from 30 on it would take the calls of coll/tuned."""

NodesOf = Callable[[int], int]
Options = Mapping[tuple[int, int], Mapping[str, float]]
"""Logarithms of gains by numbers of ranks and bytes, and by choice."""


@dataclass(frozen=True)
class Han:
    """What ompi_info says of coll/han: numbers of components and algorithms by collective."""

    modules: Mapping[str, Mapping[str, Mapping[str, int]]]
    algorithms: Mapping[str, Mapping[str, int]]
    parts: Mapping[str, Mapping[str, Mapping[str, int]]]
    values: Mapping[str, str]

    def default(self, operation: str) -> str:
        """The algorithm that han takes without a rule."""
        call = call_of(operation)
        is_simple = self.values.get(f"coll_han_use_simple_{call}") == "true"
        return SIMPLE if is_simple or INTRA not in self.algorithms[call] else INTRA

    def has(self, operation: str) -> bool:
        """Whether han performs an operation, and its file can say how."""
        call = call_of(operation)
        levels = self.modules.get(call, {})
        return TUNED in levels.get(GLOBAL, {}) and bool(self.algorithms.get(call))

    @property
    def components(self) -> list[str]:
        """The components that the file may name."""
        listed = (levels.get(GLOBAL, {}) for levels in self.modules.values())
        return sorted({name for names in listed for name in names})

    def choices(self, operation: str, *, shares_memory: bool) -> list[str]:
        """The names of all choices but the library's own.

        Without shared memory, as on the virtual network, nothing that needs it.
        """
        if not self.has(operation):
            return []
        call, own = call_of(operation), self.default(operation)
        plain = [name for name in (SIMPLE, INTRA) if name in self.algorithms[call] and name != own]
        names = [TUNED, *(f"{PREFIX}{name}" for name in plain)]
        usable = [*(() if shares_memory else IN_MEMORY), *IDLE]
        if operation in ONE_SIZE and SIMPLE in self.algorithms[call]:
            names += [
                f"{PREFIX}{SIMPLE}/{level}={module}"
                for level in (INTRA_NODE, INTER_NODE)
                for module in self.modules[call].get(level, {})
                if module not in usable and (level == INTRA_NODE or module not in IN_MEMORY)
            ]
        if INTRA in self.algorithms[call]:
            names += [
                f"{PREFIX}{INTRA}/{part}={module}"
                for part, usual in PARTS.items()
                for module in self.parts.get(call, {}).get(part, {})
                if module not in usual and (shares_memory or module not in IN_MEMORY)
            ]
            if f"coll_han_{call}_{SEGMENT}" in self.values:
                names += [f"{PREFIX}{INTRA}/{SEGMENT}={size}" for size in SEGMENTS_BYTES]
        return names

    def differs(self, operation: str, name: str, size_bytes: int) -> bool:
        """Whether a choice does anything else at this size than the usual one."""
        segment = settings_of(name).get(SEGMENT)
        usual = self.values.get(f"coll_han_{call_of(operation)}_{SEGMENT}", "")
        if segment is None or not usual.isdigit():
            return True
        return size_bytes > min(int(segment), int(usual))

    def force(self, operation: str, name: str) -> dict[str, str]:
        """The variables that select a choice for all sizes; another name is one of coll/tuned's."""
        call = call_of(operation)
        if not is_of_han(name):
            if not self.has(operation):
                return {}
            number = self.modules[call][GLOBAL][TUNED]
            return {f"OMPI_MCA_coll_han_{call}_dynamic_{GLOBAL}_module": str(number)}
        algorithm = algorithm_of(name)
        variables = {
            f"OMPI_MCA_coll_han_use_{call}_algorithm": str(self.algorithms[call][algorithm])
        }
        for level, module in settings_of(name).items():
            if level in LEVELS:
                number = self.modules[call][level][module]
                variables[f"OMPI_MCA_coll_han_{call}_dynamic_{level}_module"] = str(number)
        return {**variables, **self.needed(operation, name)}

    def needed(self, operation: str, name: str) -> dict[str, str]:
        """The variables of a choice that the file of rules cannot hold."""
        call, variables = call_of(operation), {}
        for key, value in settings_of(name).items():
            if key == SEGMENT:
                variables[f"OMPI_MCA_coll_han_{call}_{SEGMENT}"] = value
            elif key in PARTS:
                number = self.parts[call][key][value]
                variables[f"OMPI_MCA_coll_han_{call}_{key}_module"] = str(number)
            elif self.values.get(f"coll_{value}_priority") == "0":
                variables[f"OMPI_MCA_coll_{value}_priority"] = BELOW_TUNED
        return variables

    def file(self, rules: Sequence[Rule], nodes_of: NodesOf) -> HanFile:
        """The file of rules: where coll/tuned has rules, han hands over to it.

        The first rule of an operation that has variables decides them.
        """
        blocks: dict[str, dict[str, Blocks]] = {}
        variables: dict[str, str] = {}
        for operation in sorted({rule.operation for rule in rules if self.has(rule.operation)}):
            for rule in (rule for rule in rules if rule.operation == operation):
                variables = {**self.needed(operation, rule.algorithm), **variables}
            by_ranks = blocks_of(rules, operation)
            levels = {
                GLOBAL: [
                    (ranks, _merged([(size, _words(name)) for size, name in steps]))
                    for ranks, steps in by_ranks
                ]
            }
            for level in (INTER_NODE, INTRA_NODE):
                if modules := _level(by_ranks, level, nodes_of):
                    levels[level] = modules
            blocks[call_of(operation)] = levels
        return HanFile(blocks, variables)

    def extended(self, file: HanFile, rules: Sequence[Rule], nodes_of: NodesOf) -> HanFile:
        """A file in which rules decide for their ranks and sizes; all other words stay."""
        blocks = {call: dict(levels) for call, levels in file.blocks.items()}
        variables = dict(file.variables)
        for rule in (rule for rule in reversed(rules) if self.has(rule.operation)):
            levels = blocks.setdefault(call_of(rule.operation), {})
            words = {GLOBAL: _words(rule.algorithm)}
            if is_of_han(rule.algorithm) and algorithm_of(rule.algorithm) == SIMPLE:
                words |= {
                    level: settings_of(rule.algorithm).get(level, TUNED)
                    for level in (INTER_NODE, INTRA_NODE)
                }
            for level, chosen in words.items():
                usual = HAN if level == GLOBAL else TUNED
                if chosen != usual or level in levels:
                    held = levels.get(level) or [(1, [(0, usual)])]
                    levels[level] = _with_words(held, rule, level, chosen, nodes_of)
            variables |= self.needed(rule.operation, rule.algorithm)
        return HanFile(blocks, variables)

    def expressible(self, rules: Sequence[Rule], nodes_of: NodesOf) -> list[Rule]:
        """Rules without those that the file would not hold beside the ones before them.

        A level has one component for each of its sizes, and an operation one set of variables.
        """
        expressed: list[Rule] = []
        for rule in rules:
            file = self.file([*expressed, rule], nodes_of)
            if not is_of_han(rule.algorithm) or rule.algorithm == self.choice(
                file, rule.operation, rule.from_ranks, rule.from_bytes, nodes_of
            ):
                expressed.append(rule)
        return expressed

    def choice(
        self, file: HanFile, operation: str, ranks: int, size_bytes: int, nodes_of: NodesOf
    ) -> str:
        """What a file chooses: a name of this module, TUNED, or NATIVE for han as it is."""
        call = call_of(operation)
        levels = file.blocks.get(call, {})
        words = _at(levels.get(GLOBAL, []), ranks, size_bytes) or HAN
        if words == HAN:
            return NATIVE
        if not words.startswith(f"{HAN} "):
            return words
        algorithm = words.removeprefix(f"{HAN} @")
        settings = [f"{key}={value}" for key, value in self._read(file, operation, algorithm)]
        if algorithm == SIMPLE:
            for level in (INTER_NODE, INTRA_NODE):
                module = _at(levels.get(level, []), _size_of(level, ranks, nodes_of), size_bytes)
                settings += [f"{level}={module}"] if module and module != TUNED else []
        return f"{PREFIX}{algorithm}" + (f"/{','.join(settings)}" if settings else "")

    def rules(self, file: HanFile, tuned_rules: Sequence[Rule], nodes_of: NodesOf) -> list[Rule]:
        """The rules of both files together: han's decide where those of coll/tuned count."""
        rules = [rule for rule in tuned_rules if call_of(rule.operation) not in file.blocks]
        for operation in OPERATIONS:
            levels = file.blocks.get(call_of(operation))
            if levels is None:
                continue
            own = [rule for rule in tuned_rules if rule.operation == operation]
            ranks = {0, *(size for size, _ in levels.get(GLOBAL, []))}
            sizes = {0}
            for blocks in levels.values():
                sizes |= {begin for _, steps in blocks for begin, _ in steps}
            for rule in own:
                ranks |= {rule.from_ranks, *_after(rule.to_ranks)}
                sizes |= {rule.from_bytes, *_after(rule.to_bytes)}
            by_ranks: Blocks = []
            for number in sorted(ranks):
                steps = []
                for size in sorted(sizes):
                    name = self.choice(file, operation, number, size, nodes_of)
                    inner = choice(own, operation, number, size) if name == TUNED else NATIVE
                    steps.append((size, name if inner == NATIVE else inner))
                by_ranks.append((number, _merged(steps)))
            rules += rules_from(operation, by_ranks)
        return rules

    def _read(self, file: HanFile, operation: str, algorithm: str) -> list[tuple[str, str]]:
        """The settings of `intra` in the variables of a file."""
        call = call_of(operation)
        if algorithm != INTRA:
            return []
        settings = []
        for part in PARTS:
            number = file.variables.get(f"OMPI_MCA_coll_han_{call}_{part}_module")
            for name, listed in self.parts.get(call, {}).get(part, {}).items():
                settings += [(part, name)] if str(listed) == number else []
        segment = file.variables.get(f"OMPI_MCA_coll_han_{call}_{SEGMENT}")
        return [*settings, *([(SEGMENT, segment)] if segment else [])]

    def together(self, operation: str, options: Options) -> dict[tuple[int, int], dict[str, float]]:
        """The choices of an operation that one set of variables allows: the set that gains most."""
        names = {name for gains in options.values() for name in gains}
        sets = sorted({_variables_in(name) for name in names if _is_of_intra(name)} | {""})

        def allowed(variables: str) -> dict[tuple[int, int], dict[str, float]]:
            return {
                cell: {
                    name: gain
                    for name, gain in gains.items()
                    if not _is_of_intra(name) or _variables_in(name) == variables
                }
                for cell, gains in options.items()
            }

        def total(variables: str) -> float:
            return sum(max(gains.values(), default=0.0) for gains in allowed(variables).values())

        return allowed(max(sets, key=total))

    def keeps_own(self, operation: str, names: Sequence[str]) -> bool:
        """Whether han as it is stays so beside these choices: not if they change its variables."""
        if not self.has(operation) or self.default(operation) != INTRA:
            return True
        return not any(_is_of_intra(name) and _variables_in(name) for name in names)


def parse_han(text: str, values: Mapping[str, str]) -> Han | None:
    """What `ompi_info --parsable` prints of han, `values` of its parameters; None without a file.

    Version 4 knows no algorithms in the file, and has han off.
    """
    algorithms: dict[str, dict[str, int]] = {}
    of_algorithm = r"coll_han_use_(\w+)_algorithm:enumerator:value:(\d+):(\w+)$"
    for call, number, name in re.findall(of_algorithm, text, re.MULTILINE):
        if name in (SIMPLE, INTRA):
            algorithms.setdefault(call, {})[name] = int(number)
    if not algorithms or "coll_han_dynamic_rules_filename" not in values:
        return None
    modules: dict[str, dict[str, dict[str, int]]] = {}
    parts: dict[str, dict[str, dict[str, int]]] = {}
    levels = "|".join(LEVELS)
    of_level = rf"^mca:coll:han:param:coll_han_(\w+)_dynamic_({levels})_module:help:(.*)$"
    for call, level, help_text in re.findall(of_level, text, re.MULTILINE):
        listed = re.findall(r"(\d+) = (\w+)", help_text)
        modules.setdefault(call, {})[level] = {name: int(number) for number, name in listed}
    of_part = r"^mca:coll:han:param:coll_han_(\w+)_(up|low)_module:help:(.*)$"
    for call, part, help_text in re.findall(of_part, text, re.MULTILINE):
        listed = re.findall(r"(\d+) (\w+)", help_text)
        parts.setdefault(call, {})[part] = {name: int(number) for number, name in listed}
    return Han(modules, algorithms, parts, values)


def is_of_han(name: str) -> bool:
    """Whether a name is a choice of han's own algorithms."""
    return name.startswith(PREFIX)


def algorithm_of(name: str) -> str:
    """The algorithm of han in a name."""
    return name.removeprefix(PREFIX).partition("/")[0]


def is_choice(name: str) -> bool:
    """Whether a name is a choice of this module, instead of an algorithm of coll/tuned."""
    return name == TUNED or is_of_han(name)


def settings_of(name: str) -> dict[str, str]:
    """The settings in a name; none of another one than han's."""
    if not is_of_han(name):
        return {}
    pairs = (word.partition("=") for word in name.partition("/")[2].split(",") if word)
    return {key: value for key, _, value in pairs}


def _is_of_intra(name: str) -> bool:
    return is_of_han(name) and algorithm_of(name) == INTRA


def _variables_in(name: str) -> str:
    return name.partition("/")[2]


def _words(name: str) -> str:
    """How a choice is written for the whole communicator."""
    if is_of_han(name):
        return f"{HAN} @{algorithm_of(name)}"
    return HAN if name == NATIVE else TUNED


def _merged(steps: Steps) -> Steps:
    """Steps without those that repeat the words before them."""
    return [step for place, step in enumerate(steps) if not place or steps[place - 1][1] != step[1]]


def _after(end: float) -> list[int]:
    """What follows the end of a range, if it has one."""
    return [int(end) + 1] if math.isfinite(end) else []


def _level(blocks: Blocks, level: str, nodes_of: NodesOf) -> Blocks:
    """The components of a level by its size; none where all rules leave it to coll/tuned.

    Where numbers of ranks have the same size of a level, the first one decides.
    """
    by_size: dict[int, Steps] = {1: [(0, TUNED)]}
    decided = set[int]()
    for ranks, steps in blocks:
        if not any(algorithm_of(name) == SIMPLE for _, name in steps if is_of_han(name)):
            continue
        size = _size_of(level, ranks, nodes_of)
        if size not in decided:
            words = [(begin, settings_of(name).get(level, TUNED)) for begin, name in steps]
            by_size[size] = _merged(words)
            decided.add(size)
    has_others = any(name != TUNED for steps in by_size.values() for _, name in steps)
    return sorted(by_size.items()) if has_others else []


def _with_words(held: Blocks, rule: Rule, level: str, words: str, nodes_of: NodesOf) -> Blocks:
    """The blocks of a level with these words at the sizes of a rule."""
    begin, end = (_size_of(level, max(rule.from_ranks, 1), nodes_of), rule.to_ranks)
    end = end if level == GLOBAL else begin

    def changed(size: int, steps: Steps) -> Steps:
        return changed_between(steps, rule.from_bytes, rule.to_bytes, lambda *_: words)

    return changed_between(held, begin, end, changed)


def _size_of(level: str, ranks: int, nodes_of: NodesOf) -> int:
    """The number of ranks of a level, of this many in all."""
    nodes = max(nodes_of(ranks), 1)
    return {GLOBAL: ranks, INTER_NODE: nodes}.get(level, max(ranks // nodes, 1))


def _at(blocks: Blocks, size: int, size_bytes: int) -> str:
    """What blocks say of a size of the level and of bytes; '' where there are none."""
    steps = next((steps for begin, steps in reversed(blocks) if begin <= size), [])
    return next((words for begin, words in reversed(steps) if begin <= size_bytes), "")
