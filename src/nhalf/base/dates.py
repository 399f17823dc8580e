"""Dates of moments that are stored as seconds since 1970."""

from datetime import datetime, tzinfo


def date_of(moment_s: float, zone: tzinfo | None = None) -> datetime | None:
    """The date in a zone, by default the local one; None for a moment that no calendar has."""
    try:
        return datetime.fromtimestamp(moment_s, zone)
    except (ValueError, OverflowError, OSError):
        return None


def date_of_text(text: str) -> datetime | None:
    """The date of an ISO 8601 text with its zone; None for any other text."""
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        return None
    return date if date.tzinfo else None
