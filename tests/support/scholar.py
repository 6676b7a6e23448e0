"""Somebody who observes and concludes: the shortest way to evidence and cards in a world, and what a brain holds of both."""

from typing import Any

from tests.support.world import Actor, World

__all__ = ["Scholar", "knowledge_of"]


class Scholar:
    """One caller with the verbs of knowledge. Everything goes through the public operations."""

    def __init__(self, world: World, root: str, *, human: bool = False) -> None:
        self.world = world
        self.root = root
        self.actor: Actor = world.human(root) if human else world.at(root)
        self._seen = 0

    def call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        return self.actor.call(operation, **arguments)

    def ok(self, operation: str, **arguments: Any) -> dict[str, Any]:
        answer = self.call(operation, **arguments)
        assert answer["ok"], answer
        return answer

    def refused(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """The error of a call that must fail."""
        answer = self.call(operation, **arguments)
        assert not answer["ok"], answer
        error: dict[str, Any] = answer["error"]
        return error

    def saw(self, text: str | None = None, **more: Any) -> str:
        """One row of evidence; its id."""
        self._seen += 1
        return str(self.ok("record", text=text or f"observation number {self._seen} of the ring buffer", **more)["evidence_id"])

    def distilled(self, statement: str = "Bound every retry.", *, tier: str = "qi", **more: Any) -> str:
        """A candidate; its id. Evidence is made where none is named."""
        refs = more.pop("supporting_refs", None) or [self.saw() for _ in range({"dao_ren": 2}.get(tier, 1))]
        content = more.pop("content", f"Without it the fault stays hidden: {statement}")
        answer = self._placing(more).ok(
            "knowledge.distill", statement=statement, content=content, tier=tier, supporting_refs=refs, **more
        )
        return str(answer["card_id"])

    def _placing(self, more: dict[str, Any]) -> "Scholar":
        """Who makes a card: what goes to every project takes evidence of this one along, which is a person's act."""
        shared = more.get("domain") == "global" and more.get("anchor") in (None, "global")
        return Scholar(self.world, self.root, human=True) if shared else self

    def _moving(self, card: str) -> "Scholar":
        """Who moves a card, likewise."""
        shared = self.card(card)["anchor_kind"] == "global"
        return Scholar(self.world, self.root, human=True) if shared else self

    def created(self, statement: str, *, tier: str = "qi", **more: Any) -> str:
        """An opt-in candidate; its id."""
        refs = more.pop("supporting_refs", None) or [self.saw() for _ in range({"dao_ren": 2}.get(tier, 1))]
        answer = self.ok(
            "knowledge.create",
            statement=statement,
            content=more.pop("content", f"Seen at work: {statement}"),
            tier=tier,
            supporting_refs=refs,
            **more,
        )
        return str(answer["card_id"])

    def promoted(self, statement: str = "Bound every retry.", *, tier: str = "qi", **more: Any) -> str:
        """An active card; its id."""
        card = self.distilled(statement, tier=tier, **more)
        self.promote(card)
        return card

    def promote(self, card: str, **more: Any) -> dict[str, Any]:
        arguments: dict[str, Any] = {"status": "promoted", "reason": "checked again"} | more
        refs = arguments.pop("verification_refs", None) or [self.saw()]
        return self._moving(card).ok("knowledge.promote", card_id=card, verification_refs=refs, **arguments)

    def demote(self, card: str, **more: Any) -> dict[str, Any]:
        arguments: dict[str, Any] = {"status": "demoted", "reason": "it broke", "reason_type": "contradicted"} | more
        refs = arguments.pop("evidence_refs", None) or [self.saw()]
        return self._moving(card).ok("knowledge.demote", card_id=card, evidence_refs=refs, **arguments)

    def canonical(self, statement: str = "Evidence precedes assertion.", **more: Any) -> str:
        """A universal law, made the only way there is: raised from a field law, taught, reviewed by a person."""
        person = Scholar(self.world, self.root, human=True)
        below = self.promoted(f"In this field: {statement}", tier="dao_ren", domain="global")
        taught = person.saw(f"a person taught: {statement}")
        card = str(
            person.ok(
                "knowledge.raise",
                card_id=below,
                to="dao_tian",
                statement=statement,
                content=f"It held wherever it was looked at: {statement}",
                domain="global",
                scope_constraints="where something can be observed",
                supporting_refs=[self.saw() for _ in range(3)],
                teaching_refs=[taught],
                **more,
            )["card_id"]
        )
        person.promote(card, status="canonical", verification_refs=[self.saw(), self.saw()])
        return card

    def card(self, card: str, **more: Any) -> dict[str, Any]:
        return self.ok("knowledge.get", card_id=card, **more)

    def status(self, card: str) -> str:
        return str(self.card(card)["status"])

    def context(self, query: str, **more: Any) -> dict[str, Any]:
        return self.ok("context", query=query, **more)

    def shown(self, query: str, **more: Any) -> dict[str, list[str]]:
        """Section -> texts of a context."""
        return {one["name"]: [item["text"] for item in one["items"]] for one in self.context(query, **more)["sections"]}


def knowledge_of(world: World) -> list[Any]:
    """Everything that brains of a world hold of evidence and knowledge; the ledger also records refusals, so it is left out."""
    house = world.app.house
    found: list[Any] = []
    shared = [house.home.medulla()] if house.brains.has_medulla() else []
    for brain in (*house.brains.all(), *shared):
        with house.brains.use(brain) as opened:
            store = opened.store
            found.append(
                (
                    brain.name,
                    list(store.each_evidence()),
                    list(store.each_card()),
                    store.links(),
                    store.card_events(),
                    store.adoptions(),
                )
            )
    return found
