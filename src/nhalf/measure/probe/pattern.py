"""What the front end knows of a pattern: the probe's description of it (`--describe`)."""

from __future__ import annotations

import msgspec

from nhalf.measure.probe.ranks_rule import ANY, allows


class AxisInfo(msgspec.Struct, frozen=True):
    """A further coordinate of a pattern's points.

    `values` are measured by default (measure/plan/axes.py); where the axis has its `fallback`, it
    is left out of a point's identity.
    """

    name: str
    values: str = ""
    fallback: str = ""
    what: str = ""


class AlgorithmInfo(msgspec.Struct, frozen=True):
    """An algorithm of an operation, made of sends and receives of the transport.

    `cost` is its time, composed of measured parts (nhalf.models.expression); `present` is whether
    the transport can run it.
    """

    name: str
    what: str = ""
    source: str = ""
    cost: str = ""
    present: bool = True


class PatternInfo(msgspec.Struct, frozen=True):
    """One pattern of a probe.

    `present` is whether the transport can run it, `needs` what the transport lacks otherwise;
    `timing` whose clock a sample is read from; sizes are multiples of `size_multiple` bytes, and
    0 if it has none at all (not `sized`). `algorithms` are the choices of its axis `algorithm`,
    besides the library's own. `ranks_rule` restricts the number of ranks (ranks_rule.py). The
    kernel of an application needs `memory_bytes`, by class, on all ranks together, and at most
    `ranks_max` ranks, by class; classes without a limit are not listed; its timed part has
    `operations`, by class, where the program describes them. `option` (NAME=VALUE) is
    an option of the transport that it requires.
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
    operations: dict[str, float] = {}

    @property
    def ends_launch(self) -> bool:
        """Whether no other pattern can be measured after it in the same launch."""
        return self.timing == "launch-end"

    @property
    def is_kernel(self) -> bool:
        """Whether a sample is a whole run of an application, whose time cannot be chosen."""
        return bool(self.memory_bytes)

    def runs_on(self, ranks: int, problem_class: str = "") -> bool:
        """Whether it runs on this many ranks, for a problem of the class if one is named."""
        most = self.ranks_max.get(problem_class, ranks)
        return self.ranks_min <= ranks <= most and allows(self.ranks_rule, ranks)

    def sizes(self, requested_bytes: tuple[int, ...]) -> tuple[int, ...]:
        """Return the sizes at which it is measured when `requested_bytes` are requested."""
        if not self.sized:
            return (0,)
        multiple = max(1, self.size_multiple)
        return tuple(sorted({-(-size // multiple) * multiple for size in requested_bytes}))
