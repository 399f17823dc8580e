# SPDX-License-Identifier: Apache-2.0
"""Titles of libraries, as short as they can be."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

ORIGIN = re.compile(r" \((?:wheel|prefix|path|system)\)")


def short_titles(titles: Mapping[str, str]) -> dict[str, str]:
    """Name the origin of a library only if two would have the same title without.

    `{"mpich-5.0.2": "MPICH 5.0.2 (wheel)"}` becomes `{"mpich-5.0.2": "MPICH 5.0.2"}`.
    """
    short = {name: ORIGIN.sub("", title) for name, title in titles.items()}
    count = Counter(short.values())
    return {name: title if count[title] == 1 else titles[name] for name, title in short.items()}
