"""`--style`: the benchmark names and the tables of other suites."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from nhalf.base.errors import unknown

if TYPE_CHECKING:
    from nhalf.exchange.styles import Style
    from nhalf.facts.facts import Facts


def style_of(name: str) -> Style:
    """A style by name; raises InputError for an unknown one."""
    from nhalf.base.plugins import load
    from nhalf.exchange import styles

    styles_by_name: dict[str, type[Style]] = load(styles.__name__, styles.Style)
    if name not in styles_by_name:
        raise unknown("style", name, styles_by_name)
    return styles_by_name[name]()


def patterns_of(style: str, text: str) -> str:
    """Benchmarks of a suite, separated by commas, as patterns; other names as they are."""
    chosen = style_of(style)
    return ",".join(chosen.pattern(word.strip()) for word in text.split(",") if word.strip())


def show_style(style: str, facts: Facts) -> None:
    """Print the tables on standard output."""
    sys.stdout.write(style_of(style).text(facts))
    sys.stdout.flush()
