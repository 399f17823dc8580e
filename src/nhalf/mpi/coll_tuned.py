"""The tuner of Open MPI's coll/tuned: its file of dynamic rules, and that of coll/han beside it.

`ompi_info` lists the algorithms, since they differ between versions. A file of rules that
coll/tuned does not accept is ignored silently (its messages are compiled out of usual
builds), so it is read here as strictly as there, and `nhalf tune` verifies that it is applied.

From version 5 on, coll/han takes precedence over coll/tuned if ranks are on several hosts. It has a
file of its own, by which it hands over where coll/tuned has rules; the priority of other components
that would hide the rules is lowered.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from nhalf.base.errors import MissingError
from nhalf.mpi import Library
from nhalf.mpi.components import COMPONENTS, COMPONENTS_FILE, parse_parameters, printed
from nhalf.mpi.decision_table import NATIVE, Rule, call_of
from nhalf.mpi.han import is_choice, parse_han
from nhalf.mpi.tuner import OwnFile, Tuner, content, problem_of
from nhalf.mpi.tuning_files.openmpi_han import HanFile, han_text, read_han
from nhalf.mpi.tuning_files.openmpi_json import ANY, distribution, json_text, json_with, read_json
from nhalf.mpi.tuning_files.openmpi_rules import (
    OPERATION_IDS,
    RuleFile,
    file_text,
    first_block_note,
    read_file,
    read_rules,
    rules_text,
    with_rules,
)

SEGMENTED = {"bcast": ("pipeline",), "allreduce": ("segmented_ring",)}
"""Algorithms that cut messages into segments, which are also tried with SEGMENT_BYTES."""
SEGMENT_BYTES = (8192, 65536)
WORST_SEGMENT_BYTES = 64
PREFIX = "OMPI_MCA_coll_tuned"
HAN = "han"
TUNED_FILE = ("coll_tuned_use_dynamic_rules", "coll_tuned_dynamic_rules_filename")
HAN_FILE = ("coll_han_use_dynamic_file_rules", "coll_han_dynamic_rules_filename")
"""The parameters that switch a file on, and that name it."""
YES = ("1", "true", "t", "yes", "y", "on", "enabled")
RIVALS = (HAN, "xhc", "acoll", "ucc", "hcoll", "sm")
"""Components that may take precedence over coll/tuned."""


class CollTuned(Tuner):
    """coll/tuned of Open MPI."""

    description: ClassVar[str] = "Open MPI: the file of dynamic rules of coll/tuned"
    forms: ClassVar[dict[str, str]] = {
        "1": "openmpi.rules",
        "2": "openmpi.rules",
        "json": "openmpi-rules.json",
        COMPONENTS: COMPONENTS_FILE,
    }

    def __init__(self, library: Library, form: str = "") -> None:
        super().__init__(library, form)
        text = printed(library, "coll")
        self._values, self._choices = parse_parameters(text)
        self._han = parse_han(text, self._values) if "han" in self._rivals() else None

    def usual_form(self) -> str:
        """The form JSON from version 6 on; before, the form that the version reads."""
        version = tuple(int(part) for part in re.findall(r"\d+", self.library.version)[:3])
        if version >= (6,):
            return "json"
        return "2" if version >= (5, 0, 7) else "1"

    @property
    def keeps_own(self) -> bool:
        """Unless that is another component's, without a file that names coll/tuned to it."""
        return not self._demoted_rivals()

    def keeps_own_beside(self, operation: str, algorithms: Sequence[str]) -> bool:
        """Not if algorithms need variables that hold for every size of coll/han."""
        han_keeps = self._han is None or self._han.keeps_own(operation, algorithms)
        return self.keeps_own and han_keeps

    def together(
        self, operation: str, options: Mapping[tuple[int, int], Mapping[str, float]]
    ) -> dict[tuple[int, int], dict[str, float]]:
        """The algorithms that one set of variables of coll/han allows."""
        if self._han is None:
            return super().together(operation, options)
        return self._han.together(operation, options)

    def expressible(self, rules: Sequence[Rule]) -> list[Rule]:
        """Rules that need one component for each size of a level of coll/han."""
        return self._han.expressible(rules, self.nodes_of) if self._han else list(rules)

    def algorithms(self, operation: str) -> list[str]:
        """The names in ompi_info; `pipeline:8192` has segments of this many bytes.

        Those of coll/han (nhalf/mpi/han.py) suit ranks on several nodes.
        """
        names = [name for name, number in self._numbers_of(operation).items() if number]
        segmented = SEGMENTED.get(operation, ())
        segments = [
            f"{name}:{size}" for name in segmented if name in names for size in SEGMENT_BYTES
        ]
        divided = (
            self._han.choices(operation, shares_memory=self.shares_memory) if self._han else []
        )
        return [*names, *segments, *divided]

    def suits(self, operation: str, algorithm: str, ranks: int) -> bool:
        """Whether an algorithm works with this many ranks: `two_proc` needs two.

        coll/han divides ranks on several nodes, unless each is alone on its node.
        """
        if is_choice(algorithm):
            return 1 < self.nodes_of(ranks) < ranks
        return algorithm != "two_proc" or ranks == 2

    def differs(self, operation: str, algorithm: str, size_bytes: int) -> bool:
        """Whether segments of another size make a difference at this one."""
        return self._han is None or self._han.differs(operation, algorithm, size_bytes)

    def worst(self, operation: str) -> str:
        """An algorithm that cuts messages into very many segments."""
        segmented = SEGMENTED.get(operation, ())
        return (
            f"{segmented[0]}:{WORST_SEGMENT_BYTES}"
            if segmented and segmented[0] in self._numbers_of(operation)
            else ""
        )

    def force(self, chosen: Mapping[str, str]) -> dict[str, str]:
        """The variables `coll_tuned_OPERATION_algorithm` and those of segments."""
        variables = {f"{PREFIX}_use_dynamic_rules": "1", **self._demoted_rivals()}
        for operation, algorithm in chosen.items():
            if self._han:
                variables |= self._han.force(operation, algorithm)
            if is_choice(algorithm):
                continue
            name, _, segment = algorithm.partition(":")
            key = f"{PREFIX}_{call_of(operation)}_algorithm"
            variables[key] = str(self._numbers_of(operation)[name])
            if segment:
                variables[f"{key}_segmentsize"] = segment
        return variables

    def text(self, rules: Sequence[Rule]) -> str:
        """The file of dynamic rules of coll/tuned; see `write` for that of coll/han."""
        rules = _without_choices(rules)
        if self.form == "json":
            return json_text(rules, self._fan, self._distribution)
        return rules_text(rules, self._number, self._fan, version=int(self.form))

    def _distribution(self, ranks: int) -> str:
        return distribution(self.nodes_of(ranks), ranks) if self.is_placed else ANY

    def write(self, path: Path, rules: Sequence[Rule]) -> None:
        """Write the rules, and those by which coll/han hands over to them beside it."""
        super().write(path, rules)
        if self._han:
            beside(path).write_text(han_text(self._han.file(rules, self.nodes_of)), "utf-8")

    def write_with(self, source: Path, rule: Rule, path: Path) -> None:
        """Write both files with one more rule; a source without rules for coll/han stays so."""
        if self._han and beside(source).is_file():
            self.write(path, [rule, *self.read(source)])
        else:
            super().write_with(source, rule, path)
            beside(path).unlink(missing_ok=True)

    def remove(self, path: Path) -> None:
        """Remove both files."""
        super().remove(path)
        beside(path).unlink(missing_ok=True)

    def read(self, path: Path) -> list[Rule]:
        """Read a file of JSON or numbers as the library does, and what is beside it."""
        rules = self._read_tuned(path)
        file = self._read_han(path)
        if self._han is None or file is None:
            return rules
        return self._han.rules(file, rules, self.nodes_of)

    def _read_han(self, path: Path) -> HanFile | None:
        """The rules for coll/han beside a file, None if there are none."""
        if self._han is None or not beside(path).is_file():
            return None
        return read_han(beside(path), content(beside(path)), self._han.components)

    def _read_tuned(self, path: Path) -> list[Rule]:
        text = content(path)
        if _is_json(text):
            if self.usual_form() != "json":
                raise MissingError(
                    f"{path} is JSON, which {self.library.name} does not read",
                    "write it with --to 1",
                )
            return read_json(path, text, self._numbers_of)
        rules = read_rules(path, text, self._names_of)
        self.note = first_block_note(read_file(path, text))
        return rules

    def activate(self, path: Path) -> dict[str, str]:
        """Variables that enable dynamic rules and their files, with lower priority of rivals.

        Without rules for coll/han beside the file, han is a rival like others.
        """
        variables = {
            f"{PREFIX}_use_dynamic_rules": "1",
            f"{PREFIX}_dynamic_rules_filename": str(Path(path).resolve()),
            **self._demoted_rivals(),
        }
        file = self._read_han(path)
        if file is None:
            return {**variables, **_demoted(self._rivals())}
        return {
            **variables,
            "OMPI_MCA_coll_han_use_dynamic_file_rules": "1",
            "OMPI_MCA_coll_han_dynamic_rules_filename": str(beside(path).resolve()),
            **file.variables,
        }

    def own_files(self, environment: Mapping[str, str]) -> list[OwnFile]:
        """The files of coll/tuned and of coll/han that are switched on."""
        tuned, han = self._own(environment, TUNED_FILE), self._own(environment, HAN_FILE)
        files = [problem_of(tuned, lambda: self._numbers_in(tuned))] if tuned else []
        return files + ([problem_of(han, lambda: self._han_in(han))] if han and self._han else [])

    def extend(
        self, path: Path, rules: Sequence[Rule], environment: Mapping[str, str]
    ) -> dict[str, str]:
        """Both files with rules before those of the launch's own."""
        sound = [file.path for file in self.own_files(environment) if not file.problem]
        tuned, han = (
            own if own in sound else None
            for own in (self._own(environment, TUNED_FILE), self._own(environment, HAN_FILE))
        )
        path.write_text(self._extended_text(tuned, rules), "utf-8")
        if self._han:
            own = self._han_in(han) if han else HanFile({})
            extended = self._han.extended(own, rules, self.nodes_of)
            beside(path).write_text(han_text(extended), "utf-8")
        return self.activate(path)

    def _own(self, environment: Mapping[str, str], names: tuple[str, str]) -> Path | None:
        """The file that a launch, or the library's own configuration, names and switches on."""
        switch, name = (
            environment.get(f"OMPI_MCA_{key}", self._values.get(key, "")) for key in names
        )
        return Path(name) if name and switch.lower() in YES else None

    def _extended_text(self, own: Path | None, rules: Sequence[Rule]) -> str:
        if own is None:
            return self.text(rules)
        text = content(own)
        if _is_json(text):
            return json_with(text, self.text(rules))
        extended = with_rules(
            self._numbers_in(own), _without_choices(rules), self._number, self._fan
        )
        return file_text(extended)

    def _numbers_in(self, path: Path) -> RuleFile:
        """The numbers of a file; none if it is JSON that is read as it should be."""
        text = content(path)
        if _is_json(text):
            self._read_tuned(path)
            return RuleFile(1, {})
        return read_file(path, text)

    def _han_in(self, path: Path) -> HanFile:
        assert self._han is not None
        return read_han(path, content(path), self._han.components)

    def _demoted_rivals(self) -> dict[str, str]:
        """Variables that give rivals the lowest priority, but for coll/han where it has a file."""
        return _demoted([name for name in self._rivals() if name != "han" or self._han is None])

    def _rivals(self) -> list[str]:
        """The components with precedence over coll/tuned."""
        own = float(self._values.get("coll_tuned_priority", 30))
        priorities = {name: self._values.get(f"coll_{name}_priority", "") for name in RIVALS}
        return [
            name
            for name, priority in priorities.items()
            if re.fullmatch(r"-?\d+", priority) and float(priority) > own
        ]

    def _numbers_of(self, operation: str) -> dict[str, int]:
        """The numbers of an operation's algorithms by name; 0 leaves the choice to the library."""
        return {} if operation not in OPERATION_IDS else self._choices.get(call_of(operation), {})

    def _names_of(self, operation: str) -> dict[int, str]:
        return {number: name for name, number in self._numbers_of(operation).items()}

    def _number(self, operation: str, name: str) -> int:
        return 0 if name == NATIVE else self._numbers_of(operation)[name]

    def _fan(self, operation: str, name: str) -> int:
        """The number of chains as if the algorithm were forced; 0 in a rule would mean one."""
        value = self._values.get(f"coll_tuned_{call_of(operation)}_algorithm_chain_fanout", "0")
        return int(value) if name == "chain" and value.isdigit() else 0


def _is_json(text: str) -> bool:
    return text.lstrip().startswith("{")


def _without_choices(rules: Sequence[Rule]) -> list[Rule]:
    """Rules for coll/tuned, which has no say where coll/han decides."""
    return [
        replace(rule, algorithm=NATIVE) if is_choice(rule.algorithm) else rule for rule in rules
    ]


def beside(path: Path) -> Path:
    """The file with the rules for coll/han that belong to those of a file for coll/tuned."""
    return path.with_name(f"han-{path.name}")


def _demoted(names: Sequence[str]) -> dict[str, str]:
    return {f"OMPI_MCA_coll_{name}_priority": "0" for name in names}
