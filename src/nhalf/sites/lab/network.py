"""Namespaces, cables, addresses and routes, by iproute2.

tc's tbf counts every frame with its Ethernet, IP and TCP headers, including those into which the
network card would cut a large packet. A program therefore sees PAYLOAD_SHARE of a rate.
"""

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from nhalf.base.errors import FailedError, InputError, MissingError
from nhalf.base.processes import ProgramOutcome, run
from nhalf.sites.lab.layout import HEAD, NET, ROOT, Lab, LabCable

TIMEOUT_S = 30.0
SYSTEM_FOLDERS = ("/usr/sbin", "/sbin", "/usr/bin", "/bin")


def system_path() -> str:
    """PATH with the folders of system commands, which `su` and `cron` leave out."""
    folders = os.environ.get("PATH", "").split(":")
    return ":".join([*folders, *(folder for folder in SYSTEM_FOLDERS if folder not in folders)])


def attempt(command: Sequence[str], text: str = "", timeout_s: float = TIMEOUT_S) -> ProgramOutcome:
    """Run a command, with `text` on its standard input; the caller handles its outcome."""
    return run(command, timeout_s, {"PATH": system_path(), "LC_ALL": "C"}, text)


def must(command: Sequence[str], text: str = "", timeout_s: float = TIMEOUT_S) -> str:
    """Run a command and return its output; raises FailedError with the reason if it fails."""
    outcome = attempt(command, text, timeout_s)
    if not outcome.succeeded:
        raise FailedError(f"{' '.join(command[:4])} did not succeed: {outcome.reason}")
    return outcome.stdout


FRAME_BYTES = 1514
HEADER_BYTES = 14 + 20 + 32
PAYLOAD_SHARE = (FRAME_BYTES - HEADER_BYTES) / FRAME_BYTES
"""Ethernet 14, IP 20, TCP with time stamps 32 bytes of a full frame: 1448/1514 is payload."""

PACKET_S = 131e-6
PACKET_BYTES_MIN, PACKET_BYTES_MAX = 2 * (FRAME_BYTES - HEADER_BYTES), 65536
"""TCP hands packets to a link that pass in PACKET_S: smaller ones keep a processor busy that ranks
poll on, larger ones need a larger bucket."""
PACKETS_IN_BUCKET = 2
QUEUE_BYTES_PER_SENDER = 8 << 20
"""More than a TCP connection has in flight (tcp_rmem allows 6 MiB), so that no queue overflows."""

RATE_BPS_MIN, RATE_BPS_MAX = 1e6 / 8, 100e9 / 8
_RATE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg])bit(?:/s)?", re.IGNORECASE)
_BITS = {"k": 1e3, "m": 1e6, "g": 1e9}


def parse_link_rate(text: str) -> float:
    """Bytes per second from '200mbit', '1gbit' or '2.5 Gbit/s'.

    Raises InputError if it is not a rate, or not between 1 Mbit/s and 100 Gbit/s.
    """
    match = _RATE.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{text!r} is not the rate of a link", "write 200mbit or 2.5gbit")
    rate_Bps = float(match[1]) * _BITS[match[2].lower()] / 8
    if not RATE_BPS_MIN <= rate_Bps <= RATE_BPS_MAX:
        raise InputError(f"no link can be made {text}", "choose between 1mbit and 100gbit")
    return rate_Bps


def rate_text(rate_Bps: float | None) -> str:
    """The text of a rate: '500 Mbit/s', or 'as fast as it goes' for None."""
    if rate_Bps is None:
        return "as fast as it goes"
    mega = rate_Bps * 8 / 1e6
    return f"{mega / 1e3:g} Gbit/s" if mega >= 1e3 else f"{mega:g} Mbit/s"


def packet_bytes(rate_Bps: float | None) -> int:
    """The largest packet that TCP hands to a link of this rate; the usual one if not shaped."""
    if rate_Bps is None:
        return PACKET_BYTES_MAX
    return min(max(round(rate_Bps * PACKET_S), PACKET_BYTES_MIN), PACKET_BYTES_MAX)


def burst_bytes(rate_Bps: float) -> int:
    """The size of the bucket: two packets with the headers of all their frames.

    A bucket that is too small loses tokens whenever a timer is late; one that is full lets the
    beginning of each message pass at the speed of memory.
    """
    packet = packet_bytes(rate_Bps)
    frames = -(-packet // (FRAME_BYTES - HEADER_BYTES))
    return PACKETS_IN_BUCKET * (packet + frames * HEADER_BYTES)


def bucket_command(port: str, rate_Bps: float | None, senders: int) -> str:
    """One line for `tc -batch`: the root queue of a port, with a bucket if it is shaped."""
    if rate_Bps is None:
        return f"qdisc replace dev {port} root pfifo limit 100000"
    queue_bytes = min(QUEUE_BYTES_PER_SENDER * max(senders, 4), 1 << 30)
    return (
        f"qdisc replace dev {port} root tbf rate {round(rate_Bps)}bps "
        f"burst {burst_bytes(rate_Bps)} limit {queue_bytes}"
    )


SETTINGS = ("net/ipv6/conf/*/disable_ipv6=1",)
NODE_SETTINGS = ("net/ipv4/tcp_slow_start_after_idle=0",)
ROUTER_SETTINGS = (
    "net/ipv4/ip_forward=1",
    "net/ipv4/conf/*/rp_filter=0",
    "net/ipv4/conf/*/proxy_arp=1",
    "net/ipv4/neigh/*/proxy_delay=0",
)
"""A router answers for all other nodes, at once, so that a node sees them on its own network.

Existing ports have their own settings, so `default` alone would come too late.
"""

NETNS = Path("/run/netns")
NOTE = ROOT / ".netns-is-ours"


def cables(lab: Lab) -> str:
    """Lines for `ip -batch`: every namespace, and every link with its ends in their namespaces."""
    lines = [f"netns add {lab.namespace(place)}" for place in lab.layout.places]
    for link in lab.layout.links:
        end_a, end_b = (f"{port} netns {lab.namespace(at)}" for at, port in lab.layout.ends(link))
        lines.append(f"link add name {end_a} type veth peer name {end_b}")
    return _text(lines)


def ports(lab: Lab, place: str) -> list[tuple[str, LabCable]]:
    """The ports of a place, each with its link."""
    return [
        (port, link)
        for link in lab.layout.links
        for end, port in lab.layout.ends(link)
        if end == place
    ]


def setup(lab: Lab, place: str) -> str:
    """Lines for `ip -batch` inside a place: bridge, addresses, routes, everything up."""
    own = [port for port, _ in ports(lab, place)]
    lines = ["link set lo up"]
    if place in lab.layout.switches:
        lines += ["link add name bridge type bridge forward_delay 0", "link set bridge up"]
        lines += [f"link set {port} master bridge" for port in own]
    elif place in lab.layout.nodes:
        lines.append(f"address add {lab.address(place)}/24 dev eth0")
    else:
        port = "eth0" if place == HEAD else "s0"
        lines.append(f"address add {lab.address(place)}/{lab.layout.head_prefix_bits} dev {port}")
    lines += [f"link set {port} up" for port in own]
    lines += [
        f"route add {route.format(net=NET)}" for at, route in lab.layout.routes if at == place
    ]
    return _text(lines)


def settings(lab: Lab, place: str) -> str:
    """A shell script that sets the kernel's network parameters of a place."""
    chosen = list(SETTINGS)
    if place in lab.layout.nodes:
        chosen += NODE_SETTINGS
    if place in lab.layout.routers:
        chosen += ROUTER_SETTINGS
    pairs = (text.split("=") for text in chosen)
    return _text(
        f"for key in /proc/sys/{key}; do [ ! -e $key ] || echo {value} >$key; done"
        for key, value in pairs
    )


def rate_of(lab: Lab, link: LabCable) -> float | None:
    """Bytes per second of a link when the lab starts; None if it is not limited."""
    for name, rate_Bps in lab.slow_Bps.items():
        if lab.layout.link(name) == link:
            return rate_Bps
    return lab.rate_Bps if link.shaped else None


def buckets(lab: Lab, link: LabCable, rate_Bps: float | None) -> list[tuple[str, str]]:
    """Pairs of a place and a line for `tc -batch` there: what each end sends is shaped."""
    return [
        (place, bucket_command(port, rate_Bps, lab.nodes)) for place, port in lab.layout.ends(link)
    ]


def make(lab: Lab) -> None:
    """Create the network; raises MissingError if this kernel has no such links or queues."""
    _kernel(["ip", "-batch", "-"], cables(lab))
    for place in lab.layout.places:
        must([*inside(lab, place), "sh", "-e", "-s"], settings(lab, place))
        _kernel([*_in(lab, "ip", place), "-batch", "-"], setup(lab, place))
    shape(lab, {link: rate for link in lab.layout.links if (rate := rate_of(lab, link))})


def shape(lab: Lab, rates_Bps: dict[LabCable, float | None]) -> None:
    """Set the rates of links now, and matching packet sizes of nodes."""
    lines: dict[str, list[str]] = {}
    for link, rate_Bps in rates_Bps.items():
        packet = f"link set eth0 gso_max_size {packet_bytes(rate_Bps)}"
        for place, line in buckets(lab, link, rate_Bps):
            lines.setdefault(place, []).append(line)
            if place in lab.layout.nodes:
                must([*_in(lab, "ip", place), "-batch", "-"], packet + "\n")
    for place, texts in lines.items():
        _kernel([*_in(lab, "tc", place), "-batch", "-"], _text(texts))


def switch_link(lab: Lab, link: LabCable, up: bool) -> None:
    """Plug a cable in, or pull it out: the end at b, so that both ends lose their carrier.

    Addresses and routes of the other end stay as they are, as they would with a real cable.
    """
    place, port = lab.layout.ends(link)[1]
    must([*_in(lab, "ip", place), "link", "set", port, "up" if up else "down"])
    if up:
        routes = [
            route for at, route in lab.layout.routes if at == place and f"dev {port}" in route
        ]
        lines = [f"route replace {route.format(net=NET)}" for route in routes]
        must([*_in(lab, "ip", place), "-batch", "-"], _text(lines))


def link_state(lab: Lab, link: LabCable) -> dict[str, object]:
    """Whether a link has a carrier, and the rate it is shaped to now (bytes per second)."""
    place, port = lab.layout.ends(link)[1]
    shown = attempt([*_in(lab, "ip", place), "-json", "link", "show", port])
    queue = attempt([*_in(lab, "tc", place), "-json", "qdisc", "show", "dev", port])
    up, rate_Bps = False, None
    if shown.succeeded and queue.succeeded:
        up = "LOWER_UP" in msgspec.json.decode(shown.stdout)[0]["flags"]
        options = (entry.get("options", {}) for entry in msgspec.json.decode(queue.stdout))
        rate_Bps = next((option["rate"] for option in options if "rate" in option), None)
    return {"link": lab.layout.title(link), "up": up, "rate_Bps": rate_Bps}


def inside(lab: Lab, place: str) -> list[str]:
    """The beginning of a command that runs in the network of a place."""
    return ["nsenter", f"--net={NETNS / lab.namespace(place)}"]


def note_folder() -> None:
    """Record whether /run/netns exists only because of labs."""
    if not _is_mount(NETNS):
        NOTE.touch()


def forget_folder() -> None:
    """Remove /run/netns with the last lab, if labs created it and nothing else uses it."""
    if NOTE.exists():
        if _is_mount(NETNS) and not any(NETNS.iterdir()):
            attempt(["umount", str(NETNS)])
            with suppress(OSError):
                NETNS.rmdir()
        NOTE.unlink()


def _is_mount(path: Path) -> bool:
    """Whether something is mounted there, also a folder on itself, as `ip netns` does."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return any(line.split()[4] == str(path) for line in lines)


def _in(lab: Lab, tool: str, place: str) -> list[str]:
    return [tool, "-n", lab.namespace(place)]


def _kernel(command: list[str], lines: str) -> None:
    outcome = attempt(command, lines)
    if not outcome.succeeded:
        raise MissingError(
            f"this kernel or container cannot make the network of a lab: {outcome.reason}",
            "it needs network namespaces, veth, bridge and, for rates, sch_tbf",
        )


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
