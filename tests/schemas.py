"""The published schemas of what `--json` prints, and whether an output keeps to its own."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import jsonschema

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "schemas"


def check_schema(out: str) -> None:
    """Raises ValidationError if JSON that names a published schema is of another form.

    Output that is no JSON, or names none, passes.
    """
    if not out.startswith('{"schema":"'):
        return
    said = json.loads(out)
    name = said["schema"].partition("/")[0]
    if (FOLDER / f"{name}.json").is_file():
        validator(name).validate(said)


@functools.cache
def validator(name: str) -> Any:
    """The validator of a schema, which must itself be one."""
    schema = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)
