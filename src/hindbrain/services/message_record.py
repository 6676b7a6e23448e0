"""The record of messages: what the ledger says was said in the control loop, held against what the brain keeps of it. A text that
was erased is no break; one that was changed, or that no entry records, is. Changes nothing."""

from collections.abc import Iterator

from hindbrain.domain.ledger import Break, Entry
from hindbrain.domain.stored import stored_json
from hindbrain.services.gateway import recorded
from hindbrain.stores.port import BrainStore, StoredMessage

__all__ = ["MessageRecord"]

_ACT = "control.message"
_PAGE = 1_000
_BEFORE_ALL = -(2**62)  # what was put in below the first entry must be seen too


class MessageRecord:
    """`see` takes the entries one by one, in order, `breaks` says where the two differ. Holds one page of messages at a time.

    Made after the head is read: messages up to it have their entry, later ones are looked at by themselves."""

    def __init__(self, store: BrainStore, until: int) -> None:
        self._store = store
        self._salt = store.meta("salt") or ""
        self._until = until
        self._messages = self._each(_BEFORE_ALL)
        self._next = next(self._messages, None)
        self._found: list[Break] = []

    def _each(self, after: int) -> Iterator[StoredMessage]:
        while page := self._store.messages(after=after, limit=_PAGE):
            yield from page
            after = page[-1].seq

    def see(self, entry: Entry) -> None:
        while self._next is not None and self._next.seq < entry.seq:
            self._unrecorded(self._next)
            self._next = next(self._messages, None)
        if self._next is not None and self._next.seq == entry.seq:
            if not self._says(entry, self._next):
                self._found.append(Break(seq=entry.seq, reason=f"message {self._next.id} is not the one it recorded"))
            self._next = next(self._messages, None)

    def _says(self, entry: Entry, message: StoredMessage) -> bool:
        try:
            payload = stored_json(entry.payload, "ledger")
        except ValueError:
            return False
        kept = {
            "id": message.id,
            "type": message.type,
            "from": message.sender,
            "to": message.recipient,
            "digest": recorded(self._salt, message.body),
        }
        frame = (entry.act, entry.subject, entry.at) == (_ACT, f"task:{message.task_id or '-'}", message.at)
        return frame and isinstance(payload, dict) and kept.items() <= payload.items()

    def _unrecorded(self, message: StoredMessage) -> None:
        self._found.append(Break(seq=message.seq, reason=f"the entry that recorded message {message.id} is missing"))

    def breaks(self) -> list[Break]:
        """To be asked after the last entry was seen."""
        while self._next is not None and self._next.seq <= self._until:
            self._unrecorded(self._next)
            self._next = next(self._messages, None)
        # One that came while we read moved the head with it; one that was put in by hand did not.
        for message in self._each(max(self._until, self._store.head()[0])):
            if message.seq > self._store.head()[0]:
                self._unrecorded(message)
        return self._found
