"""Operations that govern: promote, audit, learn, consolidate, reject, forget."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.brain import MEDULLA
from hindbrain.domain.errors import (
    BrainlessRoot,
    HumanNeeded,
    HygieneRefused,
    InvalidParams,
    NotAProjectBrain,
    NotLive,
    Rejected,
    UnknownBrain,
    UnknownClaim,
    WouldDowngrade,
)
from hindbrain.domain.places import BrainName
from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.activation import LEARNING
from hindbrain.services.call import Call
from hindbrain.services.grades import names_code

__all__ = ["audit_promotions", "consolidate", "forget", "learn", "promote", "reject"]

Subject = Annotated[str, Meta(description="slug or label")]
Tier = Annotated[str | None, Meta(description="medulla for a shared claim")]


@operation(
    "promote",
    effect=Effect.WRITE,
    everyday=True,
    positional=("claim",),
    raises=(UnknownBrain, UnknownClaim, NotAProjectBrain, HygieneRefused, WouldDowngrade, NotLive, Rejected, InvalidParams),
)
def promote(
    call: Call,
    claim: Subject,
    reason: Annotated[str, Meta(description="one line: why it holds beyond its project")],
    brain: Annotated[BrainName | None, Meta(description="root of the project it comes from; yours when left out")] = None,
    dry_run: Annotated[bool, Meta(description="only show the checklist")] = False,
) -> dict[str, Any]:
    """Share a claim with all projects: a copy with its provenance goes to the medulla, the original stays as witness.

    Two qualifications: P1, restated it names no single repository's file, line or flag; P2, it was seen in two or more projects,
    or is founder doctrine, or a distilled lesson about the tool. Makers propose, orchestrators promote.
    """
    source = brain if brain is not None else call.house.router.write_route(call.caller).name
    return call.house.promotion.promote(call.caller, brain=source, claim=claim, reason=reason, dry_run=dry_run)


@operation("audit_promotions", effect=Effect.READ)
def audit_promotions(call: Call) -> dict[str, Any]:
    """List every claim of the medulla with promoter, reason and date; flag those no orchestrator or founder shared."""
    return call.house.promotion.audit()


@operation("learn", effect=Effect.WRITE, everyday=True, positional=("feedback", "node_ids"), raises=(InvalidParams, UnknownClaim))
def learn(
    call: Call,
    feedback: Annotated[str, Meta(description="correct, wrong or partial")],
    node_ids: Annotated[list[str], Meta(description="slugs or labels of claims, node_ids of memory rows or of code, paths")],
    query: Annotated[str, Meta(description="what had been asked")] = "",
    strength: Annotated[float, Meta(ge=0, le=1)] = LEARNING.strength,
    tier: Annotated[str | None, Meta(description="project or medulla, when the label lives in both")] = None,
) -> dict[str, Any]:
    """Grade claims, and teach the graph: `correct` binds the named code closer and notes a confirmed defect, `wrong` loosens it.

    `wrong` on a shared claim takes it out of every default beat at once; consolidate archives it later.
    """
    grades = call.house.grades
    given: dict[str, Any] = {"feedback": feedback, "node_ids": node_ids, "query": query, "strength": strength, "tier": tier}
    if tier != MEDULLA and any(names_code(name) for name in node_ids):
        return call.house.graph.learning.learn(call.caller, grades, **given)
    return grades.learn(call.caller, **given)


@operation("consolidate", effect=Effect.WRITE, raises=())
def consolidate(
    call: Call,
    apply: Annotated[bool, Meta(description="do it; without this only the plan is shown")] = False,
    merge: Annotated[list[str] | None, Meta(description="slugs of duplicates you confirm to merge")] = None,
) -> dict[str, Any]:
    """Keep the medulla small: archive what was graded wrong, name duplicates, restatements and copies without a witness."""
    return call.house.consolidation.run(call.caller, apply=apply, merge=tuple(merge or ()))


@operation(
    "reject",
    effect=Effect.DESTRUCTIVE,
    human=True,
    positional=("claim",),
    raises=(HumanNeeded, UnknownClaim, BrainlessRoot),
)
def reject(
    call: Call,
    claim: Annotated[str, Meta(description="slug or label; or id of a card, for what it says")],
    reason: Annotated[str, Meta(description="why it must not come back")] = "",
    value: Annotated[str | None, Meta(description="the text to reject, when it is not the live one")] = None,
    tier: Tier = None,
    lift: Annotated[bool, Meta(description="take the rejection back")] = False,
) -> dict[str, Any]:
    """Reject a value for good, or lift that: no channel, label, case, spacing or look-alike brings a rejected one back."""
    if claim.startswith("card_") and value is None and (said := call.house.cards.rejection(call.caller, claim)):
        claim, value, tier = said["claim"], said["value"], said.get("tier")
    return call.house.erasure.reject(call.caller, claim=claim, value=value, reason=reason, tier=tier, lift=lift)


@operation(
    "forget",
    effect=Effect.DESTRUCTIVE,
    human=True,
    positional=("claim",),
    raises=(HumanNeeded, UnknownClaim, BrainlessRoot),
)
def forget(
    call: Call,
    claim: Annotated[str, Meta(description="slug or label of a claim, or id of evidence, a card or an outcome")],
    reason: Annotated[str, Meta(description="why")] = "",
    tier: Tier = None,
) -> dict[str, Any]:
    """Erase a claim, evidence or a card for real: rows, files, history, words, copies and what rests on it alone.

    The record keeps the act, not the content."""
    return call.house.erasure.forget(call.caller, claim=claim, reason=reason, tier=tier)
