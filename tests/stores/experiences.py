"""Values for tests of experience in a store, and the shortest way to write and read them."""

from typing import Any

from hindbrain.domain.experience import Action, Effective, EventKind, Megram, MegramEvent, MegramId, Pair, Writer
from hindbrain.engines.potentials import settled
from hindbrain.policy.experience import quantized
from hindbrain.stores.port import BrainStore, StoredMessage
from tests.stores.values import act

__all__ = [
    "DAY",
    "NOW",
    "PAIR",
    "advice",
    "apart",
    "befall",
    "forget",
    "held",
    "ids",
    "keep",
    "megram",
    "rebuild",
    "recall",
    "say",
    "settle",
    "sums",
]

DAY = 86_400_000
NOW = 1_800_000_000_000
PAIR = Pair(space="tool:shell", entity="path:a.py")


def megram(name: str = "m1", state: str = "accept", *, days: float = 0.0, pair: Pair = PAIR, **more: Any) -> Megram:
    """A megram of a state that came about so many days ago."""
    numbers = {} if "f" in more else dict(zip(("f", "sigma", "k"), quantized(state), strict=True))
    values: dict[str, Any] = {
        "content": f"content of {name}",
        "created_at": NOW - round(days * DAY),
        "writer": Writer.SOLVER,
        "space": pair.space,
        "entity": pair.entity,
    }
    return Megram(id=MegramId(name), state=state, **(values | numbers | more))


def keep(store: BrainStore, *megrams: Megram) -> None:
    with store.writing() as writer:
        writer.append(act("experience.write", subject="experience"))
        for one in megrams:
            assert writer.put_megram(one)


def befall(store: BrainStore, name: str, kind: EventKind, *, at: int = NOW, **more: Any) -> MegramEvent:
    with store.writing() as writer:
        return writer.put_megram_event(MegramEvent(megram_id=MegramId(name), kind=kind, at=at, **more))


def recall(store: BrainStore, *names: str, at: int = NOW) -> None:
    with store.writing() as writer:
        writer.recall_megrams([MegramId(name) for name in names], at=at)


def forget(store: BrainStore, *names: str, at: int = NOW) -> int:
    with store.writing() as writer:
        return writer.forget_megrams([MegramId(name) for name in names], at=at)


def held(store: BrainStore, name: str = "m1") -> Effective:
    return store.megrams([MegramId(name)])[MegramId(name)]


def sums(store: BrainStore, *, at: int = NOW, pair: Pair = PAIR) -> tuple[float, float]:
    found = store.potentials(pair, at=at)
    return round(found.attention, 9), round(found.decision, 9)


def advice(store: BrainStore, *, at: int = NOW, pair: Pair = PAIR) -> Action:
    found = store.potentials(pair, at=at)
    return settled(found.attention, found.decision).action


def apart(number: int) -> tuple[Pair, ...]:
    """So many pairs, none of which is PAIR."""
    return tuple(Pair(space="intent:apart", entity=f"case:{one}") for one in range(number))


def ids(found: Any) -> list[str]:
    return [one.megram.id for one in found]


def settle(store: BrainStore, *pairs: Pair, watch: tuple[Pair, ...] = ()) -> None:
    with store.writing() as writer:
        writer.settle_pairs(pairs, watch=watch)


def rebuild(store: BrainStore) -> int:
    with store.writing() as writer:
        return writer.rebuild_clocks()


def say(store: BrainStore, name: str, task: str | None = "t1", to: str = "R2", body: str = "{}") -> StoredMessage:
    with store.writing() as writer:
        seq = writer.append(act("control.message", subject=f"task:{task}")).seq
        made = StoredMessage(seq=seq, id=name, at=NOW, sender="R1", recipient=to, type="TaskSpec", task_id=task, body=body)
        writer.put_message(made)
    return made
