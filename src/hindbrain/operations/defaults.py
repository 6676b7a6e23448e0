"""Operations on defaults: show, propose, set and take back."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.errors import BrainlessRoot, CallerRootUnknown, HumanNeeded, HygieneRefused, InvalidParams, StoreUnavailable
from hindbrain.operations.adoption import FailOnBlock, told_by
from hindbrain.operations.memory import TimeArgument, moment
from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.adoption import CANDIDATES
from hindbrain.services.call import Call

__all__ = ["propose", "rollback", "set_", "show"]

Candidate = Annotated[str, Meta(description=f"which default: {' or '.join(CANDIDATES)}")]
Criteria = Annotated[list[str] | None, Meta(description="how it will be noticed that the default does harm")]
Since = Annotated[TimeArgument, Meta(description="count outcomes from this time on only, after a fault was fixed")]


@operation("defaults.show", effect=Effect.READ)
def show(call: Call) -> dict[str, Any]:
    """Show whether contexts of this project include opt-in cards by themselves, and on what that rests."""
    return call.house.defaults.show(call.caller)


@operation("defaults.propose", effect=Effect.READ, positional=("candidate",), raises=(InvalidParams,))
def propose(
    call: Call,
    candidate: Candidate,
    rollback_criteria: Criteria = None,
    since: Since = None,
    fail_on_block: FailOnBlock = False,
) -> dict[str, Any]:
    """Propose a default: what speaks for it, and by what it would be taken back. Changes nothing."""
    answer = call.house.defaults.propose(
        call.caller, candidate=candidate, criteria=rollback_criteria or (), since=moment(since, "since")
    )
    return told_by(answer, blocked=not answer["proposal_ready"], fail_on_block=fail_on_block)


@operation(
    "defaults.set",
    effect=Effect.WRITE,
    human=True,
    positional=("candidate",),
    left_out={"mcp": "a default changes what every agent here is shown; a person sets it, defaults.propose prepares it"},
    raises=(BrainlessRoot, CallerRootUnknown, HumanNeeded, HygieneRefused, InvalidParams, StoreUnavailable),
)
def set_(
    call: Call,
    candidate: Candidate,
    enable: Annotated[bool, Meta(description="switch it on; needs a ready proposal, so its criteria")] = False,
    disable: Annotated[bool, Meta(description="switch it off; always possible")] = False,
    rollback_criteria: Criteria = None,
    since: Since = None,
    fail_on_block: FailOnBlock = False,
) -> dict[str, Any]:
    """Switch a default of this project on or off. Switching it on needs enough outcomes and a criterion in the same call."""
    answer = call.house.defaults.set(
        call.caller,
        candidate=candidate,
        enable=enable,
        disable=disable,
        criteria=rollback_criteria or (),
        since=moment(since, "since"),
    )
    refused = answer["include_cards_default"] is not enable
    return told_by(answer, blocked=refused, fail_on_block=fail_on_block)


@operation(
    "defaults.rollback",
    effect=Effect.WRITE,
    positional=("candidate",),
    raises=(BrainlessRoot, CallerRootUnknown, HumanNeeded, InvalidParams, StoreUnavailable),
)
def rollback(
    call: Call,
    candidate: Candidate,
    execute: Annotated[bool, Meta(description="take it back, if outcomes ask for it; a human act")] = False,
) -> dict[str, Any]:
    """Tell whether outcomes ask for a default to be taken back; with execute a person takes it back."""
    return call.house.defaults.rollback(call.caller, candidate=candidate, execute=execute)
