"""What is asked of the skill library: add a skill, count a use, list, criticise. Opens the brain and words the answers."""

from typing import Any

import msgspec

from hindbrain.domain.caller import Caller
from hindbrain.domain.skill import Skill, SkillText
from hindbrain.engines.skills import admitted
from hindbrain.policy.experience import GLOBAL_ENTITY, GLOBAL_SPACE
from hindbrain.policy.skills import USES_LEAST
from hindbrain.services.missions.desk import Desk
from hindbrain.services.missions.skills import Skills

__all__ = ["SkillRoom"]


class SkillRoom:
    """The skills of whichever brain a call belongs to."""

    def __init__(self, desk: Desk, skills: Skills) -> None:
        self._desk = desk
        self._skills = skills

    def add(
        self, caller: Caller, *, rule: str, text: SkillText, mission_id: str | None, evidence: tuple[str, ...]
    ) -> dict[str, Any]:
        """Write a skill down."""
        with self._desk.opened(caller) as opened:
            self._desk.check(opened, (text.name, text.precondition, text.check, text.script, *text.steps))
            found = self._desk.log.find(opened, caller, mission_id)
            skill = self._skills.add(opened, caller, rule_id=rule, text=text, mission_id=found, evidence=evidence)
        said = f"Wrote down {skill.name}: {skill.skill_id}. It is offered after {USES_LEAST} uses whose check passed."
        return _answer("hindbrain-skill-add-v0", skill, said)

    def used(self, caller: Caller, *, skill_id: str, mission_id: str | None, event_id: str) -> dict[str, Any]:
        """Count a use."""
        with self._desk.opened(caller) as opened:
            found = self._desk.log.find(opened, caller, mission_id)
            skill = self._skills.used(opened, caller, skill_id=skill_id, mission_id=found, event_id=event_id)
        return _answer("hindbrain-skill-used-v0", skill, _line(skill))

    def listed(self, caller: Caller, *, intent: str | None) -> dict[str, Any]:
        """All skills, or those that a mission with this task would be offered."""
        with self._desk.opened(caller) as opened:
            found = self._skills.offered(opened, intent) if intent is not None else tuple(self._skills.known(opened))
        return {
            "ok": True,
            "schema": "hindbrain-skill-list-v0",
            "skills": [_told(one) for one in found],
            "rendered": "\n".join(map(_line, found)) or "there is no skill for this here",
        }

    def critique(
        self, caller: Caller, *, text: str, event_id: str, mission_id: str | None, space: str | None, entity: str | None
    ) -> dict[str, Any]:
        """Remember what was wrong, with the event that shows it."""
        with self._desk.opened(caller) as opened:
            self._desk.check(opened, (text, space, entity))
            found = self._desk.log.find(opened, caller, mission_id)
            kept = self._skills.critique(
                opened,
                caller,
                text=text,
                mission_id=found,
                event_id=event_id,
                space=space or GLOBAL_SPACE,
                entity=entity or GLOBAL_ENTITY,
            )
        return {
            "ok": True,
            "schema": "hindbrain-skill-critique-v0",
            "megram_id": kept.id,
            "category": kept.category,
            "event_id": kept.source_event_id,
            "rendered": f"Remembered as {kept.id}, grounded in {kept.source_event_id}.",
        }


def _told(skill: Skill) -> dict[str, Any]:
    return {**msgspec.to_builtins(skill), "admitted": admitted(skill)}


def _answer(schema: str, skill: Skill, said: str) -> dict[str, Any]:
    return {"ok": True, "schema": schema, "skill": _told(skill), "rendered": said}


def _line(skill: Skill) -> str:
    state = "offered" if admitted(skill) else "bankrupt" if not skill.trusted else "not offered yet"
    return f"{skill.skill_id}  {skill.name}: {skill.successes} passed, {skill.failures} failed, {state}"
