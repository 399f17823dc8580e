"""An HTTP endpoint for Prometheus: it answers every request with metrics, and does nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from nhalf.base.errors import InputError
from nhalf.exchange.metrics import Collected

if TYPE_CHECKING:
    from prometheus_client import Metric

LOOPBACK = "127.0.0.1"
PORT_MAX = 65535


class Address(NamedTuple):
    """Where to listen; port 0 is any that is free."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_address(text: str) -> Address:
    """'9400' is a port of this host alone; others reach it by '0.0.0.0:9400' or '[::]:9400'.

    Raises InputError for any other text.
    """
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdecimal() and int(port) <= PORT_MAX) or text.startswith(":"):
        raise InputError(f"{text!r} is no address to listen at", "write 9400 or 0.0.0.0:9400")
    return Address(host.strip("[]") or LOOPBACK, int(port))


@contextmanager
def served(address: Address, collect: Callable[[], Iterable[Metric]]) -> Iterator[Address]:
    """Serve what `collect` returns, from threads of their own, while the block lasts; where.

    Raises InputError if nothing can listen there.
    """
    from prometheus_client import start_http_server

    try:
        server, thread = start_http_server(address.port, address.host, Collected(collect))
    except OSError as error:
        text = f"cannot listen at {address}: {error.strerror}"
        raise InputError(text, "choose another --listen") from error
    try:
        yield Address(address.host, server.server_port)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
