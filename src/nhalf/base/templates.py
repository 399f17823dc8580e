"""Templates for whole files, rendered the same way everywhere."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jinja2


def render(
    template: Path,
    values: Mapping[str, Any],
    filters: Mapping[str, Callable[..., Any]] | None = None,
    *,
    autoescape: bool = False,
) -> str:
    """A template rendered with `values`; lines that hold only a statement leave no blank line.

    `autoescape` is for HTML. Raises jinja2.UndefinedError for a name without a value.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template.parent),
        autoescape=autoescape,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(filters or {})
    return environment.get_template(template.name).render(**values)
