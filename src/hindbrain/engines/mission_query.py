"""Queries of missions in the one form in which they are compared: order, case, punctuation and repeated words do not matter."""

import unicodedata

from hindbrain.domain.mission import MissionEvent

__all__ = ["normal_query", "query_of", "scope_of"]


def normal_query(text: str) -> str:
    """NFKC, lower case, punctuation to spaces, every word once, in order."""
    folded = unicodedata.normalize("NFKC", text).lower()
    spaced = "".join(" " if unicodedata.category(one)[0] in "PSZC" else one for one in folded)
    return " ".join(sorted(set(spaced.split()))) or folded.strip()  # one of signs alone is itself


def query_of(event: MissionEvent) -> str:
    """What a search or a question to the graph asked, as it was said."""
    return str(event.payload.get("query") or event.target or "")


def scope_of(event: MissionEvent) -> str:
    """Where it was asked; empty for the whole repository."""
    said = event.payload.get("scope")
    return said.strip().strip("/") if isinstance(said, str) else ""
