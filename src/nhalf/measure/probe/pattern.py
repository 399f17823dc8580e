# SPDX-License-Identifier: Apache-2.0
"""What the front end knows of a pattern: what a probe says about it (`--describe`)."""

from __future__ import annotations

import msgspec

from nhalf.measure.probe.ranks_rule import ANY, allows


class AxisInfo(msgspec.Struct, frozen=True):
    """A further coordinate of a pattern's points.

    `values` are measured where nobody says otherwise (measure/plan/axes.py); where the axis has its
    `fallback` it is left out of a point's identity.
    """

    name: str
    values: str = ""
    fallback: str = ""
    what: str = ""


class AlgorithmInfo(msgspec.Struct, frozen=True):
    """A way to do an operation with sends and receives of the transport.

    `cost` is what it takes, composed of measured parts (nhalf.models.expression); `present` is
    whether the transport can run it.
    """

    name: str
    what: str = ""
    source: str = ""
    cost: str = ""
    present: bool = True


class PatternInfo(msgspec.Struct, frozen=True):
    """One pattern of a probe.

    `present` is whether the transport can run it, `needs` what it would have to do for that;
    `timing` whose clock a sample is read from; sizes are multiples of `size_multiple` bytes, and
    0 if it has none at all (`sized`). `algorithms` are those that its axis of this name chooses
    from, beside the library's own. `ranks_rule` tells on how many ranks it runs (ranks_rule.py).
    The kernel of an application needs `memory_bytes`, by class, of all ranks together, and can be
    divided among `ranks_max`; classes without a limit are not in it.
    `option` (NAME=VALUE) is one of the transport without which it cannot run.
    """

    name: str
    present: bool = True
    needs: str = ""
    ranks_min: int = 2
    timing: str = "first-rank"
    sized: bool = True
    size_multiple: int = 1
    option: str = ""
    axes: tuple[AxisInfo, ...] = ()
    algorithms: tuple[AlgorithmInfo, ...] = ()
    ranks_rule: str = ANY
    memory_bytes: dict[str, float] = {}
    ranks_max: dict[str, int] = {}

    @property
    def ends_launch(self) -> bool:
        """Whether nothing can be measured after it in the same launch."""
        return self.timing == "launch-end"

    @property
    def is_kernel(self) -> bool:
        """Whether a sample is a whole run of an application, which takes the time it takes."""
        return bool(self.memory_bytes)

    def runs_on(self, ranks: int, problem_class: str = "") -> bool:
        """Whether it can be run by this many ranks, where a class is named on a problem of it."""
        most = self.ranks_max.get(problem_class, ranks)
        return self.ranks_min <= ranks <= most and allows(self.ranks_rule, ranks)

    def sizes(self, wanted: tuple[int, ...]) -> tuple[int, ...]:
        """The sizes that it is measured at, in bytes, where `wanted` are asked for."""
        if not self.sized:
            return (0,)
        multiple = max(1, self.size_multiple)
        return tuple(sorted({-(-size // multiple) * multiple for size in wanted}))
