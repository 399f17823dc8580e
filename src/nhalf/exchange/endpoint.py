"""An HTTP endpoint for Prometheus: it answers every request with metrics, and does nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nhalf.base.errors import InputError
from nhalf.exchange.metrics import Collected

if TYPE_CHECKING:
    from prometheus_client import Metric

LOOPBACK = "127.0.0.1"
PORT_MAX = 65535


def parse_address(text: str) -> tuple[str, int]:
    """Host and port: '9400' is of this host alone, for others '0.0.0.0:9400' or '[::]:9400'; 0 is
    any port that is free. Raises InputError for any other text.
    """
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdecimal() and int(port) <= PORT_MAX) or text.startswith(":"):
        raise InputError(f"{text!r} is no address to listen at", "write 9400 or 0.0.0.0:9400")
    return host.strip("[]") or LOOPBACK, int(port)


@contextmanager
def served(host: str, port: int, collect: Callable[[], Iterable[Metric]]) -> Iterator[str]:
    """Serve what `collect` returns, from threads apart, while the block lasts; yields the URL.

    Raises InputError if nothing can listen there.
    """
    from prometheus_client import start_http_server

    try:
        server, thread = start_http_server(port, host, Collected(collect))
    except OSError as error:
        text = f"cannot listen at {host}, port {port}: {error.strerror}"
        raise InputError(text, "choose another --listen") from error
    try:
        yield f"http://{f'[{host}]' if ':' in host else host}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
