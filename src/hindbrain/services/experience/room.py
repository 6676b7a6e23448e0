"""The room of experience: opens a brain's experience and Dreamer, and does what a person may do to them. Human acts, but for
dreaming."""

import threading
from collections.abc import Callable
from typing import Any

from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import HumanNeeded, InvalidParams, Rejected, UnknownMegram
from hindbrain.domain.experience import Effective, Level, Megram, MegramId, Writer
from hindbrain.domain.ledger import Act
from hindbrain.policy.experience import BANKRUPTCY, CATEGORIES, DECLARED, GLOBAL_ENTITY, GLOBAL_SPACE, Rules
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.control.ports import Mind
from hindbrain.services.control.workspaces import Workspaces
from hindbrain.services.evidence_guard import traces_of
from hindbrain.services.experience.cycle import Dreamt
from hindbrain.services.experience.drafts import Draft, made
from hindbrain.services.experience.dreamer import Dreamer
from hindbrain.services.experience.erasing import over
from hindbrain.services.experience.experience import Experience, feedback
from hindbrain.services.experience.ports import Deposits, Direct
from hindbrain.services.gateway import Gateway
from hindbrain.services.routing import Router
from hindbrain.settings import Settings
from hindbrain.stores.port import BrainStore, MegramFilter

__all__ = ["ExperienceRoom", "chosen", "rules_of"]

_PREFIX_LEAST = 4
_LIKE_MOST = 1_000
_LAW = "law"


def rules_of(settings: Settings) -> Rules:
    """What this machine's settings choose."""
    named = {"none": frozenset[str](), "all": frozenset(CATEGORIES)}
    chosen = settings.text("experience_categories")
    return Rules(
        categories=named.get(chosen, Rules().categories),
        two_stage=settings.flag("experience_two_stage"),
        keep_days=settings.number("experience_keep_days"),
    )


class ExperienceRoom:
    """The experience of whichever brain a call belongs to. One Dreamer for each brain that is open here."""

    def __init__(
        self,
        brains: Brains,
        router: Router,
        gateway: Gateway,
        clock: Callable[[], int],
        rules: Rules,
    ) -> None:
        self._brains = brains
        self._router = router
        self._gateway = gateway
        self._clock = clock
        self._rules = rules
        self._dreamers: dict[str, Dreamer] = {}
        self._lock = threading.Lock()
        self.mind: Callable[[OpenBrain], Mind | None] = lambda _: None  # a model for wording rules, where one is set

    # -- opening -----------------------------------------------------------------------------------------------------

    def of(self, opened: OpenBrain, deposits: Deposits | None = None) -> Experience:
        """The experience of an open brain; without a queue it writes where it stands. Its writes are told to the Dreamer."""
        queue = deposits or Direct(opened.store)
        made_ = Experience(opened.store, queue, clock=self._clock, salt=self._gateway.salt(opened))
        if deposits is not None:
            made_.dreams = self.dreamer(opened)
        return made_

    def dreamer(self, opened: OpenBrain) -> Dreamer:
        """The one Dreamer of an open brain in this process."""
        with self._lock:
            if (found := self._dreamers.get(opened.brain.name)) is None:
                writing = Experience(opened.store, Direct(opened.store), clock=self._clock, salt=self._gateway.salt(opened))
                found = Dreamer(
                    opened.store, writing.deposit, clock=self._clock, rules=self._rules, mind=lambda: self.mind(opened)
                )
                self._dreamers[opened.brain.name] = found
            return found

    def woke(self, opened: OpenBrain) -> None:
        """A brain was opened in a process that stays: where there is experience, it is dreamt over by the timer."""
        if next(opened.store.effective(MegramFilter(levels=("M", "K", "C")), limit=1), None) is not None:
            self.dreamer(opened).watch()

    def rest(self, opened: OpenBrain) -> None:
        """A brain is about to be closed: dream once more, bounded, if it dreamt here at all."""
        with self._lock:
            found = self._dreamers.pop(opened.brain.name, None)
        if found is not None:
            found.close()

    # -- what a person does ------------------------------------------------------------------------------------------

    def remember(
        self, caller: Caller, *, text: str, level: str, space: str, entity: str, tags: tuple[str, ...]
    ) -> dict[str, Any]:
        """Keep what a person states."""
        brain = self._router.write_route(caller)
        self._check(text, space, entity, *tags)
        fades = Level(level) in (Level.M, Level.K)
        draft = Draft(
            space=space or GLOBAL_SPACE,
            entity=entity or GLOBAL_ENTITY,
            content=text,
            state="persona" if level == Level.T else "declared",
            level=Level(level),
            f=DECLARED.f,
            sigma=DECLARED.sigma,
            k=BANKRUPTCY if fades else DECLARED.k,
            tags=tags,
        )
        with self._brains.use(brain) as opened:
            self._gateway.check_hygiene(opened, [text, space, entity, *tags], site="remember")
            self._check_rejected(opened, text, space, entity, *tags)
            megram = self._put(caller, opened, draft)
        return {
            "ok": True,
            "schema": "hindbrain-experience-remember-v0",
            "megram_id": megram.id,
            "level": megram.level.value,
            "space": megram.space,
            "entity": megram.entity,
            "brain": brain.name,
            "rendered": f"Remembered at level {megram.level.value} in {brain.display_name}: {megram.id}.",
        }

    def feedback(self, caller: Caller, *, rule: str, content: str) -> dict[str, Any]:
        """Speak against a rule: an opposite megram is appended, the rule stays, and its trust is looked at."""
        brain = self._router.write_route(caller)
        self._check(content)
        with self._brains.use(brain) as opened:
            self._gateway.check_hygiene(opened, [content], site="feedback")
            held = chosen(opened.store, rule)
            if not held.megram.sigma:
                raise InvalidParams(f"{held.megram.id} points nowhere: there is nothing to speak against", fix="choose a rule")
            megram = self._put(caller, opened, feedback(held, content))
            now = opened.store.megrams([held.megram.id])[held.megram.id]
        lost = now.level is not held.level
        return {
            "ok": True,
            "schema": "hindbrain-experience-feedback-v0",
            "megram_id": megram.id,
            "rule_id": held.megram.id,
            "sigma": megram.sigma,
            "rule_level": now.level.value,
            "demoted": lost,
            "rendered": f"Noted against {held.megram.id}"
            + ("; it has lost its trust and fades now." if lost else "; it still stands."),
        }

    def _put(self, caller: Caller, opened: OpenBrain, draft: Draft) -> Megram:
        megram = made(draft, Writer.OPERATOR, now=self._clock())
        experience = self.of(opened)
        if experience.buried(megram):
            raise Rejected(
                f"this value was rejected or forgotten in {opened.brain.display_name}",
                fix="state what holds instead; a person can lift the rejection in a terminal",
            )
        with opened.store.writing() as writer:
            experience.deposit(writer, megram, actor=caller.agent)
        self.dreamer(opened).check(megram.pair)
        return megram

    def forget(
        self, caller: Caller, *, id_prefix: str | None, everything: bool, confirm: str | None, reason: str
    ) -> dict[str, Any]:
        """Delete experience for good: rows, tags, recall, and the texts of the finished tasks it came from. The laws stay."""
        brain = self._router.write_route(caller)
        self._check(reason)
        with self._brains.use(brain) as opened:
            self._gateway.check_hygiene(opened, [reason], site="forget")
            ids = self._everything(opened, brain, confirm) if everything else self._like(opened.store, id_prefix or "")
            tasks = {one.megram.task_id for one in opened.store.megrams(ids).values() if one.megram.task_id}
            erased = [task for task in tasks if over(opened, task)]
            with opened.store.writing() as writer:
                writer.append(_act("megram.forget", caller, len(ids), self._clock()))
                gone = writer.forget_megrams(ids, at=self._clock())
                texts = writer.erase_messages(erased) if erased else 0
                writer.erase_model_texts(erased)
            Workspaces().removed(opened, erased)
        return {
            "ok": True,
            "schema": "hindbrain-experience-forget-v0",
            "forgotten": gone,
            "megram_ids": list(ids[:100]),
            "messages_erased": texts,
            "brain": brain.name,
            "rendered": f"Forgot {gone} experience(s) in {brain.display_name}"
            + (f", and the texts of {len(erased)} finished task(s) they came from." if erased else "."),
        }

    @staticmethod
    def _everything(opened: OpenBrain, brain: Brain, confirm: str | None) -> list[MegramId]:
        if confirm != brain.display_name:
            raise HumanNeeded(
                f"forgetting all experience of {brain.display_name} cannot be undone",
                fix="a person types the name of the brain as confirm",
            )
        return [one.megram.id for one in opened.store.effective(MegramFilter(settled=True)) if one.megram.state != _LAW]

    @staticmethod
    def _like(store: BrainStore, prefix: str) -> list[MegramId]:
        found = _found(store, prefix, _LIKE_MOST)
        held = store.megrams(found)
        if any(one.megram.state == _LAW for one in held.values()):
            raise InvalidParams("a law is not forgotten", fix="name an experience")
        return list(found)

    def dream(self, caller: Caller, *, dry_run: bool) -> tuple[Brain, Dreamt]:
        """A cycle now, or what it would do."""
        brain = self._router.write_route(caller)
        with self._brains.use(brain) as opened:
            return brain, self.dreamer(opened).cycle(dry_run=dry_run)

    def _check_rejected(self, opened: OpenBrain, *texts: str) -> None:
        salt = self._gateway.salt(opened)
        marks = dict.fromkeys(mark for text in texts for mark, _, _ in traces_of(text, salt))
        if opened.store.tombstones(list(marks)):
            raise Rejected("this value was rejected or forgotten here", fix="state what holds instead")

    def _check(self, *texts: str) -> None:
        for text in texts:
            self._gateway.check_text(text)


def _found(store: BrainStore, prefix: str, most: int) -> tuple[MegramId, ...]:
    if len(prefix) < _PREFIX_LEAST:
        raise InvalidParams(f"an id begins with at least {_PREFIX_LEAST} characters", fix="give more of the id")
    found = store.megrams_like(prefix, limit=most)
    if not found:
        raise UnknownMegram(f"no experience begins with {prefix[:80]!r}", fix="hindbrain experience summary shows what there is")
    return found


def chosen(store: BrainStore, prefix: str) -> Effective:
    """The one megram whose id begins so."""
    found = _found(store, prefix, 2)
    if len(found) > 1 and prefix != found[0]:
        raise InvalidParams(f"several experiences begin with {prefix[:80]!r}", fix="give more of the id")
    return store.megrams(found[:1])[found[0]]


def _act(act: str, caller: Caller, count: int, now: int) -> Act:
    return Act(act=act, subject="experience", actor=caller.agent, channel=caller.channel, at=now, payload={"megrams": count})
