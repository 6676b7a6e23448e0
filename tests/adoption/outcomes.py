"""Outcomes for tests: recorded as agents record them, in one line."""

from typing import Any

from tests.support.world import Actor, World

__all__ = ["CARDS", "a_card", "seen", "table_counts"]

CARDS = {"track": "card_context", "feature": "include_cards"}


def seen(actor: Actor, signal: str, times: int = 1, **more: Any) -> None:
    """The same outcome so many times; of a card in a context, unless it says otherwise."""
    for _ in range(times):
        answer = actor.call("adoption.record", **(CARDS | {"signal": signal, **more}))
        assert answer["ok"], answer


def a_card(actor: Actor, statement: str = "Retries are bounded.") -> str:
    """A candidate card with one piece of evidence."""
    row = actor.call("record", text=f"seen: {statement}")["evidence_id"]
    answer = actor.call(
        "knowledge.distill", statement=statement, content="An endless retry hides the fault.", tier="qi", supporting_refs=[row]
    )
    assert answer["ok"], answer
    return str(answer["card_id"])


def table_counts(world: World, root: str) -> dict[str, int]:
    """How much a brain holds of everything that one of these operations might touch."""
    brain = world.app.house.brains.covering(root)
    assert brain is not None
    with world.app.house.brains.use(brain) as opened:
        store = opened.store
        return {
            "entries": store.head()[0],
            "adoptions": len(store.adoptions()),
            "cards": len(list(store.each_card())),
            "links": len(store.links()),
            "card_events": len(store.card_events()),
            "evidence": store.counts().evidence,
            "marks": len(store.marks()),
        }
