"""The status of a lab on a terminal."""

from typing import Any

from rich.console import Console

from nhalf.present.terminal.tables import headed_table

GOOD = ("idle", "allocated", "mixed", "completing")


def show_status(console: Console, status: dict[str, Any], fresh: bool = False) -> None:
    """Print nodes with their links, other links, jobs, and the next commands."""
    from nhalf.sites.lab.network import rate_text

    count = len(status["nodes"])
    console.print(
        f"[bold]{status['lab']}[/]: {count} node{'s' if count > 1 else ''}, {status['topology']}, "
        f"{status['cpus']} CPUs each; head ctl at {status['address']}"
    )
    titles = ("node", "address", "Slurm", "link", "rate")
    table = headed_table("", *titles, words=titles)
    of_nodes = {link["link"].split("-")[0]: link for link in reversed(status["links"])}
    for node in status["nodes"]:
        link = of_nodes.get(node["node"])
        assert link is not None
        colour = "green" if node["state"] in GOOD else "red"
        alive = "" if node["alive"] else " (dead)"
        table.add_row(
            f"[bold]{node['node']}[/]", node["address"], f"[{colour}]{node['state']}[/]{alive}",
            _link(link), rate_text(link["rate_Bps"]),
        )  # fmt: skip
    console.print(table)
    for link in status["links"]:
        if link not in of_nodes.values():
            console.print(f"link {_link(link)}  {rate_text(link['rate_Bps'])}")
    for job in status["jobs"]:
        words = f"job {job['job']} {job['name']}: {job['state'].lower()} {job['nodes']}"
        console.print(words, markup=False)
    if fresh:
        name = "" if status["lab"] == "lab" else f" --name {status['lab']}"
        console.print(f"next: nhalf lab exec{name} -- nhalf run p2p --launcher srun")
        console.print(f"      nhalf lab exec{name} -- salloc -N2 bash")
        console.print(f"      nhalf lab down{name}")


def _link(link: dict[str, Any]) -> str:
    return f"{link['link']} {'up' if link['up'] else '[red]down[/]'}"
