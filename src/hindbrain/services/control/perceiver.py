"""R1, the perceiver: brings in what a person said, unchanged in meaning, as one TaskSpec. It asks at most twice, resolves nothing
that a planner can, and keeps nothing but a question that waits for its answer."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import msgspec

from hindbrain.domain.errors import BoundaryViolation
from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.notes import ClarificationAnswer, ClarificationRequest, MegramNote, RuleNote
from hindbrain.domain.task import Clarification, Constraints, TaskSpec, TaskSpecMore
from hindbrain.engines.perceiving import (
    Exchange,
    Perception,
    chat_answer,
    faithful,
    first_sentence,
    heard_of,
    may_chat,
    perceived,
    questions_for,
    task_class,
)
from hindbrain.engines.slug import ENTITY, GLOBAL_SPACE
from hindbrain.policy.perceiving import ASKED_ROUNDS, LESSONS, MOST_QUESTIONS
from hindbrain.policy.planning import ENTRY_CUT
from hindbrain.policy.prompts import perceiving_prompt
from hindbrain.services.control.ports import Heard, Mind, Voice

__all__ = ["Lessons", "Perceived", "Perceiver", "Reading"]


class Lessons(Protocol):
    """What R1 may read: what a person said about everything, and the newest lessons. Nothing can be written through it."""

    def query_c(self, space: str, entity: str, *, by: Role) -> tuple[RuleNote, ...]: ...

    def query_recent_global(self, n: int, *, by: Role) -> tuple[MegramNote, ...]: ...


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is asked for."""

    intent: str
    scope: str | None = None
    deadline: str | None = None
    task_class: str = ""
    questions: tuple[str, ...] = ()
    answer: str | None = None
    declarative: bool = False
    language: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Perceived:
    """What became of a request: a task that was handed on, questions that wait, or an answer that needed no task."""

    spec: TaskSpec | None = None
    questions: tuple[str, ...] = ()
    answer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    """A request whose answer is awaited."""

    text: str
    task_id: str
    history: tuple[Exchange, ...]
    tags: tuple[str, ...]
    mission_id: str | None
    rounds: int = 0
    clarifications: tuple[Clarification, ...] = ()
    request_id: str = ""
    questions: tuple[str, ...] = ()


class Perceiver:
    """The reference signal of both loops."""

    hears = frozenset({MessageType.CLARIFICATION_ANSWER})

    def __init__(
        self,
        voice: Voice,
        *,
        mind: Mind | None = None,
        lessons: Lessons | None = None,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        if voice is None:
            raise BoundaryViolation("a perceiver without a voice", fix="Build the bus first, then the roles.")
        self._voice = voice
        self._mind = mind
        self._lessons = lessons
        self._new_id = new_id
        self._waiting: dict[str, _Waiting] = {}

    def perceive(
        self,
        text: str,
        *,
        task_id: str,
        history: Sequence[Exchange] = (),
        tags: tuple[str, ...] = (),
        mission_id: str | None = None,
    ) -> Perceived:
        """Take in what a person typed."""
        return self._read(_Waiting(text=text, task_id=task_id, history=heard_of(history), tags=tags, mission_id=mission_id), None)

    def hear(self, heard: Heard) -> None:
        """An answer to a question: go on with it, and without another question when it is empty."""
        answer = heard.record
        if not isinstance(answer, ClarificationAnswer):
            return
        waiting = self._waiting.get(answer.task_id)
        if waiting is None or waiting.request_id != answer.request_id:
            return
        del self._waiting[answer.task_id]
        told = tuple(
            Clarification(q=question, a=answer.answers[number] if number < len(answer.answers) else "")
            for number, question in enumerate(waiting.questions)
        )
        silent = not any(one.a.strip() for one in told)
        done = replace(waiting, clarifications=(*waiting.clarifications, *told))
        self._read(replace(done, rounds=ASKED_ROUNDS) if silent else done, heard)

    def _read(self, now: _Waiting, because: Heard | None) -> Perceived:
        reading = self._thought(now)
        if not now.clarifications and may_chat(now.text):
            answer = (reading.answer or "").strip() if reading is not None else ""
            known = answer or chat_answer(now.text)
            if known:
                return Perceived(answer=known)
        questions = questions_for(self._told(now)) if reading is None else reading.questions
        asked = tuple(one.strip() for one in questions if one.strip())[:MOST_QUESTIONS]
        if asked and now.rounds < ASKED_ROUNDS:
            return self._ask(now, asked, because)
        return Perceived(spec=self._hand_on(now, self._perception(now, reading), reading, because))

    def _told(self, now: _Waiting) -> str:
        """What there is to read: the request, and where that says nothing, the answers."""
        if not questions_for(now.text):
            return now.text
        return next((one.a for one in reversed(now.clarifications) if one.a.strip()), now.text)

    def _perception(self, now: _Waiting, reading: Reading | None) -> Perception:
        by_rules = perceived(self._told(now), now.history)
        if reading is None:
            return by_rules
        known = (now.text, *(one.said for one in now.history), *(one.a for one in now.clarifications))
        intent = first_sentence(reading.intent)
        kept = intent if intent and faithful(intent, known) else by_rules.intent
        limits = by_rules.constraints
        scope = reading.scope if reading.scope and faithful(reading.scope, known) else limits.scope
        return Perception(
            intent=kept,
            constraints=Constraints(scope=scope, deadline=limits.deadline),
            task_class=task_class(reading.task_class.replace("_", " ")) if reading.task_class else by_rules.task_class,
            declarative=reading.declarative or by_rules.declarative,
        )

    def _thought(self, now: _Waiting) -> Reading | None:
        if self._mind is None:
            return None
        system, user = perceiving_prompt(
            now.text,
            history=[(one.said, one.result) for one in now.history],
            clarifications=[(one.q, one.a) for one in now.clarifications],
            lessons=self._known(),
        )
        thought = self._mind.think(Role.PERCEIVER, task_id=now.task_id, system=system, user=user, schema=Reading, max_tokens=800)
        return thought.data if thought is not None else None

    def _known(self) -> list[str]:
        if self._lessons is None:
            return []
        rules = self._lessons.query_c(GLOBAL_SPACE, ENTITY, by=Role.PERCEIVER)
        newest = self._lessons.query_recent_global(LESSONS, by=Role.PERCEIVER)
        known = [*(one.content for one in rules), *(one.content for one in newest)]
        return [one[:ENTRY_CUT] for one in known][: 2 * LESSONS]

    def _ask(self, now: _Waiting, questions: tuple[str, ...], because: Heard | None) -> Perceived:
        request_id = self._new_id()
        self._waiting[now.task_id] = replace(now, rounds=now.rounds + 1, request_id=request_id, questions=questions)
        self._voice.say(
            Role.USER,
            ClarificationRequest(task_id=now.task_id, request_id=request_id, questions=questions),
            task_id=now.task_id,
            because=because,
        )
        return Perceived(questions=questions)

    def _hand_on(self, now: _Waiting, perception: Perception, reading: Reading | None, because: Heard | None) -> TaskSpec:
        spec = TaskSpec(
            task_id=now.task_id,
            intent=perception.intent,
            raw_input=now.text,
            constraints=perception.constraints,
            x=TaskSpecMore(
                task_class=perception.task_class,
                clarifications=now.clarifications,
                tags=now.tags,
                declarative=perception.declarative,
                mission_id=now.mission_id,
                language=reading.language if reading is not None else None,
            ),
        )
        self._voice.say(Role.PLANNER, spec, task_id=now.task_id, because=because)
        return spec
