"""The calls and messages of a traced program for Perfetto and chrome://tracing."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from nhalf.exchange.exporters import Exporter, Subject, the_program
from nhalf.exchange.program.chrome_events import chrome_events


class Chrome(Exporter):
    """Trace events: a slice per call, a flow per message."""

    description: ClassVar[str] = (
        "a traced program's calls and messages, for Perfetto (ui.perfetto.dev)"
    )

    def text(self, subject: Subject) -> str:
        """The events as one JSON object."""
        program = the_program(subject, "chrome")
        events = list(chrome_events(program))
        whole = {"traceEvents": events, "displayTimeUnit": "ns"}
        return msgspec.json.encode(whole).decode() + "\n"
