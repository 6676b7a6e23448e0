"""Operations on cards: distill, create, raise, edit, link, gate, promote, demote, publish, and looking at them."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from hindbrain.domain.anchor import AnchorKind
from hindbrain.domain.card import Hints, Rank, ReasonType, Role, Status, named_id
from hindbrain.domain.errors import (
    BrainlessRoot,
    CallerRootUnknown,
    GateClosed,
    HumanNeeded,
    HygieneRefused,
    IllegalMove,
    InvalidParams,
    NotEvidence,
    PathRefused,
    Rejected,
    StoreUnavailable,
    UnknownCard,
    UnknownEvidence,
)
from hindbrain.domain.evidence import Domain, EvidenceId
from hindbrain.domain.places import ProjectRoot
from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.cards import EVIDENCE_TOP_K, RETRIEVE_TOP_K
from hindbrain.policy.evidence import WORD_MAX
from hindbrain.services.call import Call, Retrieved
from hindbrain.services.card_evidence import checked_ids
from hindbrain.services.card_making import Draft
from hindbrain.services.card_retrieval import Wanted
from hindbrain.services.card_wire import card_text
from hindbrain.services.rendering import gap_text, rendered
from hindbrain.stores.port import CardFilter

__all__ = [
    "annotate",
    "create",
    "demote",
    "distill",
    "edit",
    "events",
    "export",
    "gate",
    "get",
    "link",
    "list_",
    "policy",
    "promote",
    "publish",
    "raise_",
    "retrieve",
    "unlink",
]

CardArgument = Annotated[str, Meta(description="id of a card, card_…")]
EvidenceArgument = Annotated[str, Meta(description="id of a row of evidence, ev_…")]
Statement = Annotated[str, Meta(description="what holds, in one line of at most 240 characters")]
Content = Annotated[str, Meta(description="why it holds, and where it does not")]
Tier = Annotated[
    Literal["dao_tian", "dao_ren", "shu", "qi"],
    Meta(description="dao_tian law of everything, dao_ren law of a field, shu method, qi tool; tools and commands are qi"),
]
StatusArgument = Literal["candidate", "promoted", "canonical", "demoted", "retired"]
DomainArgument = Annotated[Literal["project", "agent", "skill", "global"], Meta(description="for whom it is")]
Field = Annotated[str, Meta(max_length=WORD_MAX, description="subject, such as debugging")]
Supporting = Annotated[list[str], Meta(description="evidence that backs it, ev_…")]
Refs = Annotated[list[str] | None, Meta(description="ids of evidence, ev_…")]
HintsArgument = Annotated[
    dict[str, list[str]] | None, Meta(description="bias only: lists under intent_tags, workflow_bias, tool_needs")
]
Scope = Annotated[str | None, Meta(description="where it holds and where not")]
RoleArgument = Literal["supporting", "verification", "counterexample", "teaching"]
AnchorArgument = Annotated[Literal["worktree", "repo", "global"] | None, Meta(description="scope; by the tier when left out")]
Cwd = Annotated[ProjectRoot | None, Meta(description="directory of this project; the caller's when left out")]
Reason = Annotated[str, Meta(description="why, in a sentence")]

_MAKING = (
    BrainlessRoot,
    CallerRootUnknown,
    HumanNeeded,
    HygieneRefused,
    InvalidParams,
    NotEvidence,
    PathRefused,
    Rejected,
    StoreUnavailable,
    UnknownEvidence,
)
_CHANGING = (GateClosed, HygieneRefused, IllegalMove, InvalidParams, NotEvidence, Rejected, StoreUnavailable, UnknownCard)


def _refs(
    supporting: list[str] | None, counterexample: list[str] | None, teaching: list[str] | None
) -> dict[Role, tuple[EvidenceId, ...]]:
    given = {Role.SUPPORTING: supporting, Role.COUNTEREXAMPLE: counterexample, Role.TEACHING: teaching}
    return {role: checked_ids(ids or (), f"{role.value}_refs") for role, ids in given.items()}


@operation("knowledge.policy", effect=Effect.READ)
def policy(call: Call) -> dict[str, Any]:
    """Show what each rank means and what its gate asks for."""
    answer = call.house.cards.policy()
    lines = [
        f"{one['tier']} -> {one['target_status']}: {one['requirements']['min_supporting_refs']} supporting, "
        f"{one['requirements']['min_verification_refs']} verification, {one['requirements']['min_teaching_refs']} teaching"
        f"{', a person reviews' if one['requirements']['reviewer_required'] else ''}; {one['meaning']}"
        for one in answer["policy"]
    ]
    return answer | {"rendered": "\n".join([*lines, "A counterexample closes every gate."])}


@operation("knowledge.distill", effect=Effect.WRITE, idempotent=True, raises=_MAKING)
def distill(
    call: Call,
    statement: Statement,
    content: Content,
    tier: Tier,
    supporting_refs: Supporting,
    counterexample_refs: Refs = None,
    teaching_refs: Refs = None,
    domain: DomainArgument = "project",
    field: Field = "general",
    scope_constraints: Scope = None,
    trigger_hints: HintsArgument = None,
    importance: Annotated[int, Meta(ge=0, le=5)] = 3,
    anchor: AnchorArgument = None,
    experimental: Annotated[bool, Meta(description="keep it at this checkout")] = False,
    supersedes: Annotated[str | None, Meta(description="the card it follows, card_…")] = None,
    cwd: Cwd = None,
    dry_run: Annotated[bool, Meta(description="only tell the id")] = False,
) -> dict[str, Any]:
    """Make one candidate card from evidence. You say what follows from it; nothing is active before its gate opens."""
    return call.house.card_making.distill(
        call.caller,
        Draft(
            statement=statement,
            content=content,
            rank=Rank(tier),
            refs=_refs(supporting_refs, counterexample_refs, teaching_refs),
            domain=Domain(domain),
            field=field,
            scope_constraints=scope_constraints,
            hints=Hints.of(trigger_hints),
            importance=importance,
            anchor=AnchorKind(anchor) if anchor else None,
            experimental=experimental,
            supersedes=call.house.cards.holding(call.caller, supersedes)[1].id if supersedes else None,
            cwd=cwd,
            reason="distilled",
            dry_run=dry_run,
        ),
    )


@operation(
    "knowledge.create",
    effect=Effect.WRITE,
    idempotent=True,
    raises=_MAKING,
    left_out={"mcp": "an agent distills from evidence; opt-in cards are made by people and scripts"},
)
def create(
    call: Call,
    statement: Statement,
    content: Content,
    tier: Tier,
    supporting_refs: Supporting,
    card_id: Annotated[str | None, Meta(description="card_ and some plain characters; made from the content if left out")] = None,
    counterexample_refs: Refs = None,
    teaching_refs: Refs = None,
    domain: DomainArgument = "project",
    field: Field = "general",
    anchor: AnchorArgument = None,
    anchor_id: Annotated[str | None, Meta(description="such as repo:///path/.git")] = None,
    scope_constraints: Scope = None,
    trigger_hints: HintsArgument = None,
    importance: Annotated[int, Meta(ge=0, le=5)] = 3,
    cwd: Cwd = None,
    dry_run: Annotated[bool, Meta(description="only tell the id")] = False,
) -> dict[str, Any]:
    """Make one opt-in candidate card: shown in a context only where cards are asked for."""
    return call.house.card_making.make(
        call.caller,
        Draft(
            statement=statement,
            content=content,
            rank=Rank(tier),
            refs=_refs(supporting_refs, counterexample_refs, teaching_refs),
            id=named_id(card_id) if card_id is not None else None,
            domain=Domain(domain),
            field=field,
            scope_constraints=scope_constraints,
            hints=Hints.of(trigger_hints),
            importance=importance,
            anchor=AnchorKind(anchor) if anchor else None,
            anchor_id=anchor_id,
            cwd=cwd,
            opt_in=True,
            reason="created",
            dry_run=dry_run,
        ),
    )


@operation("knowledge.raise", effect=Effect.WRITE, idempotent=True, positional=("card_id",), raises=(*_MAKING, UnknownCard))
def raise_(
    call: Call,
    card_id: CardArgument,
    to: Annotated[Literal["shu", "dao_ren", "dao_tian"], Meta(description="one rank up")],
    statement: Statement,
    content: Content,
    scope_constraints: Scope = None,
    supporting_refs: Annotated[list[str] | None, Meta(description="chosen evidence; the card's own when left out")] = None,
    teaching_refs: Annotated[list[str] | None, Meta(description="chosen evidence; the card's own when left out")] = None,
    domain: Annotated[
        Literal["project", "agent", "skill", "global"] | None,
        Meta(description="for whom; the card's own when left out, global for dao_tian"),
    ] = None,
    field: Annotated[str | None, Meta(description="subject; the card's own when left out")] = None,
    supersedes: Annotated[str | None, Meta(description="the card it follows, card_…")] = None,
    importance: Annotated[int, Meta(ge=0, le=5)] = 3,
    cwd: Cwd = None,
    dry_run: Annotated[bool, Meta(description="only tell the id")] = False,
) -> dict[str, Any]:
    """Make a candidate of the next rank from an active card, with a statement of its own. The card itself stays active."""
    source = call.house.cards.holding(call.caller, card_id)[1]
    by_rank = Domain.GLOBAL if to == "dao_tian" else source.domain
    return call.house.card_making.raised(
        call.caller,
        card_id,
        Draft(
            statement=statement,
            content=content,
            rank=Rank(to),
            refs=_refs(supporting_refs, None, teaching_refs),
            domain=Domain(domain) if domain else by_rank,
            field=field or source.field,
            supersedes=call.house.cards.holding(call.caller, supersedes)[1].id if supersedes else None,
            scope_constraints=scope_constraints,
            importance=importance,
            cwd=cwd,
            reason=f"raised from {card_id[:80]}",
            dry_run=dry_run,
        ),
    )


@operation("knowledge.get", effect=Effect.READ, positional=("card_id",), raises=(UnknownCard, StoreUnavailable))
def get(
    call: Call, card_id: CardArgument, derived: Annotated[bool, Meta(description="also stability and promotion history")] = False
) -> dict[str, Any]:
    """Show one card whole: what it states, how it stands and what it rests on."""
    answer = call.house.cards.get(call.caller, card_id, derived=derived)
    return answer | {"rendered": rendered([card_text(answer)], call.house.recall.tokens)[0]}


@operation("knowledge.list", effect=Effect.READ, raises=(InvalidParams, StoreUnavailable))
def list_(
    call: Call,
    tier: Annotated[Literal["dao_tian", "dao_ren", "shu", "qi"] | None, Meta(description="only this rank")] = None,
    status: Annotated[StatusArgument | None, Meta(description="only this status")] = None,
    domain: Annotated[Literal["project", "agent", "skill", "global"] | None, Meta(description="only for these")] = None,
    field: Annotated[str | None, Meta(description="only this subject")] = None,
    anchor_kind: Annotated[Literal["worktree", "repo", "global"] | None, Meta(description="only anchored so")] = None,
    anchor_id: Annotated[str | None, Meta(description="only anchored here")] = None,
    limit: Annotated[int, Meta(ge=1, le=1000, description="cards at most")] = 50,
    query: Annotated[
        Annotated[str, Meta(max_length=WORD_MAX)] | None, Meta(description="only with all these words, or their beginnings")
    ] = None,
    brain: Annotated[Literal["project", "medulla"] | None, Meta(description="only of this brain; default is both")] = None,
    gates: Annotated[bool, Meta(description="also what each lacks for its active status")] = False,
    facets: Annotated[bool, Meta(description="also which subjects and domains there are")] = False,
) -> dict[str, Any]:
    """List cards by rank, status and id, with how many there are in all and of each rank and status."""
    where = CardFilter(tier=tier, status=status, domain=domain, field=field, anchor_kind=anchor_kind, anchor_id=anchor_id)
    answer = call.house.cards.listed(call.caller, where, limit=limit, query=query, tier=brain, gates=gates, facets=facets)
    shown, left = rendered([card_text(row) for row in answer["cards"]], call.house.recall.tokens)
    return answer | {"rendered": shown or "no cards"} | ({"left_out": left} if left else {})


@operation("knowledge.events", effect=Effect.READ, positional=("card_id",), raises=(UnknownCard,))
def events(call: Call, card_id: CardArgument) -> dict[str, Any]:
    """Show how a card came to be what it is, in order."""
    answer = call.house.cards.events(call.caller, card_id)
    lines = [
        f"{one['created_at']} {one['event_type']}"
        f"{' ' + (one['from_status'] or '-') + ' -> ' + one['to_status'] if one['to_status'] else ''} "
        f"by {one['actor']} ({one['channel']}): {one['reason']}"
        for one in answer["events"]
    ]
    return answer | {"rendered": rendered(["\n".join(lines)], call.house.recall.tokens)[0]}


@operation("knowledge.export", effect=Effect.READ, raises=(StoreUnavailable,))
def export(call: Call) -> dict[str, Any]:
    """Print the history of all cards of this project as lines of JSON. It is derived: nothing reads it back."""
    lines = list(call.house.cards.exported(call.caller))
    return {"ok": True, "schema": "hindbrain-card-export-v0", "events": len(lines), "rendered": "\n".join(lines), "lines": lines}


@operation("knowledge.gate", effect=Effect.READ, positional=("card_id",), raises=(InvalidParams, UnknownCard))
def gate(
    call: Call,
    card_id: CardArgument,
    target_status: Annotated[Literal["promoted", "canonical"] | None, Meta(description="by the rank when left out")] = None,
    reviewer: Annotated[
        str | None, Meta(description="the person who would answer for it; heard on the human channel only")
    ] = None,
    allow_counterexamples: Annotated[bool, Meta(description="as if a person let them pass")] = False,
) -> dict[str, Any]:
    """Say what a card lacks for its next status. Advice only: passing promotes nothing."""
    answer = call.house.cards.gate(
        call.caller,
        card_id,
        target_status=target_status,
        reviewer=reviewer,
        allow_counterexamples=allow_counterexamples,
    )
    state = "open" if answer["allowed"] else "closed"
    open_ = f"{answer['card_id']}: {answer['status']} -> {answer['target_status']} is {state}"
    if answer["status"] == answer["target_status"]:
        open_ = f"{answer['card_id']} is {answer['status']} already; its gate would be {state} today"
    return answer | {"rendered": "\n".join([open_, *(f"- {reason}" for reason in answer["reasons"])])}


@operation("knowledge.promote", effect=Effect.WRITE, positional=("card_id",), raises=(*_CHANGING, HumanNeeded, UnknownEvidence))
def promote(
    call: Call,
    card_id: CardArgument,
    status: Annotated[Literal["promoted", "canonical"], Meta(description="canonical is for dao_tian, and a person's act")],
    verification_refs: Annotated[list[str], Meta(description="evidence that it was checked again, ev_…")],
    reason: Reason,
    reviewer: Annotated[str | None, Meta(description="the person who answers for it; heard on the human channel only")] = None,
    allow_counterexamples: Annotated[bool, Meta(description="a person lets them pass")] = False,
) -> dict[str, Any]:
    """Activate a card, if its gate opens. A closed gate changes nothing and says what is missing."""
    return call.house.card_moves.promote(
        call.caller,
        card_id,
        status=Status(status),
        verification_refs=verification_refs,
        reason=reason,
        reviewer=reviewer,
        allow_counterexamples=allow_counterexamples,
    )


@operation("knowledge.demote", effect=Effect.WRITE, positional=("card_id",), raises=(*_CHANGING, UnknownEvidence))
def demote(
    call: Call,
    card_id: CardArgument,
    status: Annotated[Literal["demoted", "retired"], Meta(description="retired is final")],
    evidence_refs: Annotated[list[str], Meta(description="evidence that speaks against it, ev_…")],
    reason: Reason,
    reason_type: Literal["contradicted", "obsolete", "superseded", "out_of_scope", "unsafe"],
) -> dict[str, Any]:
    """Take a card's standing away, on evidence. It stays readable and can be promoted again unless it is retired."""
    return call.house.card_moves.demote(
        call.caller,
        card_id,
        status=Status(status),
        evidence_refs=evidence_refs,
        reason=reason,
        reason_type=ReasonType(reason_type),
    )


@operation(
    "knowledge.publish",
    effect=Effect.WRITE,
    positional=("card_id",),
    raises=(*_CHANGING, HumanNeeded, PathRefused, BrainlessRoot, CallerRootUnknown, UnknownEvidence),
)
def publish(
    call: Call,
    card_id: CardArgument,
    to: Annotated[Literal["worktree", "repo", "global"], Meta(description="one step outward: repo, then global")],
    reason: Reason,
    reviewer: Annotated[str | None, Meta(description="the person who answers for it; heard on the human channel only")] = None,
    target_anchor_id: Annotated[str | None, Meta(description="which repository; its own when left out")] = None,
    as_global: Annotated[bool, Meta(description="a person makes a project's card everybody's")] = False,
    cwd: Cwd = None,
) -> dict[str, Any]:
    """Move an active card one scope outward. To global it takes copies of its evidence along, readable in every project."""
    return call.house.card_publishing.publish(
        call.caller,
        card_id,
        to=AnchorKind(to),
        reason=reason,
        reviewer=reviewer,
        target_anchor_id=target_anchor_id,
        cwd=cwd,
        as_global=as_global,
    )


@operation(
    "knowledge.link",
    effect=Effect.WRITE,
    idempotent=True,
    positional=("card_id", "evidence_id"),
    raises=(*_CHANGING, HumanNeeded, UnknownEvidence),
)
def link(
    call: Call,
    card_id: CardArgument,
    evidence_id: EvidenceArgument,
    role: RoleArgument,
    note: Annotated[str, Meta(description="what it shows")] = "",
) -> dict[str, Any]:
    """Let a card cite one more row of evidence, in one of four roles. Teaching is what a person said."""
    return call.house.card_links.link(call.caller, card_id, evidence_id, role=Role(role), note=note)


@operation("knowledge.unlink", effect=Effect.WRITE, positional=("card_id", "evidence_id"), raises=(*_CHANGING, UnknownEvidence))
def unlink(
    call: Call, card_id: CardArgument, evidence_id: EvidenceArgument, role: RoleArgument, reason: Reason = ""
) -> dict[str, Any]:
    """Let a card cite a row no longer. An active card keeps what its gate asks for."""
    return call.house.card_links.unlink(call.caller, card_id, evidence_id, role=Role(role), reason=reason)


@operation("knowledge.edit", effect=Effect.WRITE, positional=("card_id",), raises=_CHANGING)
def edit(
    call: Call,
    card_id: CardArgument,
    statement: Annotated[str | None, Meta(description="only of a card that is not active")] = None,
    content: Annotated[str | None, Meta(description="only of a card that is not active")] = None,
    scope_constraints: Scope = None,
    trigger_hints: HintsArgument = None,
    reason: Reason = "",
) -> dict[str, Any]:
    """Say a card better. What an active card states is not edited: demote it, or distill a successor."""
    return call.house.card_links.edit(
        call.caller,
        card_id,
        statement=statement,
        content=content,
        scope_constraints=scope_constraints,
        hints=Hints.of(trigger_hints) if trigger_hints is not None else None,
        reason=reason,
    )


@operation("knowledge.annotate", effect=Effect.WRITE, positional=("card_id",), raises=_CHANGING)
def annotate(
    call: Call,
    card_id: CardArgument,
    reason: Reason,
    metadata: Annotated[dict[str, Any] | None, Meta(description="more, as an object")] = None,
) -> dict[str, Any]:
    """Add a remark to a card's history. What was done to a card is told by the deed, never by hand."""
    return call.house.card_links.annotate(call.caller, card_id, reason=reason, metadata=metadata or {})


@operation("knowledge.retrieve", effect=Effect.READ, retrieval=True, positional=("query",), raises=(InvalidParams, PathRefused))
def retrieve(
    call: Call,
    query: Annotated[str, Meta(description="words or a question")],
    domain: Annotated[Literal["project", "agent", "skill", "global"] | None, Meta(description="only for these")] = None,
    field: Annotated[str | None, Meta(description="only this subject")] = None,
    cwd: Cwd = None,
    top_k: Annotated[int, Meta(ge=0, le=100, description="cards at most")] = RETRIEVE_TOP_K,
    evidence_top_k: Annotated[int, Meta(ge=0, le=200, description="rows of evidence that are followed")] = EVIDENCE_TOP_K,
) -> Retrieved:
    """Find active cards by the evidence they cite, each with what matched."""
    wanted = Wanted(
        query=query,
        domain=Domain(domain) if domain else None,
        field=field,
        cwd=cwd,
        top_k=top_k,
        evidence_top_k=evidence_top_k,
    )
    rows, gaps = call.house.card_retrieval.retrieve(call.caller, wanted)
    shown, left = rendered([card_text(one["card"]) for one in rows], call.house.recall.tokens)
    answer = {
        "schema": "hindbrain-card-retrieve-v0",
        "query": query,
        "cards": rows,
        "honest_gaps": gaps,
        "rendered": "\n".join([shown or "no cards", *map(gap_text, gaps)]),
    }
    return Retrieved(answer=answer | ({"left_out": left} if left else {}), candidates=len(rows))
