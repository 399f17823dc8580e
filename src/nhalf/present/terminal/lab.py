# SPDX-License-Identifier: Apache-2.0
"""How a lab is shown on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

GOOD = ("idle", "allocated", "mixed", "completing")


def show_status(console: Console, found: dict[str, Any], fresh: bool = False) -> None:
    """Nodes with the links they hang on, other links, jobs, and what to type next."""
    from rich import box
    from rich.table import Table

    from nhalf.sites.lab.shaping import rate_text

    count = len(found["nodes"])
    console.print(
        f"[bold]{found['lab']}[/]: {count} node{'s' if count > 1 else ''}, {found['topology']}, "
        f"{found['cpus']} CPUs each; head ctl at {found['address']}"
    )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for title in ("node", "address", "Slurm", "link", "rate"):
        table.add_column(title)
    of_nodes = {link["link"].split("-")[0]: link for link in reversed(found["links"])}
    for node in found["nodes"]:
        link = of_nodes.get(node["node"])
        assert link is not None
        colour = "green" if node["state"] in GOOD else "red"
        alive = "" if node["alive"] else " (dead)"
        table.add_row(
            f"[bold]{node['node']}[/]", node["address"], f"[{colour}]{node['state']}[/]{alive}",
            _link(link), rate_text(link["rate_Bps"]),
        )  # fmt: skip
    console.print(table)
    for link in found["links"]:
        if link not in of_nodes.values():
            console.print(f"link {_link(link)}  {rate_text(link['rate_Bps'])}")
    for job in found["jobs"]:
        console.print(f"job {job['job']} {job['name']}: {job['state'].lower()} {job['nodes']}")
    if fresh:
        name = "" if found["lab"] == "lab" else f" --name {found['lab']}"
        console.print(f"next: nhalf lab exec{name} -- nhalf run p2p --launcher srun")
        console.print(f"      nhalf lab exec{name} -- salloc -N2 bash")
        console.print(f"      nhalf lab down{name}")


def _link(link: dict[str, Any]) -> str:
    return f"{link['link']} {'up' if link['up'] else '[red]down[/]'}"
