"""What is said of violated guidelines, and at the end of `nhalf show`."""

from __future__ import annotations

import pytest

from nhalf.facts.guidelines import guidelines
from nhalf.present.findings import Finding, findings
from nhalf.present.terminal.summary import show_guidelines
from tests.nhalf.facts.test_guidelines import SIZES, consistent_s, facts_of


def said(slower: dict[tuple[str, int], float], *patterns: str) -> list[Finding]:
    facts = facts_of(slower, patterns=patterns) if patterns else facts_of(slower)
    return [finding for finding in findings(facts) if finding.kind.startswith("guideline")]


def test_a_library_that_keeps_them_is_not_mentioned(capsys: pytest.CaptureFixture[str]) -> None:
    assert said({}) == []
    show_guidelines(facts_of())
    assert capsys.readouterr().out == ""


def test_an_operation_is_compared_with_its_parts() -> None:
    slow = {("allreduce", size): 3.0 for size in SIZES[2:4]}
    by_kind = {finding.kind: finding for finding in said(slow, "allreduce", "reduce", "bcast")}
    finding = by_kind["guideline-composition"]
    assert finding.text.startswith(
        "mpich: allreduce of 32 B on 8 ranks takes 1.50x as long as reduce of 32 B and bcast of "
        "32 B, which do its work (interval 1.5"
    )
    assert finding.text.endswith(". Also allreduce of 16 B on 8 ranks (1.50x).") or (
        finding.text.endswith(". Also allreduce of 64 B on 8 ranks (1.50x).")
    )
    assert finding.remedy == (
        "nhalf tune --violated RUN tries what may be faster there, or call reduce and bcast"
    )
    assert finding.value == pytest.approx(1.5)


def test_a_message_is_compared_with_a_longer_one_and_with_pieces() -> None:
    (finding,) = said({("bcast", 64): 1.5}, "bcast")
    assert "bcast of 64 B on 8 ranks takes 1.49x as long as one of 128 B (" in finding.text
    assert finding.remedy.endswith("or call it with 128 B")
    (finding,) = said({("bcast", size): 4.0 for size in SIZES if size >= 4096}, "bcast")
    ratio = 2 * consistent_s("bcast", 4096) / consistent_s("bcast", 2048)
    assert finding.value == pytest.approx(ratio)
    assert "as long as 2 of 2 KiB (" in finding.text
    assert finding.remedy.endswith("or call it 2 times with 2 KiB")


def test_show_ends_with_them(capsys: pytest.CaptureFixture[str]) -> None:
    show_guidelines(facts_of({("gather", 1024): 1.5}))
    out = capsys.readouterr().out
    assert "performance guidelines: 1 of " in out
    for word in ("mpich", "gather", "1 KiB", "allgather 1 KiB", "1.50"):
        assert word in out, word


def test_pieces_with_warmer_buffers_may_be_the_cache() -> None:
    """Pieces are repeated on the same buffers, which a cache holds, unlike those of the whole."""
    largest, environments = SIZES[-1], {"run": {"caches": {"L2_bytes": SIZES[-1]}}}
    facts = facts_of({("bcast", largest): 4.0}, patterns=("bcast",), environments=environments)
    (finding,) = [one for one in findings(facts) if one.kind == "guideline-pieces"]
    assert "This may be the cache" in finding.text
    assert "call it" not in finding.remedy
    (verdict,) = [v.as_json() for v in guidelines(facts) if v.is_violated and v.kind == "pieces"]
    assert verdict["may_be_cache"] is True
