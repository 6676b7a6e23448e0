"""Claim health: old text of a claim that is live again without an act of ours."""

from collections.abc import Iterator
from typing import Any

from hindbrain.domain.claim import outdated
from hindbrain.services.brains import OpenBrain
from hindbrain.services.doctor_sections import warning
from hindbrain.stores.files import digest_of

__all__ = ["returned"]


def returned(opened: OpenBrain, slug: str, digest: str, active: bool) -> Iterator[dict[str, Any]]:
    """Warn of a text that was copied back by hand, or brought by a merge."""
    versions = opened.store.versions(slug)
    if len(versions) < 2:
        return
    earlier = versions[1:]
    if active and any(one.digest == digest for one in earlier):
        act = opened.store.entries(after=versions[0].version - 1, limit=1)
        if act and act[0].channel == "file":
            text = f"{opened.brain.name}#{slug} is live again with a text that was superseded"
            yield warning("warn", "resurrected", text, "keep it with memorize, or grade it with learn")
    elif not active and any(digest_of(outdated(one.text)) == digest for one in earlier):
        text = f"{opened.brain.name}#{slug} is a history file that was copied back"
        yield warning("warn", "unattributed_change", text, "write the belief anew with memorize")
