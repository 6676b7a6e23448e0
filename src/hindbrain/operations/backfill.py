"""Operations that make cards of what an import kept: knowledge backfill-plan and backfill-apply."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from hindbrain.domain.errors import (
    BrainlessRoot,
    CallerRootUnknown,
    HumanNeeded,
    HygieneRefused,
    InvalidParams,
    Rejected,
    StoreUnavailable,
)
from hindbrain.operations.exchange import AsCandidates
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call
from hindbrain.stores.port import CardFilter

__all__ = ["apply", "plan"]

Tier = Literal["dao_tian", "dao_ren", "shu", "qi"] | None
StatusArgument = Literal["candidate", "promoted", "canonical", "demoted", "retired"] | None
DomainArgument = Literal["project", "agent", "skill", "global"] | None
AnchorArgument = Literal["worktree", "repo", "global"] | None


@operation("knowledge.backfill_plan", effect=Effect.READ, raises=(BrainlessRoot, InvalidParams, StoreUnavailable))
def plan(
    call: Call,
    tier: Tier = None,
    status: StatusArgument = None,
    domain: DomainArgument = None,
    field: str | None = None,
    anchor_kind: AnchorArgument = None,
    anchor_id: str | None = None,
) -> dict[str, Any]:
    """Which knowledge rows that an import kept could become cards, and what each lacks. Changes nothing."""
    return call.house.backfill.plan(call.caller, where=_where(tier, status, domain, field, anchor_kind, anchor_id))


@operation(
    "knowledge.backfill_apply",
    effect=Effect.WRITE,
    idempotent=True,
    raises=(BrainlessRoot, CallerRootUnknown, HumanNeeded, HygieneRefused, InvalidParams, Rejected, StoreUnavailable),
)
def apply(
    call: Call,
    tier: Tier = None,
    status: StatusArgument = None,
    domain: DomainArgument = None,
    field: str | None = None,
    anchor_kind: AnchorArgument = None,
    anchor_id: str | None = None,
    execute: Annotated[bool, Meta(description="do it; without, only tell")] = False,
    as_candidates: AsCandidates = False,
) -> dict[str, Any]:
    """Make cards of the knowledge rows that an import kept. Without execute it only tells; the rows stay as they are."""
    where = _where(tier, status, domain, field, anchor_kind, anchor_id)
    return call.house.backfill.apply(call.caller, where=where, execute=execute, as_candidates=as_candidates)


def _where(
    tier: str | None, status: str | None, domain: str | None, field: str | None, anchor_kind: str | None, anchor_id: str | None
) -> CardFilter:
    return CardFilter(tier=tier, status=status, domain=domain, field=field, anchor_kind=anchor_kind, anchor_id=anchor_id)
