"""Erasing: a value that was rejected or forgotten leaves experience too, with the texts and workspaces of tasks that said it."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import msgspec

from hindbrain.domain.caller import Caller
from hindbrain.domain.experience import MegramId
from hindbrain.domain.ledger import Act
from hindbrain.domain.message import MessageType
from hindbrain.engines.text import folds
from hindbrain.services.brains import OpenBrain
from hindbrain.services.control.workspaces import Workspaces
from hindbrain.services.evidence_guard import traces_of
from hindbrain.services.gateway import STANDS_ALONE, Gateway
from hindbrain.stores.port import BrainStore, MegramFilter

__all__ = ["ExperienceErasure", "Value", "over"]

_WORD = re.compile(r"[^\W_]{3,}")


class ExperienceErasure:
    """What `forget` and `reject` do to experience."""

    name = "experience"

    def __init__(self, gateway: Gateway, clock: Callable[[], int]) -> None:
        self._gateway = gateway
        self._clock = clock

    def forget_value(self, caller: Caller, opened: OpenBrain, value: "Value") -> int:
        """The megrams that hold a forgotten value, and the texts and workspaces of tasks that said it."""
        return self.withdraw(caller, opened, value.texts, value.marks)

    def withdraw(self, caller: Caller, opened: OpenBrain, texts: Iterable[str], prints: Collection[str]) -> int:
        """Delete the megrams that hold a value, and the texts of the tasks that said it. How many megrams there were."""
        value = Value(texts, prints, self._gateway.salt(opened))
        if not value.hints:
            return 0
        hit = [one.megram for one in opened.store.effective(MegramFilter(settled=True)) if value.held_by(one.megram.content)]
        said = {one.task_id for one in hit if one.task_id} | set(_telling(opened.store, value))
        tasks = [task for task in sorted(said) if over(opened, task)]
        if not hit and not tasks:
            return 0
        ids = [MegramId(one.id) for one in hit]
        with opened.store.writing() as writer:
            writer.append(
                Act(
                    act="megram.forget",
                    subject="experience",
                    actor=caller.agent,
                    channel=caller.channel,
                    at=self._clock(),
                    payload={"megrams": len(ids)},
                )
            )
            gone = writer.forget_megrams(ids, at=self._clock())
            if tasks:
                writer.erase_messages(tasks)
                writer.erase_model_texts(tasks)
        Workspaces().removed(opened, tasks)
        return gone


class Value:
    """What is to be gone. A text holds it as a sentence or line of its own, or word for word inside of another."""

    def __init__(self, texts: Iterable[str], prints: Collection[str], salt: str) -> None:
        self.texts = tuple(texts)
        self.marks, self.salt = frozenset(prints), salt
        self.hints = [hint for text in self.texts if (hint := _hint(text))]
        self.folded = [form for text in self.texts for form in folds(text) if len(form) >= STANDS_ALONE]

    def hinted_in(self, text: str) -> bool:
        if not text.isascii():  # the same word may be written in other letters
            return True
        folded = text.casefold()
        return any(hint in folded for hint in self.hints)

    def held_in(self, json: str) -> bool:
        """Whether a text of a JSON value holds it."""
        return self.hinted_in(json) and any(map(self.held_by, _strings(_body(json))))

    def held_by(self, text: str) -> bool:
        if not self.hinted_in(text):
            return False
        forms = folds(text)
        if any(value in form for value in self.folded for form in forms):
            return True
        return any(mark in self.marks for mark, _, _ in traces_of(text, self.salt))


def _telling(store: BrainStore, value: Value) -> Iterator[str]:
    """The tasks in whose messages a value stands: in a goal, in what memory answered, in what a tool gave."""
    after = 0
    while page := store.messages(after=after):
        after = page[-1].seq
        for one in page:
            if one.task_id and value.held_in(one.body):
                yield one.task_id


def _body(text: str) -> Any:
    """What a message holds; a row that somebody else put there is looked at as it is."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def over(opened: OpenBrain, task_id: str) -> bool:
    """Whether nobody works on a task any more: it said its last word, or was killed. What still runs keeps its messages."""
    return _ended(opened.store, task_id) or not Workspaces().alive(opened, task_id)


def _ended(store: BrainStore, task_id: str) -> bool:
    """Whether a task said its last word."""
    after = 0
    while page := store.messages(after=after, task_id=task_id):
        if any(one.type == MessageType.FINAL_RESULT.value for one in page):
            return True
        after = page[-1].seq
    return False


def _hint(text: str) -> str:
    """The longest word of a value: a text without it does not hold the value, and is not looked at closer."""
    return max(_WORD.findall(text.casefold()), key=len, default="")
