"""Choices: what can be done about an item of the review queue, as ordinary operations with what is still to be asked. Pure."""

from collections.abc import Sequence
from typing import Any

from hindbrain.domain.card import Card, Link, ReasonType, Role, Status
from hindbrain.domain.evidence import EvidenceId
from hindbrain.engines.text import fold

__all__ = ["KEPT", "demoted", "kept", "linked", "promoted", "rejected", "rejection", "retired", "unlinked"]

KEPT = "kept"  # under this name a remark says which item a person let stand

_SHOWN = 60  # letters of a statement beside a choice
_REASON = {"argument": "reason", "kind": "text", "prompt": "why"}
_AGAINST = {"argument": "evidence_refs", "kind": "evidence_list", "prompt": "evidence against it: its ev_ id, or what you saw"}
_TYPE: dict[str, Any] = {
    "argument": "reason_type",
    "kind": "choice",
    "prompt": "what kind of reason",
    "options": [one.value for one in ReasonType],
}
_LABEL_ALONE = 16  # folded characters: a shorter value is only known under its own label


def _named(card: Card, to: Status) -> str:
    """A card as a person tells it from another one."""
    said = card.text if len(card.text) <= _SHOWN else f"{card.text[:_SHOWN]}…"
    return f"{card.id} -> {to.value}: {said}"


def _choice(name: str, operation: str, arguments: dict[str, Any], *asks: dict[str, Any], about: str) -> dict[str, Any]:
    return {"name": name, "operation": operation, "about": about, "arguments": arguments, "asks": list(asks), "confirm": False}


def promoted(card: Card, to: Status, checked: Sequence[EvidenceId]) -> dict[str, Any]:
    """Activate it on the verification that it has. What only a person may do is confirmed by typing its name."""
    given = {"card_id": card.id, "status": to.value, "verification_refs": list(checked)}
    made = _choice("promote", "knowledge.promote", given, _REASON, about=_named(card, to))
    return made | {"confirm": to is Status.CANONICAL}


def _fallen(name: str, card: Card, to: Status, kind: str | None, refs: Sequence[EvidenceId]) -> dict[str, Any]:
    given: dict[str, Any] = {"card_id": card.id, "status": to.value}
    given |= {"evidence_refs": list(refs)} if refs else {}
    given |= {"reason_type": kind} if kind else {}
    asks: list[dict[str, Any]] = [*(() if refs else (_AGAINST,)), *(() if kind else (_TYPE,)), _REASON]
    return _choice(name, "knowledge.demote", given, *asks, about=_named(card, to))


def demoted(card: Card, kind: str | None = None, refs: Sequence[EvidenceId] = ()) -> dict[str, Any]:
    return _fallen("demote", card, Status.DEMOTED, kind, refs)


def retired(card: Card, kind: str | None = None, refs: Sequence[EvidenceId] = ()) -> dict[str, Any]:
    return _fallen("retire", card, Status.RETIRED, kind, refs)


def linked(card: Card, role: Role) -> dict[str, Any]:
    """Cite one more row."""
    ask = {"argument": "evidence_id", "kind": "evidence", "prompt": f"{role.value} evidence: its ev_ id, or what you saw"}
    note = {"argument": "note", "kind": "text", "prompt": "what it shows"}
    return _choice("link", "knowledge.link", {"card_id": card.id, "role": role.value}, ask, note, about=f"as {role.value}")


def unlinked(card: Card, link: Link) -> dict[str, Any]:
    """Cite it no longer."""
    given = {"card_id": card.id, "evidence_id": link.evidence_id, "role": link.role.value}
    return _choice("unlink", "knowledge.unlink", given, _REASON, about=f"{link.evidence_id} as {link.role.value}")


def rejection(card: Card, shared: bool) -> dict[str, str]:
    """The arguments of `reject` for what a card says. A short text is only known under a label: it goes as its own."""
    label = card.text if len(fold(card.text)) < _LABEL_ALONE else card.id
    return {"claim": label, "value": card.text} | ({"tier": "medulla"} if shared else {})


def rejected(card: Card, shared: bool) -> dict[str, Any]:
    """Let what it says never come back; that retires every card which says it. A person confirms it by typing its name."""
    return _choice("reject", "reject", rejection(card, shared), _REASON, about=card.id) | {"confirm": True}


def kept(card: Card, key: str) -> dict[str, Any]:
    """Let it stand: this item does not come up again until what it was found by changes."""
    return _choice(
        "keep", "knowledge.annotate", {"card_id": card.id, "metadata": {KEPT: key}}, _REASON, about="leave it as it is"
    )
