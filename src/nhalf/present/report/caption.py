"""What a report is about, and captions of charts, in words that stay with one when it is copied."""

import copy
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from nhalf.base.rows import Row

ORDER = "ordered"
"""The parameter that arranges what is shown and does not choose it."""
Spec = dict[str, Any]
Caption = tuple[str, list[str]]
"""What is shown, and further lines below it."""


@dataclass(frozen=True)
class ReaderChoice:
    """A parameter by which a reader picks what is shown: `field` of the rows holds its options."""

    parameter: str
    options: tuple[str, ...]
    first: str
    field: str
    label: str = ""
    """The noun for its options."""

    def in_words(self, option: str) -> str:
        """Put an option in words; a number gets its label."""
        return f"{option} {self.label.lower()}" if option.isdigit() else option


CaptionOf = Callable[[ReaderChoice | None, str], Caption]
"""The caption of a chart, or of an option of its choice."""


def choice_of(spec: Spec) -> ReaderChoice | None:
    """Find the parameter that picks what a chart shows; None if all is shown at once."""
    rows = rows_of(spec)
    for parameter in spec.get("params", []):
        bound = parameter.get("bind")
        options = tuple(bound.get("options", ())) if isinstance(bound, dict) else ()
        if options and parameter["name"] != ORDER:
            expected = set(options)
            names = (name for name in rows[0] if expected <= {str(row.get(name)) for row in rows})
            field = next(names, "")
            label = str(bound.get("name", "")).strip()
            return ReaderChoice(parameter["name"], options, str(parameter["value"]), field, label)
    return None


def with_caption(spec: Spec, caption: CaptionOf) -> Spec:
    """Add a caption to a chart, which follows what is picked."""
    choice = choice_of(spec)
    if choice is None:
        return captioned(spec, *caption(None, ""))
    captions = {option: caption(choice, option) for option in choice.options}
    first, further = (
        {
            "expr": f"({json.dumps({option: lines[i] for option, lines in captions.items()})})"
            f"[{choice.parameter}]"
        }
        for i in (0, 1)
    )
    return captioned(spec, first, further)


def each_choice(spec: Spec, caption: CaptionOf) -> Iterator[tuple[str, Spec]]:
    """Yield the chart with each option picked; '' is the one that it opens with."""
    choice = choice_of(spec)
    if choice is None:
        yield "", spec
        return
    for option in choice.options:
        fixed = copy.deepcopy(spec)
        for parameter in fixed["params"]:
            if parameter["name"] == choice.parameter:
                parameter["value"] = option
        yield "" if option == choice.first else option, captioned(fixed, *caption(choice, option))


def captioned(spec: Spec, text: Any, subtitle: Any = ()) -> Spec:
    """Add a caption: a text, or an expression of what is picked, and further lines."""
    title = {
        "text": text,
        "subtitle": list(subtitle) if isinstance(subtitle, tuple) else subtitle,
        "fontSize": 12,
        "fontWeight": "normal",
        "offset": 12,
    }
    return {**spec, "title": title}


def rows_of(spec: Spec) -> list[Row]:
    """The rows of data in a specification; one empty row where there are none."""
    named_rows = [row for rows in spec.get("datasets", {}).values() for row in rows]
    return named_rows or list(spec.get("data", {}).get("values", [])) or [{}]


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
