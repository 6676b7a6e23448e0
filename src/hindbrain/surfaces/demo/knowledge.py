"""Knowledge of the tour: cards of every rank and status, one gate with a shortfall, and what waits for a person."""

from hindbrain.surfaces.demo.repositories import HARBOR, TIDE
from hindbrain.surfaces.demo.stage import Actor, Scene, Stage

__all__ = ["SCENES"]


def _made(actor: Actor, name: str, tier: str, statement: str, content: str, *seen: str, **more: object) -> str:
    """A candidate card that rests on what was seen."""
    ids = actor.stage.ids
    answer = actor.call(
        "knowledge.distill",
        statement=statement,
        content=content,
        tier=tier,
        supporting_refs=[ids[one] for one in seen],
        **more,
    )
    ids[name] = answer["card_id"]
    return ids[name]


def _promoted(actor: Actor, name: str, checked: str, reason: str) -> None:
    ids = actor.stage.ids
    actor.call("knowledge.promote", card_id=ids[name], status="promoted", verification_refs=[ids[checked]], reason=reason)


def _keys(stage: Stage) -> None:
    """A tool that was seen and checked, and the method that is raised from it."""
    actor = stage.agent(HARBOR)
    _made(
        actor, "card-qi", "qi", "The header Idempotency-Key makes a charge happen once.",
        "The provider answers a second request with the same key by the first charge.", "seen-key-once",
        field="payments", trigger_hints={"intent_tags": ["payment", "charge"]},
    )  # fmt: skip
    _promoted(actor, "card-qi", "seen-key-test", "forty requests, one charge")
    raised = actor.call(
        "knowledge.raise",
        card_id=stage.ids["card-qi"],
        to="shu",
        statement="Give every act that costs money a key of its own before the first try.",
        content="The key belongs to the order, not to the try, and outlives every retry.",
        supporting_refs=[stage.ids["seen-key-once"]],
        field="payments",
    )
    stage.ids["card-shu"] = raised["card_id"]
    _promoted(actor, "card-shu", "seen-key-test", "checked by the same test")


def _laws(stage: Stage) -> None:
    """A law of a field, and one above all fields that a person taught and reviewed."""
    actor, person = stage.agent(HARBOR), stage.person(HARBOR)
    _made(
        actor, "card-dao-ren", "dao_ren", "What may run twice is written so that the second run changes nothing.",
        "Seen with charges and with baskets: whoever retries cannot know whether the first try arrived.",
        "seen-key-once", "seen-key-day", field="payments", importance=4,
    )  # fmt: skip
    _promoted(actor, "card-dao-ren", "seen-key-test", "seen twice and checked once")
    taught = person.call(
        "record",
        text="I tell everybody who joins: assume that every message arrives twice, or not at all.",
        wing="teaching",
        room="principles",
        tags=["teaching"],
        provenance="human",
    )
    stage.ids["taught"] = taught["evidence_id"]
    raised = person.call(
        "knowledge.raise",
        card_id=stage.ids["card-dao-ren"],
        to="dao_tian",
        statement="A message may arrive twice or never; only its effect can be made to happen once.",
        content="It holds for payments, baskets, queues and mail alike.",
        scope_constraints="Between processes; within one transaction a write happens once.",
        supporting_refs=[stage.ids[name] for name in ("seen-key-once", "seen-key-day", "seen-unbounded")],
        teaching_refs=[stage.ids["taught"]],
        importance=5,
    )
    stage.ids["card-dao-tian"] = raised["card_id"]
    person.call(
        "knowledge.promote",
        card_id=stage.ids["card-dao-tian"],
        status="canonical",
        verification_refs=[stage.ids["seen-key-test"], stage.ids["seen-jitter"]],
        reason="it held in every field we looked at",
        reviewer="human:founder",
    )


def _copies(stage: Stage) -> None:
    """A card that was promoted and is told apart from the one it replaces."""
    actor = stage.agent(HARBOR, "codex:agent")
    _made(
        actor, "card-backup", "qi", "Copy a live SQLite file with .backup.",
        "A plain copy lacks what is still in the log.", "seen-wal-copy", field="database",
    )  # fmt: skip
    _promoted(actor, "card-backup", "seen-wal-backup", "the copy had every order")
    _made(
        actor, "card-retired", "qi", "Stop the shop before copying its database.",
        "It is safe, and costs a minute of sales each night.", "seen-wal-copy", field="database",
    )  # fmt: skip
    _promoted(actor, "card-retired", "seen-wal-backup", "nothing was lost")
    actor.call(
        "knowledge.demote",
        card_id=stage.ids["card-retired"],
        status="retired",
        evidence_refs=[stage.ids["seen-wal-backup"]],
        reason=".backup needs no stop",
        reason_type="superseded",
    )


def _contradicted(stage: Stage) -> None:
    """Two cards that say the opposite, and one whose standing was taken away."""
    actor = stage.agent(HARBOR, "codex:agent")
    _made(
        actor, "card-bound", "qi", "Bound every retry of the worker.", "The queue was empty again after two minutes.",
        "seen-bounded", field="queue",
    )  # fmt: skip
    _promoted(actor, "card-bound", "seen-jitter", "the provider recovered sooner")
    _made(
        stage.agent(HARBOR, "gemini:reviewer"), "card-never-bound", "qi", "Never bound every retry of the worker.",
        "The last webhook of an order was lost.", "seen-unbounded-lost", field="queue",
    )  # fmt: skip
    _made(
        actor, "card-demoted", "shu", "Double the wait between two tries.", "It gives a busy server time.",
        "seen-bounded", field="queue",
    )  # fmt: skip
    _promoted(actor, "card-demoted", "seen-jitter", "it was quieter")
    actor.call(
        "knowledge.demote",
        card_id=stage.ids["card-demoted"],
        status="demoted",
        evidence_refs=[stage.ids["seen-unbounded"]],
        reason="all callers came back in the same second",
        reason_type="contradicted",
    )


def _waiting(stage: Stage) -> None:
    """A candidate whose gate is open, and one that still lacks a check."""
    actor = stage.agent(HARBOR)
    _made(
        actor,
        "card-open-gate",
        "qi",
        "Sign each image.",
        "Somebody asked who made it.",
        "seen-sign",
        field="release",
        importance=2,
    )
    actor.call(
        "knowledge.link",
        card_id=stage.ids["card-open-gate"],
        evidence_id=stage.ids["seen-sign-check"],
        role="verification",
        note="the signed one told it at once",
    )
    _made(
        actor, "card-shortfall", "dao_ren", "End the old version before the traffic moves to the new one.",
        "Two versions side by side charged an order twice.", "log", field="release",
    )  # fmt: skip
    actor.call("knowledge.gate", card_id=stage.ids["card-shortfall"], target_status="promoted")


def _client(stage: Stage) -> None:
    actor = stage.agent(TIDE)
    _made(
        actor, "tide-card-shu", "shu", "Retry what reads, never what adds.",
        "Adding twice counts twice; reading twice costs only time.", "seen-double-add", field="network",
    )  # fmt: skip
    _promoted(actor, "tide-card-shu", "seen-single-add", "the slow line adds once")
    _made(
        stage.agent(TIDE, "cursor:agent"), "tide-card-candidate", "qi", "Ask for the stock again before showing the basket.",
        "The cached list was forty seconds behind.", "seen-cache-stale", field="cache", importance=2,
    )  # fmt: skip


def _aged(stage: Stage) -> None:
    """The row that a card rests on is taken away: the card waits to be looked at."""
    actor = stage.agent(TIDE, "codex:agent")
    _made(
        actor, "tide-card-stale", "qi", "Intl writes the sign of a currency where the locale wants it.",
        "Seen in a Dutch browser.", "seen-format", field="format",
    )  # fmt: skip
    second = actor.call("record", text="In a French browser the sign comes after the price.", wing="observations", room="format")
    stage.ids["seen-format-check"] = second["evidence_id"]
    _promoted(actor, "tide-card-stale", "seen-format-check", "seen in two locales")
    actor.call("memory.delete", evidence_id=stage.ids["seen-format-check"], reason="the browser was set to Belgium")


def _used(stage: Stage) -> None:
    """What came of guidance, over every surface."""
    actor, other = stage.agent(HARBOR), stage.agent(HARBOR, "codex:agent")
    for surface, outcome, note, more in (
        ("card-context", "accepted", "the key was set before the first try", {"card_id": stage.ids["card-shu"]}),
        ("card-context", "accepted", "the copy was made with .backup", {"card_id": stage.ids["card-backup"]}),
        ("card-context", "rejected", "the wait was doubled all the same", {"card_id": stage.ids["card-demoted"]}),
        ("runtime-context", "used", "the beat named the retry policy", {"query": "how often does a payment retry"}),
        ("runtime-context", "miss", "nobody told of the age of a webhook", {"query": "replayed webhooks"}),
        ("research-adapter", "accepted", "jitter was taken over", {"research_report_id": "retry-practice-2026-10"}),
        ("skill-selection", "neutral", "the skill was read and not needed", {"query": "release the client"}),
    ):
        who = actor if outcome in ("accepted", "used") else other
        who.call("adoption.capture", surface=surface, outcome=outcome, note=note, execute=True, allow_warnings=True, **more)


SCENES: tuple[Scene, ...] = (
    Scene(day=4.2, name="a method is earned", play=_keys),
    Scene(day=5.1, name="how to copy a live database", play=_copies),
    Scene(day=10.1, name="laws are taught and reviewed", play=_laws),
    Scene(day=10.4, name="two cards disagree", play=_contradicted),
    Scene(day=6.7, name="what the client learned", play=_client),
    Scene(day=14.4, name="a gate opens, another does not", play=_waiting),
    Scene(day=16.4, name="a card loses its ground", play=_aged),
    Scene(day=15.7, name="guidance is used", play=_used),
)
