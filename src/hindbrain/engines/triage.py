"""Triage: what a claim's own text says about where it belongs, and which ingest roots are worth keeping. Pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hindbrain.domain.brain import MEDULLA
from hindbrain.domain.claim import Claim, body_text
from hindbrain.domain.migration import Placement
from hindbrain.policy.triage import PROJECT_WORDS, STAY_WORDS

__all__ = ["Swept", "proposal", "swept"]

_CLAIM_FILE = ".light.md"
_STORE = "agent-memory"


def proposal(claim: Claim) -> tuple[Placement, str]:
    """The class a claim is proposed for, and why. Without a signal it is ambiguous; with two that disagree it stays."""
    if claim.origin_claim is not None:
        return Placement.STAY, f"was promoted from {claim.origin_claim}"
    if claim.origin_brain == MEDULLA:
        return Placement.STAY, "was born in the medulla"
    text = "\n".join((claim.label, claim.title or "", body_text(claim)))
    stays = STAY_WORDS.search(text)
    cited = next((path for path in claim.evidence if "://" not in path), None)
    word = PROJECT_WORDS.search(text)
    told = f"cites {cited}" if cited else f"says “{word[0]}”" if word else None
    if stays is not None:
        return Placement.STAY, f"says “{stays[0]}”" + (f", though it {told}: doubt means stay" if told else "")
    if told is not None:
        return Placement.PROJECT, told
    return Placement.AMBIGUOUS, "nothing in it says where it belongs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """A list of ingest roots after its sweep: what stays, and what went with its reason."""

    kept: tuple[str, ...]
    removed: tuple[tuple[str, str], ...]


def swept(entries: Iterable[str], *, exists: Callable[[str], bool], medulla: bool) -> Swept:
    """Drop dead claim files, fold living ones into their directory, and in the medulla drop code; other roots stay."""
    kept: list[str] = []
    folded: list[str] = []
    removed: list[tuple[str, str]] = []
    for entry in entries:
        directory = entry.rpartition("/")[0]
        if entry.endswith(_CLAIM_FILE):
            if exists(entry):
                folded.append(directory)
                removed.append((entry, f"folded into {directory}"))
            else:
                removed.append((entry, "the file does not exist"))
        elif medulla and entry.rstrip("/").rpartition("/")[2] != _STORE:
            removed.append((entry, "the medulla holds no code"))
        else:
            kept.append(entry)
    known = {entry.rstrip("/") for entry in kept}
    kept += [directory for directory in dict.fromkeys(folded) if directory not in known]
    return Swept(kept=tuple(kept), removed=tuple(removed))
