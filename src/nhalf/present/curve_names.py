"""A curve in words, without what all curves shown have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nhalf.base.carrier import carrier
from nhalf.base.listing import ranks_text
from nhalf.base.operations import NATIVE


def curve_names(curves: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name each curve by pattern and library, and by ranks, placement and axes that differ."""
    varies = {
        name: len({curve[name] for curve in curves}) > 1 for name in ("ranks", "placement", "axes")
    }
    return [_name(curve, varies) for curve in curves]


def _name(curve: Mapping[str, Any], varies: Mapping[str, bool]) -> str:
    algorithm = "" if curve["algorithm"] == NATIVE else curve["algorithm"]
    pattern = "/".join(filter(None, (curve["pattern"], algorithm)))
    parts = [pattern, carrier(curve["mpi"], curve["transport"])]
    if varies["ranks"]:
        parts.append(ranks_text(curve["ranks"]))
    parts += [curve[name] for name in ("placement", "axes") if varies[name]]
    return ", ".join(filter(None, parts))
