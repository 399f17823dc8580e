"""The current state of a lab, from Slurm and from the links themselves."""

from __future__ import annotations

from typing import Any

from nhalf.sites.lab import network, slurm
from nhalf.sites.lab.layout import HEAD
from nhalf.sites.lab.places import keeper
from nhalf.sites.lab.processes import running
from nhalf.sites.lab.state import Lab


def status(lab: Lab) -> dict[str, Any]:
    """Nodes, links and jobs; the node state 'silent' means that Slurm does not answer."""
    states = slurm.node_states(lab)
    nodes = [
        {
            "node": node,
            "address": lab.address(node),
            "state": states.get(node, "silent"),
            "alive": keeper(lab, node) is not None,
            "slurmd": running(lab, f"slurmd.{node}.pid"),
        }
        for node in lab.layout.nodes
    ]
    return {
        "lab": lab.name,
        "topology": lab.topology,
        "folder": str(lab.folder),
        "slurm_conf": str(lab.slurm_conf),
        "address": lab.address(HEAD),
        "cpus": lab.cpus,
        "rate_Bps": lab.rate_Bps,
        "slurmctld": running(lab, "slurmctld.pid"),
        "nodes": nodes,
        "links": [network.link_state(lab, link) for link in lab.layout.data_links],
        "jobs": slurm.jobs(lab),
    }
