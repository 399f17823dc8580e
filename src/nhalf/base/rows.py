"""The type of one row of a table: values by column name."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
