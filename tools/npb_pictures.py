"""Pictures of what the NAS Parallel Benchmarks communicate: who sends how much to whom."""

from __future__ import annotations

from html import escape

from nhalf.base.units import format_size
from nhalf.models.npb.problems import problem
from nhalf.models.npb.traffic import ALLTOALL, ALLTOALLV, SEND, traffic_of

RANKS = 16
KERNELS = {
    "cg": "butterflies along rows of ranks, and a transpose",
    "mg": "layers to six neighbours, on every grid",
    "ft": "blocks of a transpose, all with all",
    "is": "keys to whoever has their bucket",
    "bt": "faces and pieces of lines to six neighbours",
    "sp": "as BT, with smaller pieces",
    "lu": "edges and faces to neighbours in x and y",
}
DRAWN = {"ft": ALLTOALL, "is": ALLTOALLV}
"""What is drawn of kernels that send blocks; of IS all keys, divided evenly."""
CELL_PX, ROOM_PX, HEAD_PX = 9, 14, 34
STYLE = """
.npb { display: grid; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); gap: 1rem; }
.npb svg { width: 100%; font: 9px var(--md-text-font-family, sans-serif); }
.npb text { fill: var(--md-default-fg-color, black); }
.npb .frame { fill: none; stroke: var(--md-default-fg-color, black); stroke-opacity: .4; }
.npb .cell { fill: var(--md-typeset-a-color, royalblue); }
"""


def figures() -> str:
    """A matrix for every kernel that sends messages or blocks, as HTML with its style."""
    return f"<style>{STYLE}</style><div class='npb'>{''.join(map(_matrix, KERNELS))}</div>"


def sent_bytes(kernel: str) -> dict[tuple[int, int], int]:
    """Bytes of a whole run by sender and receiver; what a rank sends to itself is left out."""
    found: dict[tuple[int, int], int] = {}
    for rank in range(RANKS):
        for (call, partner, size_bytes), times in traffic_of(
            problem(kernel, "S"), rank, RANKS
        ).items():
            if call != DRAWN.get(kernel, SEND):
                continue
            piece_bytes = size_bytes // RANKS if call == ALLTOALLV else size_bytes
            for peer in [partner] if call == SEND else range(RANKS):
                if peer != rank:
                    found[rank, peer] = found.get((rank, peer), 0) + piece_bytes * times
    return found


def _matrix(kernel: str) -> str:
    """Senders from top to bottom, receivers from left to right; darker is more."""
    sent = sent_bytes(kernel)
    least, most = min(sent.values()), max(sent.values())
    cells = []
    for (rank, peer), size_bytes in sorted(sent.items()):
        shade = 0.2 + 0.8 * size_bytes / most
        x, y = ROOM_PX + CELL_PX * peer, HEAD_PX + CELL_PX * rank
        said = f"{kernel.upper()}: rank {rank} sends rank {peer} {format_size(size_bytes)}"
        cells.append(
            f'<rect class="cell" x="{x}" y="{y}" width="{CELL_PX - 1}" height="{CELL_PX - 1}" '
            f'fill-opacity="{shade:.2f}"><title>{said}</title></rect>'
        )
    side = CELL_PX * RANKS
    span = format_size(most) if least == most else f"{format_size(least)} to {format_size(most)}"
    title = f"{kernel.upper()} on {RANKS} ranks: {KERNELS[kernel]}"
    return (
        f'<svg viewBox="0 0 {side + 2 * ROOM_PX} {side + HEAD_PX + ROOM_PX}" role="img" '
        f'aria-label="{escape(title)}"><text x="{ROOM_PX}" y="12" font-weight="700">'
        f'{kernel.upper()}</text><text x="{ROOM_PX}" y="26">{span} a pair</text>'
        f'<rect class="frame" x="{ROOM_PX - 1}" y="{HEAD_PX - 1}" width="{side + 1}" '
        f'height="{side + 1}"/>{"".join(cells)}'
        f'<text x="{ROOM_PX}" y="{side + HEAD_PX + 11}">receiver 0 to {RANKS - 1}</text></svg>'
    )
