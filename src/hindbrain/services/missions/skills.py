"""The skill library of a brain: skills and critiques, both kept as experience, so that they fade, lose their trust and are
forgotten by the same rules."""

import uuid
from collections.abc import Callable, Iterator

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import InvalidParams, UnknownMegram
from hindbrain.domain.experience import Effective, Level, Megram, MegramId, Writer
from hindbrain.domain.mission import MissionEvent
from hindbrain.domain.skill import Skill, SkillText
from hindbrain.engines.hygiene import redacted
from hindbrain.engines.skills import checked, offered, read_skill, skill_content, use_of
from hindbrain.policy.skills import CRITIQUE, CRITIQUE_STATE, DEFINED, FAILED, SKILL_STATE, SKILL_TAG, USED
from hindbrain.services.brains import OpenBrain
from hindbrain.services.experience.drafts import Draft, made
from hindbrain.services.experience.room import ExperienceRoom, chosen
from hindbrain.services.gateway import Gateway
from hindbrain.services.missions.log import MissionLog
from hindbrain.stores.port import MegramFilter

__all__ = ["Skills"]

_SPACE = "skill:"
_MOST = 400  # skills of a brain that are looked at
_EVIDENCE_MOST = 10


class Skills:
    """Adds skills, counts their uses, offers those that have proven themselves."""

    def __init__(self, room: ExperienceRoom, log: MissionLog, gateway: Gateway, clock: Callable[[], int]) -> None:
        self._room = room
        self._log = log
        self._gateway = gateway
        self._clock = clock

    def add(
        self, opened: OpenBrain, caller: Caller, *, rule_id: str, text: SkillText, mission_id: str, evidence: tuple[str, ...]
    ) -> Skill:
        """Write a skill down beside its rule. It is offered once it has been used often enough."""
        texts = (text.name, text.precondition, text.check, text.script or "", *text.steps)
        for one in texts:
            self._gateway.check_text(one)
        self._gateway.check_hygiene(opened, texts, site="skill")
        checked(text)
        rule = chosen(opened.store, rule_id)
        if rule.level is not Level.C or not rule.live or rule.megram.sigma <= 0:
            raise InvalidParams(
                f"{rule.megram.id} is no rule that says what to do", fix="name a rule of level C: hindbrain experience summary"
            )
        grounds = self._events(opened, mission_id, evidence)
        draft = Draft(
            space=_SPACE + rule.megram.space,
            entity=rule.megram.entity,
            content=skill_content(text),
            state=SKILL_STATE,
            level=Level.C,
            f=DEFINED.f,
            sigma=DEFINED.sigma,
            k=DEFINED.k,
            mission_id=mission_id,
            source_event_id=grounds[0].event_id,
            category="procedure",
            tags=(SKILL_TAG,),
            derived_from=(rule.megram.id,),
        )
        megram = self._put(opened, caller, draft)
        return self._of(opened, opened.store.megrams([megram.id])[megram.id])

    def used(self, opened: OpenBrain, caller: Caller, *, skill_id: str, mission_id: str, event_id: str) -> Skill:
        """Count one use by the event in which its check was run. The same event counts once."""
        held = self._held(opened, skill_id)
        text = read_skill(held.megram.content)
        if text is None:
            raise UnknownMegram(f"{skill_id[:64]!r} is no skill any more", fix="write it down again")
        (event,) = self._events(opened, mission_id, (event_id,))
        passed = use_of(event, text.check)
        draft = Draft(
            id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"hindbrain:skill:{held.megram.id}:{event.event_id}")),
            space=held.megram.space,
            entity=held.megram.entity,
            content=f"Used with {'success' if passed else 'failure'}: {text.name}",
            state=USED if passed else FAILED,
            mission_id=mission_id,
            source_event_id=event.event_id,
            category="procedure",
            derived_from=(held.megram.id,),
        )
        self._put(opened, caller, draft)
        self._room.dreamer(opened).check(held.megram.pair)
        return self._of(opened, opened.store.megrams([held.megram.id])[held.megram.id])

    def offered(self, opened: OpenBrain, intent: str) -> tuple[Skill, ...]:
        """What a mission is offered: at most a few, each proven, the best first."""
        return offered(self.known(opened), intent)

    def known(self, opened: OpenBrain) -> Iterator[Skill]:
        """Every skill of a brain as it stands, admitted or not."""
        for one in opened.store.megrams_tagged((SKILL_TAG,), limit=_MOST):
            if one.megram.state == SKILL_STATE and read_skill(one.megram.content) is not None:
                yield self._of(opened, one)

    def critique(
        self, opened: OpenBrain, caller: Caller, *, text: str, mission_id: str, event_id: str, space: str, entity: str
    ) -> Megram:
        """Remember what was wrong, with the event that shows it. Without one nothing is kept."""
        self._gateway.check_text(text)
        self._gateway.check_hygiene(opened, [text, space, entity], site="critique")
        (event,) = self._events(opened, mission_id, (event_id,))
        draft = Draft(
            space=space,
            entity=entity,
            content=text,
            state=CRITIQUE_STATE,
            f=CRITIQUE.f,
            sigma=CRITIQUE.sigma,
            k=CRITIQUE.k,
            mission_id=mission_id,
            source_event_id=event.event_id,
            category="constraint",
        )
        megram = self._put(opened, caller, draft)
        self._room.dreamer(opened).check(megram.pair)
        return megram

    # -- within ------------------------------------------------------------------------------------------------------

    def _events(self, opened: OpenBrain, mission_id: str, ids: tuple[str, ...]) -> tuple[MissionEvent, ...]:
        asked = tuple(dict.fromkeys(one for one in ids if one.strip()))
        found = self._log.named(opened, mission_id, asked) if asked else {}
        unknown = [one for one in asked if one not in found]
        if not asked or unknown:
            said = f"{unknown[0][:64]!r} is no event of {mission_id[:64]}" if unknown else "nothing grounds it: no event is named"
            raise InvalidParams(said, fix="name an event of the mission, as mission event answered it: evt_…")
        return tuple(found[one] for one in asked)

    def _put(self, opened: OpenBrain, caller: Caller, draft: Draft) -> Megram:
        megram = made(draft, Writer.SOLVER, now=self._clock(), clean=redacted)
        experience = self._room.of(opened)
        with opened.store.writing() as writer:
            experience.deposit(writer, megram, actor=caller.agent)
        return megram

    @staticmethod
    def _held(opened: OpenBrain, skill_id: str) -> Effective:
        found = opened.store.megrams([MegramId(skill_id)]).get(MegramId(skill_id))
        if found is None or found.megram.state != SKILL_STATE:
            raise UnknownMegram(f"there is no skill {skill_id[:64]!r} here", fix="see what mission start offers")
        return found

    def _of(self, opened: OpenBrain, one: Effective) -> Skill:
        """A skill with what its uses say. Uses that the Dreamer has put together count by the rule it made of them."""
        megram = one.megram
        text = read_skill(megram.content) or SkillText(name="", precondition="", steps=(), check="")
        around = list(opened.store.effective(MegramFilter(pair=megram.pair, settled=True)))
        uses = [each.megram for each in around if megram.id in each.megram.derived_from and each.megram.state in (USED, FAILED)]
        present = {use.id for use in uses}
        gone = {
            source
            for each in around
            if each.megram.writer is Writer.DREAMER and each.level is Level.C and each.megram.sigma > 0
            for source in each.megram.derived_from
            if source not in present
        }
        rules = opened.store.megrams(list(megram.derived_from))
        rule = rules.get(megram.derived_from[0]) if megram.derived_from else None
        sums = opened.store.potentials(megram.pair, at=self._clock())
        newest = max(uses, key=lambda use: (use.created_at, use.id), default=None)
        grounds = [use.source_event_id for use in sorted(uses, key=lambda use: -use.created_at)] + [megram.source_event_id]
        return Skill(
            skill_id=megram.id,
            rule_id=megram.derived_from[0] if megram.derived_from else "",
            rule=rule.megram.content if rule is not None else "",
            space=megram.space.removeprefix(_SPACE),
            entity=megram.entity,
            name=text.name,
            precondition=text.precondition,
            steps=text.steps,
            check=text.check,
            script=text.script,
            evidence=tuple(dict.fromkeys(event for event in grounds if event))[:_EVIDENCE_MOST],
            successes=sum(use.state == USED for use in uses) + len(gone),
            failures=sum(use.state == FAILED for use in uses),
            check_passed=newest.state == USED if newest is not None else bool(gone),
            trusted=_stands(one) and rule is not None and _stands(rule),
            potential=round(sums.decision, 9),
        )


def _stands(one: Effective) -> bool:
    """A rule that went bankrupt fades at level K; one that a newer rule of the same sign replaced still holds."""
    return one.level is Level.C
