# SPDX-License-Identifier: Apache-2.0
"""The charts of the report as PNG or SVG files, for papers and slides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import vl_convert

from nhalf.base.files import write_bytes
from nhalf.facts.facts import Facts
from nhalf.present.report import themes
from nhalf.present.report.page import sections

WIDTH = 760
PIXEL_RATIO = 2.0
FONT = "Liberation Sans, DejaVu Sans, Arial, sans-serif"


def write_images(facts: Facts, folder: Path, kind: str) -> list[Path]:
    """One file per chart panel, named after it; `kind` is png or svg. Tables have no picture.

    Raises MissingError when the folder cannot be written.
    """
    charts = [section for section in sections(facts) if section.spec is not None]
    return [
        write_bytes(folder / f"{section.name}.{kind}", picture(section.spec or {}, kind))
        for section in charts
    ]


def picture(spec: dict[str, Any], kind: str, pixel_ratio: float = PIXEL_RATIO) -> bytes:
    """A specification drawn on white at a fixed width; `pixel_ratio` is of PNG only."""
    fixed = {**spec, "background": "#ffffff", "padding": 16}
    if fixed.get("width") == "container":
        fixed["width"] = WIDTH
    config = {**themes.LIGHT, "background": "#ffffff", "font": FONT}
    if kind == "svg":
        return str(vl_convert.vegalite_to_svg(fixed, config=config)).encode()
    return bytes(vl_convert.vegalite_to_png(fixed, config=config, scale=pixel_ratio))
