"""Fates: what became of each letter, read from who answered it. Nothing stores a fate, so none can disagree with the letters."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from hindbrain.domain.letter import Letter, Links

__all__ = ["OPEN", "SYMBOLS", "Fate", "Replies", "counted", "open_among", "replies"]


class Fate(StrEnum):
    """The four states of a letter."""

    WET_INK = "wet_ink"  # nobody answered
    IN_FLIGHT = "in_flight"  # answered, but by nothing that closes
    FIRED_CLAY = "fired_clay"  # closed, for good
    EXTERNAL = "external"  # about a tool that is not ours


OPEN = frozenset({Fate.WET_INK, Fate.IN_FLIGHT})
SYMBOLS: Mapping[Fate, str] = {Fate.WET_INK: "●", Fate.IN_FLIGHT: "◍", Fate.FIRED_CLAY: "↳", Fate.EXTERNAL: "◌"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Replies:
    """The reply graph over all letters that are known."""

    letters: Mapping[str, Letter] = field(default_factory=dict)
    to: Mapping[str, tuple[Letter, ...]] = field(default_factory=dict)  # letter -> those that answer it
    closed: frozenset[str] = frozenset()  # letters that a closing letter answers
    asks_nothing: frozenset[str] = frozenset()  # closing letters that answer something
    unresolved: tuple[dict[str, str], ...] = ()  # references that lead to no letter
    foreign_tools: tuple[str, ...] = ()

    def fate(self, letter: Letter) -> Fate:
        """The first rule that holds."""
        tool = (letter.tool or "").lower()
        if letter.external or any(name in tool for name in self.foreign_tools):
            return Fate.EXTERNAL
        if letter.id in self.closed or letter.id in self.asks_nothing:
            return Fate.FIRED_CLAY
        return Fate.IN_FLIGHT if letter.id in self.to else Fate.WET_INK

    def answered_by(self, letter: Letter) -> tuple[Letter, ...]:
        return self.to.get(letter.id, ())


def replies(letters: Iterable[Letter], links: Links, *, foreign_tools: Iterable[str] = ()) -> Replies:
    """Who answers whom. A letter that is found in several places counts once."""
    known: dict[str, Letter] = {letter.id: letter for letter in letters}
    to: dict[str, dict[str, Letter]] = {}
    closed: set[str] = set()
    asks_nothing: set[str] = set()
    lost: list[dict[str, str]] = []
    for letter in known.values():
        meant = dict.fromkeys((*letter.answers, *links.answers.get(letter.id, ())))
        if meant and letter.closes:
            asks_nothing.add(letter.id)
        for one in meant:
            if one not in known:
                lost.append({"id": letter.id, "ref": one})
                continue
            to.setdefault(one, {})[letter.id] = letter
            if letter.closes:
                closed.add(one)
        lost += [{"id": letter.id, "ref": ref} for ref in links.unresolved.get(letter.id, ())]
    return Replies(
        letters=known,
        to={target: tuple(found.values()) for target, found in to.items()},
        closed=frozenset(closed),
        asks_nothing=frozenset(asks_nothing),
        unresolved=tuple(lost),
        foreign_tools=tuple(name.lower() for name in foreign_tools if name.strip()),
    )


def counted(letters: Iterable[Letter], graph: Replies) -> dict[str, int]:
    """How many letters have each fate."""
    found: dict[str, int] = {fate.value: 0 for fate in Fate}
    for letter in letters:
        found[graph.fate(letter).value] += 1
    return found


def open_among(counts: Mapping[str, Any]) -> int:
    """How many still wait for an answer that closes them."""
    return sum(counts[fate.value] for fate in OPEN)
