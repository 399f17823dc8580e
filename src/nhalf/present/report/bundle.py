"""The scripts that draw the charts: Vega, Vega-Lite and vega-embed as one."""

from __future__ import annotations

import functools
import hashlib
import re
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from nhalf.base.errors import MissingError
from nhalf.base.folders import cache_folder, write_cached

ENTRY = "window.vegaEmbed = vegaEmbed;"


@functools.cache
def bundle() -> str:
    """One script for a page, made once and then read from the cache: making it takes a second."""
    try:
        text = _kept().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, MissingError):
        text = _made()
        with suppress(MissingError):  # a cache that cannot be written costs time only
            write_cached(_kept(), text)
    return script_text(text)


def script_text(source: str) -> str:
    """JavaScript in which nothing reads as the end of its element or as a comment of HTML."""
    return re.sub(r"</(script)", r"<\\/\1", source, flags=re.IGNORECASE).replace("<!--", "<\\!--")


def _made() -> str:
    import vl_convert  # lazy: a kept script does without it

    return vl_convert.javascript_bundle(ENTRY)


def _kept() -> Path:
    """Path of the cached script, by release of the converter and entry.

    Raises MissingError if somebody else could have written there.
    """
    made_of = f"{version('vl-convert-python')} {ENTRY}"
    return cache_folder() / "scripts" / f"{hashlib.sha256(made_of.encode()).hexdigest()[:12]}.js"
