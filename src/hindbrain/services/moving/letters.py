"""Letters that move in: each goes into the spool as the bytes it was, once. Which box it belongs to is decided there, as for any
letter; what old letters answered by line number is kept beside it, for here those lines have other numbers."""

from hindbrain.domain.errors import HygieneRefused, InvalidParams
from hindbrain.domain.letter import LetterId, Links
from hindbrain.domain.moving import Item
from hindbrain.engines.letters import parsed, secret_in
from hindbrain.services.mailbox.spool import Spool

__all__ = ["LetterTaking"]


class LetterTaking:
    """Fills the spool of this home. Made anew for every import: it remembers what the spool held when it began."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._known: set[LetterId] | None = None
        self._waiting: list[bytes] = []
        self._links: dict[LetterId, tuple[str, ...]] = {}

    def take(self, item: Item) -> bool:
        """True when it is new here, False when the spool has it."""
        letter = parsed(item.raw)
        if letter is None:
            raise InvalidParams("the line is no letter", fix="leave it where it is")
        if (secret := secret_in(letter)) is not None:
            raise HygieneRefused(f"the letter holds what looks like a secret ({secret})", fix="rotate it; leave the letter there")
        if self._known is None:
            self._known = {one.id for one in self._spool.read().letters}
        if item.refs:
            self._links[letter.id] = item.refs
        if letter.id in self._known:
            return False
        self._known.add(letter.id)
        self._waiting.append(item.raw)
        return True

    def settle(self) -> None:
        """Write what was taken. The links come first: a letter in the spool without them would be linked by its number there."""
        waiting, self._waiting = self._waiting, []
        links, self._links = self._links, {}
        if waiting:
            self._spool.link_legacy()
            held = {name: tuple(map(LetterId, refs)) for name, refs in _answers(links, lost=False).items()}
            self._spool.link(Links(answers=held, unresolved=_answers(links, lost=True)))
            self._spool.take(waiting)


def _answers(links: dict[LetterId, tuple[str, ...]], *, lost: bool) -> dict[LetterId, tuple[str, ...]]:
    """What each letter answers: ids of letters, or the words that led to none (`L99`; an id has no capital letter)."""
    made = {name: tuple(ref for ref in refs if ref.startswith("L") is lost) for name, refs in links.items()}
    return {name: refs for name, refs in made.items() if refs}
