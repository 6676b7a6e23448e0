"""The experience part of the port: megrams, what befell them, and the messages of the control loop."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from hindbrain.domain.experience import Effective, Megram, MegramEvent, MegramId, Pair

__all__ = ["ExperienceReading", "ExperienceWriting", "MegramFilter", "PairSums", "Stake", "StoredMessage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """One message of the control loop as it is kept. `seq` is its entry in the ledger, `body` its whole text as JSON."""

    seq: int
    id: str
    at: int
    sender: str
    recipient: str
    type: str
    task_id: str | None
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MegramFilter:
    """Which megrams are asked for. None asks for nothing. Consolidated and superseded ones only when asked for."""

    pair: Pair | None = None
    space: str | None = None
    levels: tuple[str, ...] | None = None
    writer: str | None = None
    task_id: str | None = None
    settled: bool = False  # also those that a rule carries now


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSums:
    """Both channels of a pair at a time, unrounded, and how many megrams count in them."""

    attention: float
    decision: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stake:
    """What a pair that waits for the Dreamer may come to: both sums of its episodes and task knowledge, unrounded; whether some
    of what points somewhere fades faster than the rest; whether it has rules, and megrams of a named category."""

    pair: Pair
    attention: float
    decision: float
    uneven: bool
    rules: bool
    categorised: bool


class ExperienceWriting(Protocol):
    """The part of a transaction that keeps experience and messages."""

    def put_megram(self, megram: Megram) -> bool:
        """Keep an experience with its tags; False when its id is there already (then nothing changes)."""
        ...

    def put_megram_event(self, event: MegramEvent) -> MegramEvent:
        """Tell what befell a megram; the event with its number. What counts now follows from it in the same transaction.
        UnknownMegram when it is not there. `forgotten` is told only of one that is not there: InvalidParams otherwise."""
        ...

    def carry_megrams(self, ids: Sequence[MegramId], *, into: MegramId, at: int, detail: str = "{}") -> None:
        """Tell of all these at once that a rule carries them from now on. UnknownMegram when one is not there."""
        ...

    def recall_megrams(self, ids: Sequence[MegramId], *, at: int) -> None:
        """Note that these were used: their age begins anew. Pairs whose sums change by that are unsettled again."""
        ...

    def restore_recall(self, megram_id: MegramId, *, last_recalled_at: int, recalls: int) -> None:
        """Put back how often and when one was used, as an export tells it."""
        ...

    def forget_megrams(self, ids: Sequence[MegramId], *, at: int) -> int:
        """Delete these for good, with tags and recall; each leaves a `forgotten` event with pair, state and digest. How many
        there were. Pairs that lost one are unsettled again."""
        ...

    def rebuild_clocks(self) -> int:
        """Make what counts now from megrams and events again; recall stays. How many megrams counted otherwise."""
        ...

    def settle_pairs(self, pairs: Sequence[Pair], *, watch: Sequence[Pair] = ()) -> None:
        """The Dreamer has looked at these pairs; those in `watch` it wants to see again though nothing new comes."""
        ...

    def put_message(self, message: StoredMessage) -> None:
        """Keep the text of a message under the ledger entry that records it. InvalidParams when its id or entry has one."""
        ...

    def erase_messages(self, task_ids: Sequence[str]) -> int:
        """Delete the texts of these tasks' messages for good; the ledger entries stay."""
        ...


class ExperienceReading(Protocol):
    """The reads of experience and messages."""

    def potentials(self, pair: Pair, *, at: int) -> PairSums:
        """The sums over M, K and C megrams of a pair that are live: neither carried by a rule nor superseded. Age is never
        negative."""
        ...

    def space_potentials(self, space: str, *, at: int) -> PairSums:
        """The same over all entities of a space."""
        ...

    def effective(self, where: MegramFilter | None = None, *, limit: int | None = None) -> Iterator[Effective]:
        """Megrams as they count now, newest first. Streams."""
        ...

    def megrams(self, ids: Sequence[MegramId]) -> dict[MegramId, Effective]:
        """Megrams by id, settled ones too."""
        ...

    def megrams_like(self, prefix: str, *, limit: int) -> tuple[MegramId, ...]:
        """Ids that begin so, in order."""
        ...

    def megrams_tagged(self, tags: Sequence[str], *, limit: int) -> tuple[Effective, ...]:
        """Live megrams with any of these tags: those with most of them first, then the newest."""
        ...

    def megram_events(self, megram_id: MegramId | None = None, *, after: int = 0, limit: int = 1000) -> tuple[MegramEvent, ...]:
        """What befell a megram, or all, in order."""
        ...

    def pairs(self) -> Iterator[Pair]:
        """Every pair with a live megram, by name."""
        ...

    def unsettled_pairs(self, *, limit: int, after: Pair | None = None) -> tuple[Pair, ...]:
        """Pairs that got a megram since the Dreamer looked at them last, and those it watches; by name, `after` this one."""
        ...

    def stakes(self, *, at: int, limit: int, after: Pair | None = None) -> tuple[Stake, ...]:
        """The same pairs with what is at stake in each, so that most need not be read."""
        ...

    def faded(self, *, at: int, limit: int) -> tuple[MegramId, ...]:
        """Live M and K megrams of the pairs whose M and K megrams together have fallen below the floor at this time, the weakest
        first. Looks only at pairs with a megram that is below the floor by itself."""
        ...

    def spent(self, *, before: int, limit: int) -> tuple[MegramId, ...]:
        """Megrams that a rule has carried since before this time, the earliest first."""
        ...

    def level_counts(self) -> dict[str, int]:
        """effective level -> live megrams, for levels that have any."""
        ...

    def dreaming(self) -> AbstractContextManager[bool]:
        """Held by the one Dreamer of this store; False when another has it, in whichever process."""
        ...

    def messages(
        self, *, after: int = 0, limit: int = 1000, task_id: str | None = None, recipient: str | None = None
    ) -> tuple[StoredMessage, ...]:
        """Messages in order."""
        ...

    def tasks(self, *, limit: int) -> tuple[str, ...]:
        """Ids of tasks that have messages, the latest begun first."""
        ...
