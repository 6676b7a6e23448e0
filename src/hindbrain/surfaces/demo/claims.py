"""Claims of the tour: what the agents of both repositories came to believe, what was revised, shared, rejected and forgotten."""

from hindbrain.surfaces.demo.claim_texts import CLAIMS, DOCTRINE, Said
from hindbrain.surfaces.demo.repositories import HARBOR, TIDE
from hindbrain.surfaces.demo.stage import Scene, Stage

__all__ = ["BORN", "SCENES"]

BORN = -12.6  # the day on which both repositories get their brains


def _born(stage: Stage) -> None:
    for name, root in stage.roots.items():
        stage.person(name).call("init", path=str(root))
        stage.agent(name).call("ingest", path=str(root), project_root=str(root))


def _said(one: Said) -> Scene:
    def play(stage: Stage) -> None:
        answer = stage.agent(one.repository, one.agent).call(
            "memorize",
            node_label=one.label,
            text=one.text,
            evidence=stage.cite(one.repository, *one.cites) or None,
            confidence=one.confidence,
            state=one.state,
        )
        if one.name:
            stage.ids[one.name] = answer["slug"]

    return Scene(day=one.day, name=f"{one.repository}: {one.label}", play=play)


def _doctrine(stage: Stage) -> None:
    for label, text in DOCTRINE:
        answer = stage.person(HARBOR).call("memorize", node_label=label, text=text, tier="medulla", confidence=0.9)
        stage.ids.setdefault("doctrine", answer["slug"])
    stage.agent(HARBOR).call("boot_memory", action="set", key="deploy.days", value=["Tuesday", "Thursday"], tags=["deploy"])
    stage.agent(TIDE, "codex:agent").call("boot_memory", action="set", key="node.version", value="22")


def _shared(stage: Stage) -> None:
    """One claim holds everywhere and is promoted; another was shared too early and is taken back."""
    stage.agent(HARBOR, "claude-code:orchestrator").call(
        "promote", claim="Idempotent charges", reason="the client found the same for adding to a basket"
    )
    stage.agent(TIDE, "claude-code:orchestrator").call(
        "promote", claim="Retry what may help only", reason="harbor-shop retries by the same rule"
    )
    stage.ids["promoted-claim"] = "idempotent-charges"


def _graded(stage: Stage) -> None:
    reviewer = stage.agent(HARBOR, "gemini:reviewer")
    reviewer.call("learn", feedback="correct", node_ids=["idempotent-charges", "webhook-age"], query="payments")
    reviewer.call("learn", feedback="partial", node_ids=["queue-bound"])
    reviewer.call("learn", feedback="wrong", node_ids=["basket-survives-a-restart"])
    stage.agent(TIDE, "codex:agent").call("learn", feedback="correct", node_ids=["adding-is-not-retried", "error-status-zero"])
    stage.ids["wrong-claim"] = "basket-survives-a-restart"


def _rejected(stage: Stage) -> None:
    """The person says what is wrong and what must go; an agent tries to bring it back."""
    stage.person(HARBOR).call("reject", claim="Copying the database", reason="a copy without its log loses orders")
    stage.ids["rejected-claim"] = "copying-the-database"
    refused = stage.agent(HARBOR, "codex:agent").try_call(
        "memorize", node_label="Backups", text="The database file can be copied with cp at any time."
    )
    stage.ids["refused"] = str(refused.get("refused"))
    stage.person(HARBOR).call("forget", claim="Customer of the broken lamp", reason="personal data")


def _asked(stage: Stage) -> None:
    """Questions of ordinary days; they are what served memory is counted by."""
    for name, agent, task in (
        (HARBOR, "claude-code:agent", "why was an order charged twice"),
        (HARBOR, "codex:agent", "how often does a payment retry"),
        (TIDE, "claude-code:agent", "which errors are tried again"),
        (TIDE, "cursor:agent", "where does the session live"),
    ):
        actor = stage.agent(name, agent)
        actor.call("north", task=task)
        actor.call("seek", query=task)


SCENES: tuple[Scene, ...] = (
    Scene(day=BORN, name="both repositories get a brain", play=_born),
    *map(_said, CLAIMS),
    Scene(day=1.1, name="doctrine for every project", play=_doctrine),
    Scene(day=5.4, name="an ordinary day", play=_asked),
    Scene(day=9.2, name="what holds everywhere is shared", play=_shared),
    Scene(day=12.8, name="claims are graded", play=_graded),
    Scene(day=16.3, name="a value is rejected, another forgotten", play=_rejected),
    Scene(day=19.3, name="another ordinary day", play=_asked),
)
