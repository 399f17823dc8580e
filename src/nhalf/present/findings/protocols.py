"""Findings on sizes at which the time of a message jumps, steps or rises."""

from collections.abc import Iterator

from nhalf.base.listing import listed
from nhalf.base.numbers import percent, share_span, times
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.facts.causes import CoreCache, outgrown
from nhalf.facts.facts import Facts
from nhalf.facts.jumps import Jump, RateFall, rate_fall
from nhalf.facts.reported import ignored_settings
from nhalf.facts.series import MAIN_PATTERN, library_label
from nhalf.facts.switches import ProtocolSwitchPoint, measured_fall, switches
from nhalf.machines.machine import FittedModel
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, exact_size, weight

PATTERNS_MAX = 4
CACHE_WEIGHT = 10
"""Jumps that a cache may explain rank after those known to be the library's."""
LIMITS_MAX = 3
"""A library has a limit for each of its transports."""
VAGUE = 4.0
"""For a wider interval, high over low, only the end closer to no change is stated."""


class ProtocolSwitch(Finder[Facts]):
    """Sizes at which time jumps: a cache overflows, a library goes from eager to rendezvous."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        alone = len({switch.pattern for switch in switches(facts)}) == 1
        for switch in switches(facts):
            with_pattern = switch.pattern != MAIN_PATTERN or not alone
            jump = switch.jump
            where = f"in {switch.pattern}, " if with_pattern else ""
            base = weight(jump.at_least, 45 if jump.costs else 40, 70)
            yield Finding.of(
                switch,
                f"{switch.series}: {where}{_subject(switch)} {_change(jump)}: {_times(jump)}."
                + _also(switch),
                base - CACHE_WEIGHT if _label(switch).startswith("Cache") else base,
                "switch-costs" if jump.costs else "switch-saves",
                _label(switch),
                figure=_figure(jump),
                remedy=_remedy(switch),
                interval=jump.ratio,
                size_bytes=jump.before_bytes,
            )


def _label(switch: ProtocolSwitchPoint) -> str:
    if switch.cache and switch.is_cache is not False and not switch.limits_there:
        return "Cache" if switch.is_cache else "Cache or protocol"
    return "Eager limit" if switch.is_eager else "Step"


def _subject(switch: ProtocolSwitchPoint) -> str:
    """'the eager limit at 4 KiB' or, near a cache size, 'the change between 1 MiB and ...'."""
    jump = switch.jump
    place = f"between {exact_size(jump.before_bytes)} and {exact_size(jump.after_bytes)}"
    if switch.at_one_size:
        place = f"at {exact_size(jump.before_bytes)}"
    label = _label(switch)
    if switch.cache and label.startswith("Cache"):
        cache = f"{switch.cache.name} cache, {format_size(switch.cache.size_bytes)}"
        near = f"cache or protocol: the {cache}, is near"
        why = f"the {cache}, is full" if switch.is_cache else near
        return f"the change of slope {place} ({why})"
    words = _limit_words(switch)
    if label == "Eager limit":
        return f"the eager limit {place} ({words}rendezvous above it)"
    return f"the step {place}"


def _limit_words(switch: ProtocolSwitchPoint) -> str:
    """'btl_sm_eager_limit is 4 KiB; ': what the library itself calls its limit, if it does."""
    limits = switch.limits_there[:LIMITS_MAX] if switch.is_eager else ()
    by_tool = {True: " by MPI_T", False: ""}
    words = [
        f"{limit.parameter} is {exact_size(limit.size_bytes)}{by_tool[limit.is_reported]}"
        for limit in limits
    ]
    return f"{', '.join(words)}; " if words else ""


def _change(jump: Jump) -> str:
    """'costs 40 % (interval 35 to 46 %)', 'saves 30 % ...' or 'costs 6.8x the time ...'."""
    ratio, most = jump.ratio, "at least " if _vague(jump) else ""
    stated_ratio = jump.at_least if most else ratio.median
    if ratio.median >= 2:
        return f"costs {most}{times(stated_ratio)} the time ({between(ratio)})"
    share, low, high = (abs(value - 1) for value in (stated_ratio, ratio.low, ratio.high))
    verb = "costs" if jump.costs else "saves"
    low, high = min(low, high), max(low, high)
    return f"{verb} {most}{percent(share)} (interval {share_span(low, high)})"


def _vague(jump: Jump) -> bool:
    """Whether little is known beyond the existence of a jump."""
    return jump.ratio.high / jump.ratio.low > VAGUE


def _times(jump: Jump) -> str:
    """The times before and after the jump, and the time relative to which it is a change."""
    before, after = exact_size(jump.before_bytes), exact_size(jump.after_bytes)
    return (
        f"{format_time(jump.before_s)} for {before}, {format_time(jump.after_s)} for {after}, "
        f"where {format_time(jump.expected_s)} would follow from smaller sizes"
    )


def _also(switch: ProtocolSwitchPoint) -> str:
    """Other patterns with the same switch, the largest first."""
    if not switch.also:
        return ""
    places = [f"{pattern} ({_figure(jump)})" for pattern, jump in switch.also[:PATTERNS_MAX]]
    more = len(switch.also) - len(places)
    return f" Also in {', '.join(places)}" + (f" and {more} more." if more else ".")


def _remedy(switch: ProtocolSwitchPoint) -> str:
    if switch.quicker is not None:
        needs, size = format_time(switch.quicker.time_s), format_size(switch.quicker.size_bytes)
        return f"{switch.quicker.title} needs {needs} for {size} here."
    if _label(switch) == "Cache or protocol":
        return (
            "Also measure pingpong-diffbuf: with more buffers, the effect of a cache moves to "
            "smaller sizes; a protocol switch stays."
        )
    return ""


def _figure(jump: Jump) -> str:
    """'+40 %' for small changes, otherwise '2.4×'; '≥ 1.3×' if imprecise."""
    if _vague(jump):
        return "≥ " + times(jump.at_least).replace("x", "×")
    share = percent(jump.ratio.median - 1, signed=True).replace("-", "−")
    return share if jump.ratio.median < 2 else times(jump.ratio.median).replace("x", "×")


class PacketSteps(Finder[Facts]):
    """Messages that travel in packets: the time rises in equal steps."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for model in facts.models:
            steps = model.packet_steps
            if steps is None or model.pattern != MAIN_PATTERN:
                continue
            name = library_label(facts, model.transport, model.mpi)
            low_s, high_s = steps.height_ci
            text = (
                f"{name}: messages travel in packets. From {steps.offset_bytes} B on, every "
                f"{steps.period_bytes} B cost {format_time(steps.height_s)} more (interval "
                f"{format_time(low_s)} to {format_time(high_s)})."
            )
            numbers = {"figure": f"{steps.period_bytes} B", "value": steps.period_bytes}
            numbers["size_bytes"] = steps.offset_bytes
            yield Finding.of(model, text, 43, "packet-steps", "Packets", **numbers)


Fallen = tuple[FittedModel, RateFall]


class RateFalls(Finder[Facts]):
    """Long messages that are slower than shorter ones: their buffers no longer fit a cache."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        by_cache: dict[CoreCache, list[Fallen]] = {}
        for model in facts.models:
            if model.pattern != MAIN_PATTERN or model.axes:
                continue
            fall = rate_fall(model)
            cache = outgrown(facts.environments.get(model.run, {}), fall)
            if fall is not None and cache is not None:
                measured = measured_fall(facts, model, fall)
                by_cache.setdefault(cache, []).append((model, measured))
        for cache, fallen in by_cache.items():
            yield _rate_falls_finding(facts, cache, fallen)


def _rate_falls_finding(facts: Facts, cache: CoreCache, fallen: list[Fallen]) -> Finding:
    largest = max(fall.from_Bps / fall.to_Bps for _, fall in fallen)
    first = min(fall.from_bytes for _, fall in fallen)
    last = max(fall.to_bytes for _, fall in fallen)
    names = [
        f"{library_label(facts, model.transport, model.mpi)} "
        f"({format_rate(fall.from_Bps)} to {format_rate(fall.to_Bps)})"
        for model, fall in fallen
    ]
    libraries = listed(list(dict.fromkeys(names)))
    text = (
        f"From {format_size(first)} to {format_size(last)} the rate falls with {libraries}: "
        f"the buffers no longer fit the {cache.name} cache, {format_size(cache.size_bytes)}."
    )
    figure = "÷ " + times(largest).removesuffix("x")
    mpi = fallen[0][0].mpi if len(fallen) == 1 else ""
    about = {"size_bytes": first, "mpi": mpi, "figure": figure}
    return Finding.of(None, text, weight(largest, 35, 60), "rate-falls", "Cache", **about)


class SettingIgnored(Finder[Facts]):
    """A setting that the library does not have in its launches, as it reports itself."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for ignored in ignored_settings(facts.reported_environments):
            text = (
                f"{library_label(facts, '', ignored.mpi)} was started with "
                f"{ignored.variable}={ignored.value}, but reports {ignored.in_launch} (MPI_T): the "
                "setting did not take effect."
            )
            remedy = "Look for a file or a variable of the site that overrides it."
            kind, label = "setting-ignored", "Setting"
            yield Finding.of(ignored, text, 90, kind, label, remedy=remedy, figure="–")
