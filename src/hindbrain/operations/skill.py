"""Operations on skills: add, used, list, critique."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.errors import (
    BrainlessRoot,
    CallerRootUnknown,
    ClaimTooLarge,
    HygieneRefused,
    InvalidParams,
    Rejected,
    UnknownMegram,
    UnknownMission,
)
from hindbrain.domain.skill import SkillText
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call

__all__ = ["add", "critique", "listed", "used"]

_READ = (BrainlessRoot, CallerRootUnknown, InvalidParams)
_WRITE = (*_READ, ClaimTooLarge, HygieneRefused, Rejected, UnknownMegram, UnknownMission)
Text = Annotated[str, Meta(min_length=1, max_length=2_000)]
Word = Annotated[str, Meta(min_length=1, max_length=200)]
MissionId = Annotated[str | None, Meta(description="id of the mission (msn_…); without it, your one active mission here")]


@operation("skill.add", effect=Effect.WRITE, positional=("rule", "name"), raises=_WRITE)
def add(
    call: Call,
    rule: Annotated[str, Meta(max_length=80, description="the rule of experience it carries out: id, or how it begins")],
    name: Annotated[Text, Meta(description="what it is called")],
    precondition: Annotated[Text, Meta(description="when it applies")],
    check: Annotated[Text, Meta(description="command whose success shows that it worked")],
    evidence: Annotated[list[str], Meta(min_length=1, max_length=50, description="events of the mission that show it: evt_…")],
    steps: Annotated[list[Text] | None, Meta(description="what to do, in order")] = None,
    script: Annotated[Text | None, Meta(description="a script instead of steps, or beside them")] = None,
    mission_id: MissionId = None,
) -> dict[str, Any]:
    """Write down a procedure beside the rule it carries out. It is offered to missions after three uses whose check passed."""
    text = SkillText(name=name, precondition=precondition, steps=tuple(steps or ()), check=check, script=script)
    return call.house.skills.add(call.caller, rule=rule, text=text, mission_id=mission_id, evidence=tuple(evidence))


@operation("skill.used", effect=Effect.WRITE, idempotent=True, positional=("skill_id", "event_id"), raises=_WRITE)
def used(
    call: Call,
    skill_id: Annotated[str, Meta(max_length=80, description="as mission start or skill list gave it")],
    event_id: Annotated[str, Meta(max_length=80, description="the event in which its check ran: hindbrain mission run -- CHECK")],
    mission_id: MissionId = None,
) -> dict[str, Any]:
    """Count a use of a skill, by the event in which the runtime itself ran its check."""
    return call.house.skills.used(call.caller, skill_id=skill_id, mission_id=mission_id, event_id=event_id)


@operation("skill.list", effect=Effect.READ, positional=("intent",), raises=_READ)
def listed(
    call: Call,
    intent: Annotated[Text | None, Meta(description="only what a mission with this task is offered")] = None,
) -> dict[str, Any]:
    """List the skills of this project with their uses, or those that fit a task."""
    return call.house.skills.listed(call.caller, intent=intent)


@operation("skill.critique", effect=Effect.WRITE, positional=("text", "event_id"), raises=_WRITE)
def critique(
    call: Call,
    text: Annotated[Text, Meta(description="what was wrong, in a sentence")],
    event_id: Annotated[str, Meta(max_length=80, description="the event of the mission that shows it: evt_…")],
    space: Annotated[Word | None, Meta(description="kind of act, such as tool:seek")] = None,
    entity: Annotated[Word | None, Meta(description="what it was done to, such as path:src")] = None,
    mission_id: MissionId = None,
) -> dict[str, Any]:
    """Remember what was wrong, as a constraint of experience. Kept only with the event that grounds it."""
    return call.house.skills.critique(
        call.caller, text=text, event_id=event_id, mission_id=mission_id, space=space, entity=entity
    )
