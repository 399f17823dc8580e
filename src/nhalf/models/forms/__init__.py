"""Models: one file, one model of time against message size, fitted to a measured curve."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

from nhalf.base.arrays import Floats

ENTRY_POINTS = "nhalf.models"


@dataclass(frozen=True)
class Curve:
    """Time against size for one pattern of one library: n sizes, k launches.

    `size_bytes` (n,) strictly increasing; `time_s` (n,) the reported medians; `low_s`, `high_s`
    (n,) their intervals; `launch_time_s` (k, n) each launch's median, NaN if a launch did not
    measure a size. All times are seconds and positive.
    """

    size_bytes: Floats
    time_s: Floats
    low_s: Floats
    high_s: Floats
    launch_time_s: Floats


class Model(ABC):
    """A fitted model of T(n), the time in seconds of n bytes."""

    what: ClassVar[str]
    """One sentence on what the model describes."""
    formula: ClassVar[str]
    source: ClassVar[str]
    """The paper or book that the method comes from."""

    @classmethod
    @abstractmethod
    def fit(cls, curve: Curve) -> Self:
        """The model that describes the curve best; raises InputError if it cannot be fitted."""

    @abstractmethod
    def predict_s(self, size_bytes: Floats) -> Floats:
        """Times in seconds for sizes in bytes, same shape.

        Raises InputError beyond the sizes seen, unless the model says that it may extrapolate.
        """
