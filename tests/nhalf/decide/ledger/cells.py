"""Lines of a ledger for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from nhalf.decide.ledger.lines import Kind, LedgerCell, Predicted, Scored

NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)


def cell(number: int = 0, **more: object) -> LedgerCell:
    values = {"machine": "here", "pattern": "bcast", "ranks": 4, "size_bytes": number, **more}
    return LedgerCell(**values)  # type: ignore[arg-type]


def predicted(
    number: int = 0,
    value: float = 1.0,
    ends: tuple[float | None, float | None] = (None, None),
    hours: float = 0.0,
    kind: Kind = "model",
) -> Predicted:
    at = NOON + timedelta(hours=hours)
    low, high = ends
    return Predicted(at=at, kind=kind, cell=cell(number), value=value, low=low, high=high)


def scored(
    ratio: float, end_ratio: float | None = None, number: int = 0, kind: Kind = "model"
) -> Scored:
    return Scored(
        predicted_at=NOON,
        measured_at=NOON + timedelta(days=1),
        run="later",
        kind=kind,
        cell=cell(number),
        measured_ratio=ratio,
        end_ratio=end_ratio,
    )
