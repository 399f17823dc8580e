"""What must not be left half done: interruptions wait for its end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back Ctrl-C, and what else this program hears as a wish to end, until the block is over.

    Python interrupts the main thread alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    # What is ignored, as in the background, or ends this program at once stays so.
    heard = [number for number in INTERRUPTIONS if callable(signal.getsignal(number))]
    before = {number: signal.signal(number, lambda late, _: came.append(late)) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])
