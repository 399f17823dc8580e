"""Two recorded runs: their differences as switches, and mixtures of them as plans.

A mixture has the plan of A with the options of its transport, library, variables, placement, axes
and launcher of the chosen sides. Everything else that the records say of their surroundings (host,
kernel, processor …) is listed, and cannot be switched.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from nhalf.base.errors import InputError
from nhalf.decide.history.around import ABSENT, differences, surroundings
from nhalf.experiment.why.switch import Mixture, SettableDifference
from nhalf.measure.plan.plan import Block, Plan, read_plan, split_name
from nhalf.mpi.job import is_of_job
from nhalf.mpi.named_prefix import kept_as
from nhalf.store.run import Run

OPTION, VARIABLE, AXIS, FIELD = "option", "variable", "axis", "field"
FIELDS = ("transports", "launcher", "hosts", "host_file", "placements", "ranks")
"""What plans or their blocks say that one launch can take from either side."""
NAMES = {"transports": "transport", "placements": "placement", "host_file": "host file"}
COVERED = ("variables", "options", "launcher", "settings", "site", "eager limits", "nhalf")
"""Beginnings of lines of the record that are switched, or follow from what is."""


@dataclass(frozen=True)
class RunSide:
    """One run, or one library of it, as plain values by kind and name."""

    run: Run
    plan: Plan
    library: str
    values: Mapping[tuple[str, str], str]


def run_side(run: Run, library: str) -> RunSide:
    """What can be switched of a run. Raises InputError for one whose points do not say enough."""
    if run.simulation:
        raise InputError(f"{run.path.name} was simulated", "give runs that were measured")
    try:
        plan = read_plan(run.plan)
    except msgspec.ValidationError as error:
        raise InputError(f"{run.path.name} has no plan to launch again", "measure it") from error
    name, setting = split_name(library)
    text_in_plan = kept_as(name, plan.mpi)
    libraries = [text_in_plan] if text_in_plan else plan.mpi
    libraries_measured = run.measurements().select("mpi").unique().collect()["mpi"]
    measured = sorted(filter(None, libraries_measured))
    if not name and len(measured) > 1:
        listed = " or ".join(f"{run.path}:{library}" for library in measured)
        raise InputError(f"{run.path.name} has {len(measured)} libraries", f"name one: {listed}")
    variables = _variables(run, plan, setting)
    values = {
        **{(OPTION, key): value for key, value in options_of(plan.options).items()},
        **{(VARIABLE, key): value for key, value in variables.items()},
        **{(AXIS, key): value for key, value in _axes(plan).items()},
        (FIELD, "mpi"): ",".join(libraries),
        **{(FIELD, key): _field(plan, key) for key in FIELDS},
    }
    set_values = {key: value for key, value in values.items() if value}
    return RunSide(run, plan, library, set_values)


@dataclass(frozen=True)
class RunPair:
    """Two runs of the same patterns."""

    a: RunSide
    b: RunSide

    @property
    def keys(self) -> list[tuple[str, str]]:
        """The kinds and names of what differs and can be switched."""
        keys = dict.fromkeys([*self.a.values, *self.b.values])
        return [key for key in keys if self.a.values.get(key) != self.b.values.get(key)]

    @property
    def switches(self) -> list[SettableDifference]:
        """The differences that can be switched."""
        a, b = self.a.values, self.b.values
        return [
            SettableDifference(_name(key), a.get(key, ABSENT), b.get(key, ABSENT))
            for key in self.keys
        ]

    @property
    def not_tried(self) -> list[SettableDifference]:
        """The recorded differences that no launch can switch."""
        changes = differences([surroundings(self.a.run)], [surroundings(self.b.run)])
        a_titles, b_titles = self.a.run.titles, self.b.run.titles
        return [
            SettableDifference(change.name, change.before, change.after)
            for change in changes
            if not change.name.startswith(COVERED)
        ] + [
            # Libraries of one name that describe themselves differently.
            SettableDifference(name, a_titles[name], b_titles[name])
            for name in sorted(set(a_titles) & set(b_titles))
            if a_titles[name] != b_titles[name]
        ]

    def check(self) -> None:
        """Raises InputError unless both measured the same patterns, block by block."""
        a, b = ([block.patterns for block in side.plan.blocks] for side in (self.a, self.b))
        if a != b:
            raise InputError(
                "A and B measured different patterns", "measure the points of A again: run --like"
            )
        if bool(self.a.run.virtual) != bool(self.b.run.virtual):
            raise InputError("one run is in virtual time, the other is not", "give two of a kind")
        # Launches switch the number of nodes alone.
        machines = [{**side.run.virtual, "nodes": 0} for side in (self.a, self.b)]
        if machines[0] != machines[1]:
            raise InputError(
                "the runs are on two simulated machines", "see nhalf compare for those"
            )

    def mixed(self, mixture: Mixture) -> tuple[Plan, dict[str, str]]:
        """The plan of A with these switches as in B, and the variables of its environment."""
        values = dict(self.a.values)
        for number, key in enumerate(self.keys):
            if number in mixture:
                values.pop(key, None)
                if key in self.b.values:
                    values[key] = self.b.values[key]
        plan = msgspec.structs.replace(
            self.a.plan,
            options=",".join(f"{name}={value}" for name, value in _of(values, OPTION).items()),
            mpi=_words(values.get((FIELD, "mpi"), "")),
            transports=_words(values[FIELD, "transports"]),
            launcher=values.get((FIELD, "launcher"), ""),
            hosts=values.get((FIELD, "hosts"), ""),
            host_file=values.get((FIELD, "host_file"), ""),
            settings=[],
            blocks=[self._block(block, values) for block in self.a.plan.blocks],
        )
        return plan, _of(values, VARIABLE)

    def _block(self, block: Block, values: Mapping[tuple[str, str], str]) -> Block:
        """A block with the axes, the placements and the ranks of the chosen sides."""
        readers: dict[str, tuple[str, Callable[[], Any]]] = {
            AXIS: ("axes", lambda: _of(values, AXIS)),
            "placements": ("placements", lambda: _words(values[FIELD, "placements"])),
            "ranks": ("ranks", lambda: [int(word) for word in _words(values[FIELD, "ranks"])]),
        }
        differing = {kind if kind == AXIS else name for kind, name in self.keys}
        changes = {name: read() for key, (name, read) in readers.items() if key in differing}
        return msgspec.structs.replace(block, **changes)


def options_of(text: str) -> dict[str, str]:
    """Options of a transport by name: 'o_s=1e-6,L=5e-6'."""
    pairs = (part.partition("=") for part in text.split(",") if part)
    return {name: value for name, _, value in pairs}


def _variables(run: Run, plan: Plan, setting: str) -> dict[str, str]:
    """The recorded variables, without those of a batch job, and those of a setting."""
    recorded = run.environment.get("variables", {})
    own = {name: str(value) for name, value in recorded.items() if not is_of_job(name)}
    for candidate in plan.settings:
        if candidate.name == setting:
            own.update(candidate.variables)
    return own


def _axes(plan: Plan) -> dict[str, str]:
    """The axes, if all blocks have the same."""
    axes = [block.axes for block in plan.blocks]
    return dict(axes[0]) if axes and all(block_axes == axes[0] for block_axes in axes) else {}


def _field(plan: Plan, name: str) -> str:
    """A field of the plan, or of its blocks if all have the same, as text."""
    if name not in ("placements", "ranks"):
        value = getattr(plan, name)
        return ",".join(value) if isinstance(value, list) else value
    texts = {",".join(map(str, getattr(block, name))) for block in plan.blocks}
    return texts.pop() if len(texts) == 1 else ""


def _name(key: tuple[str, str]) -> str:
    kind, name = key
    return "library" if name == "mpi" else NAMES.get(name, name) if kind == FIELD else name


def _of(values: Mapping[tuple[str, str], str], kind: str) -> dict[str, str]:
    return {name: value for (key, name), value in values.items() if key == kind}


def _words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]
