"""Break and repair a lab while things run: slower links, pulled cables, power cuts."""

from __future__ import annotations

from typing import Any

from nhalf.base.errors import InputError
from nhalf.sites.lab import network, places, processes
from nhalf.sites.lab.state import Lab


def change_link(
    lab: Lab, name: str, rate_Bps: float | None = None, up: bool | None = None
) -> dict[str, Any]:
    """Change the rate of a link, pull it (`up` False) or plug it in; returns its new state.

    Raises InputError for a link that is not there, or if nothing is to be changed.
    """
    link = lab.layout.link(name)
    if rate_Bps is None and up is None:
        raise InputError(
            f"nothing is to be changed at {lab.layout.title(link)}", "add --rate, --down or --up"
        )
    if up is not None:
        network.switch_link(lab, link, up)
    if rate_Bps is not None:
        network.shape(lab, {link: rate_Bps})
    return network.link_state(lab, link)


def kill_node(lab: Lab, node: str) -> int:
    """Cut the power of a node: kill its processes without notice; returns their number.

    The link is cut first, so that no peer sees a connection close.
    """
    link = lab.layout.link(lab.layout.node(node))
    network.switch_link(lab, link, up=False)
    died = len(processes.of_node(lab, node))
    processes.kill(lambda: processes.of_node(lab, node))
    for file_name in (f"keeper.{node}", f"slurmd.{node}.pid"):
        (lab.folder / file_name).unlink(missing_ok=True)
    return died


def restart_node(lab: Lab, node: str) -> None:
    """Start a node as after a power cut: whatever ran there is gone, its link is plugged in."""
    kill_node(lab, node)
    network.switch_link(lab, lab.layout.link(node), up=True)
    places.start(lab, node)
