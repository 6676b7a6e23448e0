"""Arrivals: claims that came by file, from a clone, an editor or an archive. What such a file states about its author, its state
and its confidence is shown as stated, and counts no more than an unchecked claim until somebody writes the claim here."""

import re
from dataclasses import replace
from typing import Any

from hindbrain.domain.caller import Channel
from hindbrain.domain.claim import Claim, parse, stamped
from hindbrain.policy.arrivals import ARRIVED_CONFIDENCE, ARRIVED_STATE
from hindbrain.stores.port import Version

__all__ = ["arrived_by", "capped", "claim_of", "stated", "vouched"]

_ARRIVING = frozenset({Channel.FILE.value, Channel.IMPORT.value})
_CONFIDENCE = re.compile(r"^\[𝔻 confidence: .*\]\s*$", re.MULTILINE)
_STATED = " (stated)"


def arrived_by(version: Version) -> str | None:
    """Return the channel by which a version arrived as a file, or None for one that was written here.

    The ledger of this brain decides: it has the entry of the act that recorded the version.
    """
    return version.channel if version.channel in _ARRIVING else None


def claim_of(version: Version) -> Claim:
    """Return the claim of a version as far as it counts here."""
    claim = parse(version.text, fallback_label=version.slug)
    return capped(claim) if arrived_by(version) else claim


def capped(claim: Claim) -> Claim:
    """Return a claim that arrived by file with no more certainty than an unchecked one."""
    bare = replace(claim, blocks=tuple(replace(block, confidence=None) for block in claim.blocks))
    state = ARRIVED_STATE if claim.strength.rank > replace(claim, state=ARRIVED_STATE).strength.rank else claim.state
    confidence = claim.strength.confidence
    if confidence is None or confidence <= ARRIVED_CONFIDENCE:
        return replace(claim, state=state)
    first = replace(bare.blocks[0], confidence=f"{ARRIVED_CONFIDENCE:g}")
    return replace(bare, state=state, blocks=(first, *bare.blocks[1:]))


def stated(version: Version) -> dict[str, Any]:
    """Return what the file of a version says about itself."""
    claim = parse(version.text, fallback_label=version.slug)
    return {
        "author": claim.source_agent or "unknown",
        "belief": claim.state,
        "confidence": claim.strength.confidence,
        "origin_brain": claim.origin_brain or "unknown",
    }


def vouched(version: Version) -> str:
    """Return the text of a version as it is written here when somebody shares it: a stated author stays a stated one."""
    if not arrived_by(version):
        return version.text
    claim = claim_of(version)
    text = stamped(version.text, "State", claim.state)
    if claim.source_agent and not claim.source_agent.endswith(_STATED):
        text = stamped(text, "Source-Agent", claim.source_agent + _STATED)
    if claim.strength.confidence == parse(version.text).strength.confidence:
        return text
    return _CONFIDENCE.sub(f"[𝔻 confidence: {ARRIVED_CONFIDENCE:g}]", text)
