"""Operations on claims: memorize, claims, history, claim.remove and claim.restore."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from hindbrain.domain.errors import (
    BrainlessRoot,
    CallerRootUnknown,
    ClaimTooLarge,
    HumanNeeded,
    HygieneRefused,
    InvalidLabel,
    InvalidParams,
    InvalidState,
    PathRefused,
    Rejected,
    UnknownClaim,
)
from hindbrain.domain.places import ProjectFile
from hindbrain.operations.memory import TimeArgument, moment
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call
from hindbrain.services.claim_list import Asked
from hindbrain.services.claims import version_text
from hindbrain.services.rendering import rendered, rendered_rows

__all__ = ["ClaimBlock", "history", "list_", "memorize", "remove", "restore"]


class ClaimBlock(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One belief of a claim."""

    label: Annotated[str, Meta(description="what it is about")]
    text: str | None = None
    kind: Annotated[str | None, Meta(description="entity, state or event")] = None
    confidence: str | int | float | None = None
    ambiguity: str | int | float | None = None
    evidence: Annotated[list[ProjectFile] | None, Meta(description="repository-relative paths, optionally :line")] = None
    depends_on: list[str] | None = None


@operation(
    "memorize",
    effect=Effect.WRITE,
    everyday=True,
    positional=("node_label", "text"),
    raises=(
        BrainlessRoot,
        CallerRootUnknown,
        HygieneRefused,
        Rejected,
        InvalidParams,
        InvalidLabel,
        InvalidState,
        ClaimTooLarge,
        PathRefused,
        HumanNeeded,
    ),
    refusal={
        "schema": "m1nd-memorize-v0",
        "bytes_written": 0,
        "claims_written": 0,
        "ingested": False,
        "superseded": False,
    },
)
def memorize(
    call: Call,
    node_label: Annotated[str, Meta(description="short label; its slug is the claim's name")],
    text: Annotated[str | None, Meta(description="the belief, for a claim of one block")] = None,
    claims: Annotated[list[ClaimBlock] | None, Meta(description="blocks, for a claim of several")] = None,
    evidence: Annotated[list[ProjectFile] | None, Meta(description="repository-relative paths, optionally :line")] = None,
    confidence: Annotated[str | int | float | None, Meta(description="0 to 1, or low, medium, high")] = None,
    title: Annotated[str | None, Meta(description="heading of the file, when the label is not enough")] = None,
    state: Annotated[str, Meta(description="authored, or verified when you checked it")] = "authored",
    tier: Annotated[str | None, Meta(description="medulla: doctrine for all projects")] = None,
    absolute: Annotated[bool, Meta(description="human only: wins over a repository's own doctrine")] = False,
    ingest_after: Annotated[bool, Meta(description="findable at once, not only after the next ingest")] = True,
    mode: Literal["merge"] = "merge",
    namespace: Literal["light"] = "light",
) -> dict[str, Any]:
    """Remember a belief in this project, with its evidence.

    A claim of the same label is replaced when the new version is at least as strong (state and confidence); the old one stays
    in the history. A weaker version is turned away and changes nothing.
    """
    blocks = [msgspec.to_builtins(block) for block in claims or ()]
    if claims is None and text is not None:
        blocks = [{"label": node_label, "text": text, "evidence": evidence, "confidence": confidence}]
    elif claims is not None and (text is not None or evidence is not None or confidence is not None):
        raise InvalidParams("give either claims, or text with evidence and confidence", fix="put them into the blocks of claims")
    elif claims is None and node_label.strip():
        raise InvalidParams("neither text nor claims: say what is believed", fix="give text, or claims for several blocks")
    return call.house.claims.memorize(
        call.caller,
        node_label=node_label,
        blocks=blocks,
        title=title,
        state=state,
        tier=tier,
        indexed=ingest_after,
        absolute=absolute,
    )


@operation(
    "claims",
    effect=Effect.READ,
    positional=("query",),
    raises=(BrainlessRoot, CallerRootUnknown, InvalidParams),
)
def list_(
    call: Call,
    query: Annotated[
        Annotated[str, Meta(max_length=2_000)] | None, Meta(description="words as they are typed; the last may be a beginning")
    ] = None,
    author: Annotated[str | None, Meta(description="only by this agent or person")] = None,
    state: Annotated[str | None, Meta(description="only held so: authored or verified")] = None,
    only: Annotated[
        Literal[
            "stale",
            "evidence_changed",
            "graded_wrong",
            "graded_correct",
            "graded_partial",
            "demotion_pending",
            "promoted",
            "unattributed",
        ]
        | None,
        Meta(description="only claims of which this is true; stale is by age, evidence_changed by the cited code"),
    ] = None,
    sort: Annotated[
        Literal["best", "newest", "oldest", "label", "strength"] | None,
        Meta(description="order; best with words, else newest"),
    ] = None,
    limit: Annotated[int, Meta(ge=1, le=200, description="rows at most")] = 50,
    cursor: Annotated[Annotated[str, Meta(max_length=200)] | None, Meta(description="next_cursor of the page before")] = None,
    as_of: TimeArgument = None,
    tier: Annotated[str | None, Meta(description="medulla for the shared claims")] = None,
    facets: Annotated[bool, Meta(description="also how many there are by author, state and mark")] = False,
) -> dict[str, Any]:
    """List the claims of this project in pages, by words, author, state or mark, as they are now or were at a time.

    It is a reader's list: nothing is weighed against a task and nothing is counted. For a task ask north, for a question seek.
    """
    asked = Asked(
        query=query or "",
        agent=author,
        belief=state,
        only=only,
        sort=sort,
        limit=limit,
        cursor=cursor,
        as_of=moment(as_of, "as_of"),
        facets=facets,
    )
    answer = call.house.claim_list.page(call.caller, asked, tier=tier)
    text, left = rendered_rows(answer["claims"], call.house.recall.tokens)
    more = f"{len(answer['claims'])} of {answer['total']} claims of {answer['display_name']}"
    told = {"rendered": f"{more}\n{text}" if text else more}
    return {"ok": True, "schema": "hindbrain-claims-v0", **answer, **told} | ({"left_out": left} if left else {})


@operation(
    "history",
    effect=Effect.READ,
    positional=("claim",),
    raises=(UnknownClaim, BrainlessRoot, InvalidLabel),
)
def history(
    call: Call,
    claim: Annotated[str, Meta(description="slug or label")],
    tier: Annotated[str | None, Meta(description="medulla for a shared claim")] = None,
    as_of: Annotated[TimeArgument, Meta(description="show it as it was at this time: milliseconds, seconds or ISO")] = None,
) -> dict[str, Any]:
    """Show every version of a claim, newest first: who, when, by which channel, and what ended it."""
    answer = call.house.claims.history(call.caller, claim=claim, tier=tier, as_of=moment(as_of, "as_of"))
    text, left = rendered([version_text(one) for one in answer["versions"]], call.house.recall.tokens)
    return answer | {"rendered": text} | ({"left_out": left} if left else {})


@operation(
    "claim.remove",
    effect=Effect.WRITE,
    human=True,
    positional=("claim",),
    raises=(HumanNeeded, UnknownClaim, BrainlessRoot, InvalidLabel),
)
def remove(
    call: Call,
    claim: Annotated[str, Meta(description="slug or label")],
    tier: Annotated[str | None, Meta(description="medulla for a shared claim")] = None,
) -> dict[str, Any]:
    """End a claim for everybody who shares this brain; claim.restore brings it back.

    The history keeps it, and the same text may be written again. To keep a value away use reject, to erase it forget."""
    return call.house.claim_removal.remove(call.caller, claim=claim, tier=tier)


@operation(
    "claim.restore",
    effect=Effect.WRITE,
    human=True,
    idempotent=True,
    positional=("claim",),
    raises=(HumanNeeded, UnknownClaim, BrainlessRoot, InvalidLabel, PathRefused, Rejected),
)
def restore(
    call: Call,
    claim: Annotated[str, Meta(description="slug or label")],
    tier: Annotated[str | None, Meta(description="medulla for a shared claim")] = None,
) -> dict[str, Any]:
    """Bring an ended claim back with its last text, and write its file in this checkout.

    For a live claim only the file is written: this checkout may lack it, or have an earlier version."""
    return call.house.claim_removal.restore(call.caller, claim=claim, tier=tier)
