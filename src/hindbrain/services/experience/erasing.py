"""Erasing: a value that was rejected or forgotten leaves experience too, and the texts of the finished tasks that said it."""

import re
from collections.abc import Callable, Collection, Iterable

from hindbrain.domain.caller import Caller
from hindbrain.domain.experience import MegramId
from hindbrain.domain.ledger import Act
from hindbrain.domain.message import MessageType
from hindbrain.services.brains import OpenBrain
from hindbrain.services.evidence_guard import traces_of
from hindbrain.services.gateway import Gateway
from hindbrain.stores.port import BrainStore, MegramFilter

__all__ = ["ExperienceErasure", "ended"]

_WORD = re.compile(r"[^\W_]{3,}")


class ExperienceErasure:
    """What `forget` and `reject` do to experience."""

    def __init__(self, gateway: Gateway, clock: Callable[[], int]) -> None:
        self._gateway = gateway
        self._clock = clock

    def withdraw(self, caller: Caller, opened: OpenBrain, texts: Iterable[str], prints: Collection[str]) -> int:
        """Delete the megrams that hold a value, and the messages of finished tasks that do. How many megrams there were."""
        salt, marks = self._gateway.salt(opened), frozenset(prints)
        words = [hint for text in texts if (hint := _hint(text))]
        if not words or not opened.store.level_counts():
            return 0
        hit = [
            one.megram
            for one in opened.store.effective(MegramFilter(settled=True))
            if any(word in one.megram.content.casefold() for word in words)
            and any(mark in marks for mark, _, _ in traces_of(one.megram.content, salt))
        ]
        if not hit:
            return 0
        tasks = [task for task in {one.task_id for one in hit if one.task_id} if ended(opened.store, task)]
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
        return gone


def ended(store: BrainStore, task_id: str) -> bool:
    """Whether a task said its last word: what still runs keeps its messages."""
    after = 0
    while page := store.messages(after=after, task_id=task_id):
        if any(one.type == MessageType.FINAL_RESULT.value for one in page):
            return True
        after = page[-1].seq
    return False


def _hint(text: str) -> str:
    """The longest word of a value: a text without it does not hold the value, and is not looked at closer."""
    return max(_WORD.findall(text.casefold()), key=len, default="")
