"""How results are written down."""

from __future__ import annotations

from collections.abc import Sequence


def width(values: Sequence[float]) -> float:
    """Relative distance of the largest from the smallest."""
    return max(values) / min(values) - 1


def table(title: str, note: str, head: list[str], rows: list[list[str]]) -> str:
    """A page of one Markdown table."""
    lines = [f"# {title}", "", note, "", "| " + " | ".join(head) + " |"]
    lines.append("|" + "---:|" * len(head))
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"
