"""Templates of whole files."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest

from nhalf.base.templates import render


def template(folder: Path, text: str) -> Path:
    path = folder / "template.j2"
    path.write_text(text)
    return path


def test_lines_of_statements_leave_no_trace_and_the_last_line_ends(tmp_path: Path) -> None:
    loop = template(tmp_path, "<\n  {% for n in numbers %}\n{{ n|twice }}\n  {% endfor %}\n>\n")
    assert render(loop, {"numbers": [1, 2]}, {"twice": lambda n: 2 * n}) == "<\n2\n4\n>\n"


@pytest.mark.parametrize(("autoescape", "shown"), [(False, "a < b"), (True, "a &lt; b")])
def test_html_is_escaped(tmp_path: Path, autoescape: bool, shown: str) -> None:
    text = render(template(tmp_path, "{{ text }}"), {"text": "a < b"}, autoescape=autoescape)
    assert text == shown


def test_a_name_that_nobody_gave_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(jinja2.UndefinedError, match="missing"):
        render(template(tmp_path, "{{ missing }}"), {})
