"""What decoders of JSON and TOML raise for content that they cannot read, however it is made."""

import re

import msgspec

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Bytes that are no text, text of another form, and one that is nested too deeply."""
KEY_PARTS_MAX = 100
"""More parts than any key has; a parser of TOML takes a time that grows with their square."""
_PART = rb"(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')"
_LONG_KEY = re.compile(
    rb"[\[\s]*" + _PART + rb"(?:[ \t]*\.[ \t]*" + _PART + rb"){%d}" % KEY_PARTS_MAX
)


def check_keys(content: bytes) -> None:
    """Raises msgspec.DecodeError for TOML with a key of more parts than KEY_PARTS_MAX."""
    for line in content.splitlines():
        if line.count(b".") < KEY_PARTS_MAX:
            continue
        for text in re.split(rb"[={,]", line):
            if text.count(b".") >= KEY_PARTS_MAX and _LONG_KEY.match(text):
                raise msgspec.DecodeError(f"a key has more than {KEY_PARTS_MAX} parts")
