"""R5 on the bus: answers what a planner asks, as data. It words nothing, and only its paths decide who may ask."""

from typing import Protocol

from hindbrain.domain.errors import BoundaryViolation, HindbrainError
from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.notes import MemoryQuery, MemoryResponse, PotentialsNote
from hindbrain.services.control.ports import Heard, Voice

__all__ = ["EVERY_ENTITY", "Memory", "Reader"]

EVERY_ENTITY = ""  # of a question about a whole space


class Reader(Protocol):
    """What answers: `services.experience`, or anything that gives the same data."""

    def answer(self, query: MemoryQuery, *, by: Role) -> MemoryResponse:
        """What a question asks for; nothing found is no error."""
        ...

    def query_space(self, space: str, *, by: Role) -> PotentialsNote:
        """Potentials over all entities of a space."""
        ...


class Memory:
    """The memory role of one brain."""

    hears = frozenset({MessageType.MEMORY_QUERY})

    def __init__(self, voice: Voice, *, reader: Reader) -> None:
        if voice is None:
            raise BoundaryViolation("a memory without a voice", fix="Build the bus first, then the roles.")
        self._voice = voice
        self._reader = reader

    def hear(self, heard: Heard) -> None:
        """Answer, under the correlation of the question. What goes wrong is said, so that nobody waits for it."""
        query = heard.record
        if not isinstance(query, MemoryQuery):
            return
        self._voice.say(
            heard.message.sender,
            self._answer(query, heard.message.sender),
            task_id=heard.message.task_id,
            because=heard,
            correlation=heard.message.correlation_id,
        )

    def _answer(self, query: MemoryQuery, by: Role) -> MemoryResponse:
        try:
            if query.kind == "MK" and query.entity == EVERY_ENTITY:
                return MemoryResponse(query_id=query.query_id, potentials=self._reader.query_space(query.space, by=by))
            return self._reader.answer(query, by=by)
        except (HindbrainError, OSError, TimeoutError) as failure:
            return MemoryResponse(query_id=query.query_id, error=f"{type(failure).__name__}: {failure}"[:300])
