"""L1GHT notes: the texts that Hindbrain writes in this form. A skeleton to fill in, and what a mission has proven. Pure."""

from collections.abc import Iterable, Sequence

from hindbrain.domain.claim import one_line
from hindbrain.domain.mission import MissionClaim, MissionSpec

__all__ = ["light_note", "skeleton"]

_NAME_MOST = 120


def _header(node: str, state: str, *, proof: str, depends: Sequence[str] = (), following: Sequence[str] = ()) -> list[str]:
    lines = ["---", "Protocol: L1GHT/1.0", f"Node: {one_line(node)}", f"State: {state}", "Color: amber", "Glyph: ⍂"]
    lines += ["Completeness: partial", f"Proof: {proof}"]
    for name, values in (("Depends on", depends), ("Next", following)):
        if values:
            lines += [f"{name}:", *(f"- {one_line(value)}" for value in values)]
    return [*lines, "---", ""]


def skeleton(title: str, entities: Sequence[str]) -> str:
    """A document with a section for each entity and a place for everything that a reader, or a check, asks for."""
    lines = _header(title, "authored", proof="none yet", following=["say what comes next"])
    lines += [f"# {one_line(title)}", "", "What this is about, in a few sentences.", ""]
    for number, entity in enumerate(entities):
        lines += [f"## {one_line(entity)}", "", "What it is and what it refuses to be.", "", f"[⍂ entity: {one_line(entity)}]"]
        lines += ["[⍐ state: planned]", "[𝔻 confidence: 0.5]"]
        lines += [f"[⟁ depends_on: {one_line(entities[number - 1])}]"] if number else []
        lines += ["[AMBER warning: nothing binds this to the code yet]", ""]
    return "\n".join(lines)


def light_note(spec: MissionSpec, claims: Iterable[MissionClaim], *, stamp: str) -> str:
    """What a mission has proven: an entity for each verified claim, with the events and files it rests on."""
    verified = [one for one in claims if one.verdict == "verified_for_mission"]
    lines = _header(f"Mission {spec.mission_id}", "verified", proof=f"{len(verified)} claims at {stamp}")
    lines += [f"# Mission {spec.mission_id}", "", one_line(spec.task), ""]
    for one in verified:
        text = one_line(one.claim)
        lines += [
            f"## Claim {one.claim_id}",
            "",
            f"  {text}",
            "",
            f"[⍂ entity: {_bracketed(text[:_NAME_MOST])}]",
            "[⍐ state: verified]",
        ]
        lines += [f"[𝔻 confidence: {one.confidence}]"] if one.confidence is not None else []
        lines += [f"[𝔻 evidence: {_bracketed(one_line(ref))}]" for ref in one.evidence_refs]
        lines += [f"[⟁ binds_to: {_bracketed(one_line(target))}]" for target in one.targets]
        lines.append("")
    return "\n".join(lines)


def _bracketed(text: str) -> str:
    """A value between square brackets; one of its own would end it early for other readers."""
    return text.replace("]", ")").replace("[", "(")
