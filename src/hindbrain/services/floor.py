"""The hygiene floor of a brain: what it refuses in a text, with what a person let through."""

import functools
import hashlib
import json
from collections.abc import Iterator

from hindbrain.domain.errors import HygieneRefused
from hindbrain.engines.hygiene import Finding, scan
from hindbrain.policy.hygiene import NEVER_ALLOWED, ROTATE
from hindbrain.services.brains import OpenBrain

__all__ = ["findings", "name_findings", "unclean"]


def unclean(finding: Finding, site: str) -> HygieneRefused:
    merge = finding.pattern_class == "conflict_marker"
    return HygieneRefused(
        f"{site}: line {finding.line} looks like {finding.pattern_class} ({finding.preview}…)",
        fix="resolve the merge by hand, then write the claim" if merge else ROTATE,
        pattern_class=finding.pattern_class,
        line=finding.line,
        site=site,
    )


@functools.lru_cache(maxsize=1024)
def name_findings(name: str) -> tuple[Finding, ...]:
    """What the floor finds in a name. Every call has the same few names, so they are read once."""
    return scan(name)


def findings(opened: OpenBrain, text: str) -> Iterator[Finding]:
    """Yield what the floor refuses in a text, without the exact lines that a person let through in this brain."""
    if not (found := scan(text)):
        return
    allowed = _allowed(opened)
    for hit in found:
        if hit.pattern_class in NEVER_ALLOWED or not _is_allowed(hit, allowed):
            yield hit


def _allowed(opened: OpenBrain) -> frozenset[str]:
    """Exact lines a person let through, by sha256. The medulla has no such list."""
    if opened.brain.root is None:
        return frozenset()
    try:
        found = json.loads((opened.directory / "hygiene_allow.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return frozenset()
    return frozenset(key for key, reason in found.items() if reason) if isinstance(found, dict) else frozenset()


def _is_allowed(finding: Finding, allowed: frozenset[str]) -> bool:
    return hashlib.sha256(finding.text.encode("utf-8", "surrogatepass")).hexdigest() in allowed
