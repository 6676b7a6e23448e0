"""Experience in tests: a brain with its Experience and Dreamer, a clock that stands, and megrams by the day."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hindbrain.domain.brain import BrainId
from hindbrain.domain.experience import Effective, Level, Megram, MegramId, Pair, Writer, fresh
from hindbrain.policy.experience import Rules, quantized
from hindbrain.services.control.ports import Mind
from hindbrain.services.experience.drafts import Draft
from hindbrain.services.experience.dreamer import Dreamer
from hindbrain.services.experience.experience import Experience
from hindbrain.services.experience.ports import Deposits, Direct
from hindbrain.stores.memory import MemoryStore
from hindbrain.stores.port import BrainStore, MegramFilter
from hindbrain.stores.sqlite import SqliteStore
from tests.support.world import DAY, START_MS, Clock

__all__ = ["PAIR", "Lab", "megram", "open_sqlite", "seen"]

PAIR = Pair(space="tool:glob", entity="path:src")
_NUMBERS: Iterator[int] = iter(range(10**9))


def megram(state: str = "accept", *, days: float = 0.0, pair: Pair = PAIR, **more: Any) -> Megram:
    """An experience of a state, so many days old at the start of time; numbers of its own when they are given."""
    f, sigma, k = (more.pop("f"), more.pop("sigma"), more.pop("k", 0.05)) if "f" in more else quantized(state)
    level = more.pop("level", Level.M)
    return Megram(
        id=MegramId(more.pop("id", str(uuid.UUID(int=next(_NUMBERS))))),
        space=pair.space,
        entity=pair.entity,
        content=more.pop("content", f"{state} happened"),
        state=state,
        f=f,
        sigma=sigma,
        k=0.0 if level in (Level.C, Level.T) else k,
        created_at=START_MS - round(days * DAY),
        writer=more.pop("writer", Writer.SOLVER),
        level=level,
        **more,
    )


def seen(state: str = "accept", **more: Any) -> Effective:
    """The same as it counts."""
    return fresh(megram(state, **more))


class Lab:
    """One brain with its experience."""

    def __init__(
        self,
        store: BrainStore | None = None,
        *,
        deposits: Callable[[BrainStore], Deposits] = Direct,
        rules: Rules | None = None,
        mind: Mind | None = None,
        **timing: float,
    ) -> None:
        self.clock = Clock()
        self.store = store or MemoryStore(BrainId("b-test"))
        self.notes: list[tuple[str, str]] = []
        self.experience = Experience(
            self.store,
            deposits(self.store),
            clock=self.clock,
            salt="salt",
            note=lambda kind, detail: self.notes.append((kind, detail)),
        )
        self.dreamer = Dreamer(self.store, self.experience.deposit, clock=self.clock, rules=rules, mind=lambda: mind, **timing)

    def put(self, *megrams: Megram) -> list[MegramId]:
        """Into the store as they are."""
        with self.store.writing() as writer:
            for one in megrams:
                assert self.experience.deposit(writer, one)
        return [one.id for one in megrams]

    def times(self, count: int, state: str, **more: Any) -> list[MegramId]:
        return self.put(*(megram(state, **more) for _ in range(count)))

    def held(self, id_: str) -> Effective:
        return self.store.megrams([MegramId(id_)])[MegramId(id_)]

    def rules(self, pair: Pair = PAIR) -> list[Effective]:
        return list(self.store.effective(MegramFilter(pair=pair, levels=("C",))))

    def all(self, pair: Pair = PAIR) -> list[Effective]:
        return list(self.store.effective(MegramFilter(pair=pair, settled=True)))

    def draft(self, state: str = "accept", **more: Any) -> Draft:
        given = {"space": PAIR.space, "entity": PAIR.entity, "content": f"{state} happened", **more}
        return Draft(state=state, **given)


def open_sqlite(place: Path) -> SqliteStore:
    """A brain in a file."""
    return SqliteStore(place / "brain", BrainId("b-test"))
