"""The endpoint for Prometheus: loopback unless told, numbers and nothing else."""

from __future__ import annotations

import socket
import urllib.error
import urllib.request

import pytest
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from nhalf.base.errors import InputError
from nhalf.exchange.endpoint import LOOPBACK, parse_address, served
from tests.patience import patience_s

ACCEPTED = "application/openmetrics-text; version=1.0.0"


def families() -> list[Metric]:
    family = Metric("nhalf_rank_up", "Whether it runs.", "gauge")
    family.add_sample("nhalf_rank_up", {"rank": "0"}, 1.0)
    return [family]


def asked(url: str, path: str = "/metrics", method: str = "GET") -> tuple[str, str]:
    """The answer, and its type."""
    request = urllib.request.Request(
        url.replace("/metrics", path), headers={"Accept": ACCEPTED}, method=method
    )
    with urllib.request.urlopen(request, timeout=patience_s(30)) as answer:
        return answer.read().decode(), answer.headers["Content-Type"]


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("9400", LOOPBACK, 9400),
        ("0.0.0.0:9400", "0.0.0.0", 9400),
        ("[::1]:80", "::1", 80),
        ("node3:0", "node3", 0),
    ],
)
def test_addresses(text: str, host: str, port: int) -> None:
    assert parse_address(text) == (host, port)


@pytest.mark.parametrize("text", ["", ":", ":9400", "x", "host:", "1:-1", "65536", "9400x", "²"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(InputError, match="no address"):
        parse_address(text)


def test_a_request_is_answered_with_openmetrics() -> None:
    with served(LOOPBACK, 0, families) as url:
        assert url.startswith("http://127.0.0.1:")
        text, kind = asked(url)
    assert kind.startswith("application/openmetrics-text")
    (family,) = text_string_to_metric_families(text)
    assert family.samples[0].value == 1.0


def test_no_path_leads_to_anything_else() -> None:
    with served(LOOPBACK, 0, families) as url:
        assert asked(url, "/etc/passwd")[0] == asked(url, "/../..")[0] == asked(url)[0]
        with pytest.raises(urllib.error.HTTPError):
            asked(url, method="POST")


def test_nothing_listens_afterwards() -> None:
    with served(LOOPBACK, 0, families) as url:
        pass
    with pytest.raises(urllib.error.URLError):
        asked(url)


def test_a_port_that_is_taken_is_one_clear_error() -> None:
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match="cannot listen at"), served(LOOPBACK, port, families):
            pass


def test_a_host_that_there_is_not_is_one_clear_error() -> None:
    host = "no.such.host.invalid"
    with pytest.raises(InputError, match="cannot listen at"), served(host, 0, families):
        pass
