"""The picture of the house for the documentation: its wings in their order, and who imports whom.

`svg()` draws the wings as floors, `base` at the ground, and every pair of wings that import each
other as an arc as thick as there are imports: to the right from a wing down to one that stands
below it, to the left and in red where an import goes up. Colours are those of the page around it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from html import escape
from pathlib import Path

import wings

ROOT = Path(__file__).resolve().parent.parent
FLOOR_PX, BOX_PX, GAP_PX = 46, 36, 10
LEFT_PX, BOX_WIDTH_PX, ARCS_PX = 4, 560, 220
UP_PX = 60
"""Room on the left, where there is an import up."""
NAME_PX = 118
"""Where the sentence of a wing begins, behind its name."""
STYLE = """
.house { font: 14px var(--md-text-font-family, sans-serif); width: 100%; max-width: 46rem; }
.house text { fill: var(--md-default-fg-color, black); dominant-baseline: central; }
.house .name { font-weight: 700; font-size: 15px; }
.house rect { fill: var(--md-typeset-a-color, royalblue); fill-opacity: .09;
  stroke: var(--md-typeset-a-color, royalblue); stroke-opacity: .45; }
.house path { fill: none; stroke: var(--md-typeset-a-color, royalblue); stroke-linecap: round;
  opacity: .3; transition: opacity .15s; }
.house path.up { stroke: crimson; opacity: 1; }
.house .floor:hover rect { fill-opacity: .25; }
.house:has(.floor:hover) path { opacity: .05; }
.house path:hover { opacity: 1; }
"""


def svg() -> str:
    """The picture as an element of HTML, with its style."""
    files = wings.module_files(ROOT)
    pairs = wings.between_wings(wings.arrows(files))
    members = Counter(wings.wing(module) for module in files)
    height = len(wings.ORDER) * FLOOR_PX + GAP_PX
    left = UP_PX if any(_middle_px(a) > _middle_px(b) for a, b in pairs) else 0
    width = left + LEFT_PX + BOX_WIDTH_PX + ARCS_PX
    parts = [*_arcs(pairs), *_floors(members)]
    title = "The wings of nhalf in their order, and how many imports there are between them"
    return (
        f'<svg class="house" viewBox="{-left} 0 {width} {height}" role="img" aria-label="{title}">'
        f"<style>{STYLE}{''.join(_highlights(pairs))}</style>{''.join(parts)}</svg>"
    )


def _middle_px(wing: str) -> float:
    """The height of the middle of a wing's floor: the last of the order is on top."""
    above = len(wings.ORDER) - 1 - list(wings.ORDER).index(wing)
    return GAP_PX / 2 + above * FLOOR_PX + FLOOR_PX / 2


def _floors(members: Counter[str]) -> Iterator[str]:
    for wing, what in wings.ORDER.items():
        y = _middle_px(wing)
        yield (
            f'<g class="floor" id="wing-{wing}"><rect x="{LEFT_PX}" y="{y - BOX_PX / 2:g}" '
            f'width="{BOX_WIDTH_PX}" height="{BOX_PX}" rx="6"/>'
            f'<text class="name" x="{LEFT_PX + 12}" y="{y:g}">{wing}</text>'
            f'<text x="{LEFT_PX + NAME_PX}" y="{y:g}">{escape(what)}</text>'
            f"<title>{wing}: {members[wing]} files</title></g>"
        )


def _arcs(pairs: Counter[tuple[str, str]]) -> Iterator[str]:
    """An arc for each pair, the long ones first, so that short ones lie on top."""
    reach = len(wings.ORDER) - 1
    longest_first = sorted(pairs.items(), key=lambda pair: -_floors_apart(*pair[0]))
    for (importer, imported), count in longest_first:
        begin, end = _middle_px(importer), _middle_px(imported)
        apart = _floors_apart(importer, imported)
        up = begin > end
        x = LEFT_PX if up else LEFT_PX + BOX_WIDTH_PX
        # Quarters of a box apart, so that what leaves a wing and what enters it can be told.
        begin, end = begin + BOX_PX / 5, end - BOX_PX / 5
        bow = -UP_PX if up else ARCS_PX * 1.28 * (apart / reach) ** 0.75
        classes = f"from-{importer} to-{imported}" + (" up" if up else "")
        yield (
            f'<path class="{classes}" stroke-width="{0.6 + math.sqrt(count) * 0.62:.2f}" '
            f'd="M{x} {begin:g}C{x + bow:.0f} {begin:g} {x + bow:.0f} {end:g} {x} {end:g}">'
            f"<title>{importer} imports {imported}: {count}</title></path>"
        )


def _floors_apart(importer: str, imported: str) -> int:
    order = list(wings.ORDER)
    return abs(order.index(importer) - order.index(imported))


def _highlights(pairs: Counter[tuple[str, str]]) -> Iterator[str]:
    """Rules that show the arcs of the wing under the pointer."""
    for wing in wings.ORDER:
        chosen = f".house:has(#wing-{wing}:hover)"
        yield f"{chosen} .from-{wing}, {chosen} .to-{wing} {{ opacity: .85 }}\n"
