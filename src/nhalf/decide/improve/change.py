# SPDX-License-Identifier: Apache-2.0
"""A change of how a program is launched, as data: it can be applied, combined and written down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from nhalf.mpi.launch_settings import (
    LaunchCommand,
    with_options,
    with_variable,
    without_variable,
)


@dataclass(frozen=True)
class Change:
    """Variables to set, or to take away where the value is None, and options of the launcher.

    `options` take the place of all options named in `replaced`, written without dashes;
    `launcher` takes that of the launcher, unless it is empty.
    """

    variables: Mapping[str, str | None] = field(default_factory=dict)
    replaced: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    launcher: tuple[str, ...] = ()

    def applied(self, launch: LaunchCommand) -> LaunchCommand:
        """The launch with this change."""
        changed = launch
        for name, value in self.variables.items():
            changed = (
                without_variable(changed, name)
                if value is None
                else with_variable(changed, name, value)
            )
        if self.replaced or self.options:
            changed = with_options(changed, self.replaced, self.options)
        return replace(changed, launcher=self.launcher) if self.launcher else changed

    @property
    def only_removes(self) -> bool:
        """Whether it takes settings away, and sets nothing."""
        is_set = any(value is not None for value in self.variables.values())
        return bool(self.variables) and not (is_set or self.options or self.launcher)

    @property
    def subjects(self) -> frozenset[str]:
        """What it changes: two changes of one subject exclude each other."""
        launcher = {"the launcher"} if self.launcher else set()
        return frozenset({*self.variables, *self.replaced, *launcher})


def applied(changes: Iterable[Change], launch: LaunchCommand) -> LaunchCommand:
    """The launch with several changes, in their order."""
    for change in changes:
        launch = change.applied(launch)
    return launch
