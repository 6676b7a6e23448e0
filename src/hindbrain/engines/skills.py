"""Skills: how one is written, which are admitted, and which fit what is asked for. Pure."""

from collections.abc import Iterable, Sequence

import msgspec

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.mission import EventType, MissionEvent, Outcome
from hindbrain.domain.skill import Skill, SkillText
from hindbrain.domain.typed import decoded
from hindbrain.engines.text import query_terms
from hindbrain.policy.skills import OFFERED_MOST, TEXT_MOST, USES_LEAST

__all__ = ["admitted", "checked", "offered", "read_skill", "skill_content", "use_of"]

_CHECKS = frozenset({EventType.TEST_RUN, EventType.COMMAND, EventType.COMPILE, EventType.LINT, EventType.RUNTIME_PROBE})


def checked(text: SkillText) -> SkillText:
    """A skill that can be carried out and checked; refuses one that cannot."""
    for name, value in (("name", text.name), ("precondition", text.precondition), ("check", text.check)):
        if not value.strip() or len(value) > TEXT_MOST:
            raise InvalidParams(f"the {name} of a skill has 1 to {TEXT_MOST} characters", fix=f"give another {name}")
    if not any(step.strip() for step in text.steps) and not (text.script or "").strip():
        raise InvalidParams("a skill needs steps or a script", fix="say what is to be done, step by step")
    if any(len(step) > TEXT_MOST for step in (*text.steps, text.script or "")):
        raise InvalidParams(f"a step has {TEXT_MOST} characters at most", fix="split it")
    return text


def skill_content(text: SkillText) -> str:
    """A skill as the content of a megram."""
    return msgspec.json.encode(text).decode()


def read_skill(content: str) -> SkillText | None:
    """The skill in the content of a megram; None when the text is none."""
    try:
        return decoded(content, SkillText)
    except msgspec.DecodeError:
        return None


def use_of(event: MissionEvent, check: str) -> bool:
    """Whether a use succeeded, by the event in which the runtime itself ran its check."""
    told = event.payload.get("command") or event.target or ""
    command = " ".join(map(str, told)) if isinstance(told, list | tuple) else str(told)
    if event.source != "runtime" or event.event_type not in _CHECKS:
        raise InvalidParams(
            f"{event.event_id} is no run that was seen here", fix="run the skill's check with: hindbrain mission run -- CHECK"
        )
    if command.split() != check.split():
        raise InvalidParams(f"{event.event_id} ran something else than the check of the skill", fix=f"run exactly: {check}")
    if event.outcome not in (Outcome.PASSED, Outcome.FAILED):
        raise InvalidParams(f"{event.event_id} says neither passed nor failed", fix="run the check to its end")
    return event.outcome is Outcome.PASSED


def admitted(skill: Skill) -> bool:
    """Whether a skill may be offered at all."""
    return skill.trusted and skill.successes >= USES_LEAST and skill.check_passed


def offered(skills: Iterable[Skill], intent: str) -> tuple[Skill, ...]:
    """The skills that fit an intent, best first: how many of its words they share, then what experience thinks of them."""
    wanted = set(query_terms(intent))
    fitting = [msgspec.structs.replace(one, match=_match(one, wanted)) for one in skills if admitted(one)]
    found = sorted((one for one in fitting if one.match > 0), key=_rank)
    return tuple(found[:OFFERED_MOST])


def _match(skill: Skill, wanted: set[str]) -> float:
    said: Sequence[str] = query_terms(f"{skill.name} {skill.precondition} {skill.entity}")
    return round(len(wanted & set(said)) / len(wanted), 9) if wanted else 0.0


def _rank(skill: Skill) -> tuple[float, float, str]:
    return (-skill.match, -round(skill.potential, 9), skill.skill_id)
