"""What a report is about: its panels, its heading, and the captions of its charts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from nhalf.present.report.caption import Caption, ReaderChoice, Spec

Data = TypeVar("Data")


@dataclass(frozen=True)
class ReportSubject(ABC, Generic[Data]):
    """Runs or a traced program, with all that is known of them."""

    data: Data
    panels: ClassVar[str]
    """The package of its panels."""

    @abstractmethod
    def heading(self) -> dict[str, Any]:
        """The values of the page's template besides findings and sections."""

    @abstractmethod
    def caption(
        self, spec: Spec, patterns: Collection[str], choice: ReaderChoice | None, option: str
    ) -> Caption:
        """The caption of a chart, or of one option of its choice.

        `patterns` are the panel's subject, if its rows do not name them.
        """
