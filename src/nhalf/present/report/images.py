"""The charts of the report as PNG, SVG or PDF files, for papers and slides."""

import csv
import io
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import vl_convert

from nhalf.base.files import write_bytes
from nhalf.facts.facts import Facts
from nhalf.facts.program.program import Program
from nhalf.present.panels import Table
from nhalf.present.report import themes
from nhalf.present.report.caption import ReportSubject, each_choice
from nhalf.present.report.sections import Section, sections, subject_of

WIDTH = 760
PIXEL_RATIO = 2.0
FONT = "Liberation Sans, DejaVu Sans, Arial, sans-serif"


def write_images(data: Facts | Program, folder: Path, kind: str) -> list[Path]:
    """Write a file per panel and, where a chart shows one option at a time, per option.

    `kind` is png, svg or pdf; panels that are tables are written as CSV. Files are named after the
    panel, 'latency.png', and what is not shown at first 'latency-stream.png'. Raises MissingError
    when the folder cannot be written.
    """
    subject = subject_of(data)
    return [
        write_bytes(folder / name, content)
        for section in sections(data)
        for name, content in _files(section, subject, kind)
    ]


def _files(section: Section, subject: ReportSubject[Any], kind: str) -> Iterator[tuple[str, bytes]]:
    if section.table is not None:
        yield f"{section.name}.csv", table_csv(section.table)
    if section.spec is None:
        return
    caption = partial(subject.caption, section.spec, section.patterns)
    for shown, spec in each_choice(section.spec, caption):
        name = "-".join(filter(None, (section.name, re.sub(r"[^\w.]+", "-", shown).strip("-"))))
        yield f"{name}.{kind}", picture(titled(spec, section.title), kind)


def titled(spec: dict[str, Any], title: str) -> dict[str, Any]:
    """A chart that stands alone: the panel's title above its caption."""
    below = spec["title"]
    lines = [below["text"], *below["subtitle"]]
    return {**spec, "title": {"text": title, "subtitle": lines, "offset": 12}}


def table_csv(table: Table) -> bytes:
    """A table as CSV in UTF-8."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([table.columns, *table.rows])
    return text.getvalue().encode()


def picture(spec: dict[str, Any], kind: str, pixel_ratio: float = PIXEL_RATIO) -> bytes:
    """A specification drawn on white at a fixed width; `pixel_ratio` is of PNG only."""
    fixed = {**spec, "background": "#ffffff", "padding": 16}
    if fixed.get("width") == "container":
        fixed["width"] = WIDTH
    config = {**themes.LIGHT, "background": "#ffffff", "font": FONT}
    if kind == "svg":
        return str(vl_convert.vegalite_to_svg(fixed, config=config)).encode()
    if kind == "pdf":
        return bytes(vl_convert.vegalite_to_pdf(fixed, config=config))
    return bytes(vl_convert.vegalite_to_png(fixed, config=config, scale=pixel_ratio))
