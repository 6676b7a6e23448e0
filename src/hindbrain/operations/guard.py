"""Operations of the context guard: where a call really comes from, and the ten questions an agent may ask about its own work."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.errors import BrainlessRoot, CallerRootUnknown, InvalidParams, PathRefused, UnknownMission
from hindbrain.domain.places import ProjectFile, RepositoryName
from hindbrain.engines.guarding import guard_do_not
from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.asking import Topic
from hindbrain.services.call import Call
from hindbrain.services.missions.asking import Question
from hindbrain.services.missions.guard import told

__all__ = ["ask", "guard"]

Place = Annotated[RepositoryName, Meta(max_length=4_096)]
Word = Annotated[str, Meta(max_length=8_000)]
Many = Annotated[list[Word], Meta(max_length=2_000)]
Repo = Annotated[Place | None, Meta(description="repository that is meant; default is the caller's")]
Intent = Annotated[bool, Meta(description="several repositories are meant on purpose")]
Tools = Annotated[Many | None, Meta(description="tools your host shows you")]


@operation("guard", effect=Effect.READ, positional=("repo",), raises=(PathRefused,))
def guard(
    call: Call,
    repo: Repo = None,
    federation_intent: Intent = False,
    workspace_root: Annotated[Place | None, Meta(description="your workspace, if you know it better")] = None,
    available_tools: Tools = None,
    missing_tools: Annotated[Many | None, Meta(description="tools you miss")] = None,
    expected_fingerprint: Annotated[Word | None, Meta(description="binding_fingerprint you started with")] = None,
) -> dict[str, Any]:
    """Say which workspace this is, whether the graph is of it, and the way out when it is not. Binds and ingests nothing."""
    looked = call.house.guard.look(
        call.caller,
        repo=repo,
        federation_intent=federation_intent,
        workspace_root=workspace_root,
        available_tools=available_tools,
        missing_tools=missing_tools or (),
        expected_fingerprint=expected_fingerprint,
    )
    found = looked.guard
    lines = [f"{found.classification}: {found.reason}.", f"trust: {looked.trust.verdict} ({looked.trust.graph_freshness})"]
    if found.recovery is not None:
        lines += [
            f"{step.order}. [{step.surface}] {step.call} {_given(step.arguments)}".rstrip() for step in found.recovery.steps
        ]
    return {
        "ok": True,
        "schema": "hindbrain-guard-v1",
        "context_guard": told(found),
        "trust": told(looked.trust),
        "repository_identity": looked.identity,
        "stale_build": looked.stale_build,
        "do_not": told(guard_do_not(found)),
        "warnings": list(looked.warnings),
        "rendered": "\n".join([*lines, *looked.warnings]),
    }


@operation(
    "ask",
    effect=Effect.READ,
    positional=("topic",),
    raises=(BrainlessRoot, CallerRootUnknown, InvalidParams, PathRefused, UnknownMission),
)
def ask(
    call: Call,
    topic: Annotated[
        Topic, Meta(description="workspace, freshness, route, next, avoid, proven, covered, failed, resumable or rebound")
    ],
    repo: Repo = None,
    federation_intent: Intent = False,
    mode: Annotated[str, Meta(max_length=40, description="route: kind of work, as for mission start")] = "review",
    budget: Annotated[str, Meta(max_length=40, description="route: short, normal or deep")] = "normal",
    risk: Annotated[str, Meta(max_length=40, description="route: low, medium or high")] = "medium",
    known_targets: Annotated[list[ProjectFile] | None, Meta(description="route: files that are meant for certain")] = None,
    mission_id: Annotated[Word | None, Meta(description="mission that is meant; default is your active one")] = None,
    claim: Annotated[Word | None, Meta(description="proven: id or text of one claim")] = None,
    host: Annotated[Word | None, Meta(description="rebound: one host by name")] = None,
) -> dict[str, Any]:
    """Ask about your own work: where you are, how fresh the graph is, what to do next, what to avoid, what is proven."""
    question = Question(
        topic=topic,
        repo=repo,
        federation_intent=federation_intent,
        mode=mode,
        budget=budget,
        risk=risk,
        known_targets=tuple(known_targets or ()),
        mission_id=mission_id,
        claim=claim,
        host=host,
    )
    return call.house.asking.ask(call.caller, question)


def _given(arguments: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in arguments.items())
