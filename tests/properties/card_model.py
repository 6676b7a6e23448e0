"""The reference model of the lifecycle machine: cards, what they cite and the rules by which they move, in a few dictionaries."""

from collections import Counter
from dataclasses import dataclass, field

__all__ = ["NEEDS", "NEXT", "TARGET", "CardModel", "Known"]

TARGET = {"qi": "promoted", "shu": "promoted", "dao_ren": "promoted", "dao_tian": "canonical"}
NEXT = {"qi": "shu", "shu": "dao_ren", "dao_ren": "dao_tian"}
NEEDS = {  # supporting, verification, teaching
    "qi": {"supporting": 1, "verification": 1, "teaching": 0},
    "shu": {"supporting": 1, "verification": 1, "teaching": 0},
    "dao_ren": {"supporting": 2, "verification": 1, "teaching": 0},
    "dao_tian": {"supporting": 3, "verification": 2, "teaching": 1},
}
_AWAY = {"candidate": {"retired"}, "promoted": {"demoted", "retired"}, "canonical": {"demoted", "retired"}}
_AWAY |= {"demoted": {"retired"}, "retired": set()}


@dataclass
class Known:
    """One card."""

    rank: str
    anchor: str
    statement: str
    opt_in: bool = False
    status: str = "candidate"
    links: list[tuple[str, str]] = field(default_factory=list)  # (role, evidence), in order
    history: list[str] = field(default_factory=lambda: ["created"])

    @property
    def active(self) -> bool:
        return self.status in ("promoted", "canonical")

    def cite(self, role: str, evidence: str) -> bool:
        if (role, evidence) in self.links:
            return False
        self.links.append((role, evidence))
        return True


class CardModel:
    """All cards and all evidence of one project and the medulla."""

    def __init__(self) -> None:
        self.alive: dict[str, bool] = {}
        self.taught: set[str] = set()  # evidence that a person gave
        self.cards: dict[str, Known] = {}

    def counts(self, links: list[tuple[str, str]]) -> Counter[str]:
        return Counter(role for role, evidence in links if self.alive[evidence])

    def enough(self, card: Known, links: list[tuple[str, str]]) -> bool:
        have = self.counts(links)
        return all(have[role] >= need for role, need in NEEDS[card.rank].items())

    def opens(self, card: Known, added: list[str], *, spared: bool, person: bool) -> bool:
        """Whether the gate of a card opens, with some verification more."""
        links = [*card.links, *(("verification", one) for one in added if ("verification", one) not in card.links)]
        missing = any(not self.alive[evidence] for role, evidence in links if role != "counterexample")
        opposed = self.counts(links)["counterexample"] and not spared
        return self.enough(card, links) and not missing and not opposed and (person or card.rank != "dao_tian")

    def promote(self, id_: str, to: str, refs: list[str], *, person: bool, spared: bool) -> str | None:
        """Why a promotion is refused, or None when the card is active."""
        card = self.cards[id_]
        if not person and (to == "canonical" or card.rank == "dao_tian" or spared):
            return "human_needed"
        if not all(self.alive[one] for one in refs):
            return "unknown_evidence"
        if card.status not in ("candidate", "demoted") or to != TARGET[card.rank]:
            return "illegal_move"
        if not self.opens(card, refs, spared=spared, person=person):
            return "gate_closed"
        for one in refs:
            card.cite("verification", one)
        card.status = to
        card.history.append("promoted")
        return None

    def demote(self, id_: str, to: str, refs: list[str]) -> str | None:
        card = self.cards[id_]
        if not all(self.alive[one] for one in refs):
            return "unknown_evidence"
        if to not in _AWAY[card.status]:
            return "illegal_move"
        for one in refs:
            card.cite("counterexample", one)
        card.status = to
        card.history.append(to)
        return None

    def unlink(self, id_: str, role: str, evidence: str) -> str | None:
        card = self.cards[id_]
        if (role, evidence) not in card.links:
            return "unknown_evidence"
        left = [link for link in card.links if link != (role, evidence)]
        if card.active and role != "counterexample" and not self.enough(card, left):
            return "gate_closed"
        card.links = left
        card.history.append("unlinked")
        return None

    def publish(self, id_: str, to: str, *, person: bool, as_global: bool) -> str | None:
        card = self.cards[id_]
        if not card.active or {"repo": "worktree", "global": "repo"}[to] != card.anchor:
            return "illegal_move"
        if as_global and not person:
            return "human_needed"
        if id_ not in self.standing():
            return "gate_closed"
        if to == "global":
            if not as_global:
                return "invalid_params"
            card.links = [link for link in card.links if self.alive[link[1]]]  # what was deleted does not travel
            card.history.append("published_anchor")  # told in both brains
        card.anchor = to
        card.history.append("published_anchor")
        return None

    def standing(self) -> set[str]:
        """The cards that a context shows: active, on living support, and with no less of it than their gate asked for."""
        return {
            id_
            for id_, card in self.cards.items()
            if card.active and self.counts(card.links)["supporting"] and self.enough(card, card.links)
        }
