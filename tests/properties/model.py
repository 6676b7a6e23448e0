"""The reference model of the no-leak machine: what five brains and the medulla must know, in a few dictionaries."""

from dataclasses import dataclass, field, replace

__all__ = ["MEDULLA", "Belief", "Model", "Store"]

MEDULLA = "medulla"


@dataclass(frozen=True, kw_only=True)
class Belief:
    """One version of one label: what it says, how firmly, and where it was born."""

    text: str
    rank: int = 1
    confidence: float = -1.0
    origin: str | None = None
    origin_claim: str | None = None
    arrived: bool = False  # by file: what it states of itself is kept, and counts as unchecked

    @property
    def counted(self) -> "Belief":
        """The same as far as it counts: what arrived by file is as firm as an unchecked claim with half certainty at most."""
        return replace(self, rank=min(self.rank, 1), confidence=min(self.confidence, 0.5)) if self.arrived else self

    def holds_against(self, live: "Belief | None") -> bool:
        mine, theirs = self.counted, live.counted if live is not None else None
        return theirs is None or (mine.rank >= theirs.rank and mine.confidence >= theirs.confidence)


@dataclass
class Store:
    """One brain: the live belief of each label, every version ever acknowledged, keys, and what must not come back."""

    live: dict[str, Belief] = field(default_factory=dict)
    versions: dict[str, list[Belief]] = field(default_factory=dict)  # oldest first
    keys: dict[str, str] = field(default_factory=dict)
    buried: set[str] = field(default_factory=set)
    demoted: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)  # live, and not served here: the file holds a text that was refused

    def put(self, slug: str, belief: Belief) -> None:
        if slug not in self.live or self.live[slug].text != belief.text:
            self.demoted.discard(slug)  # a grade is about a text
        self.live[slug] = belief
        self.hidden.discard(slug)
        self.versions.setdefault(slug, []).append(belief)

    def end(self, slug: str) -> None:
        self.live.pop(slug, None)
        self.hidden.discard(slug)
        self.demoted.discard(slug)

    def visible(self) -> dict[str, str]:
        return {slug: one.text for slug, one in self.live.items() if slug not in self.demoted | self.hidden}


class Model:
    """All stores by name: the root of a brain, or `medulla`."""

    def __init__(self, roots: list[str]) -> None:
        self.stores = {name: Store() for name in (*roots, MEDULLA)}
        self.past: list[tuple[int, dict[str, dict[str, Belief]]]] = []

    def accepts(self, name: str, slug: str, belief: Belief) -> str | None:
        """Why a gated write is turned away, or None when it becomes live."""
        store = self.stores[name]
        if belief.text in store.buried:
            return "rejected_value"
        return None if belief.holds_against(store.live.get(slug)) else "would_downgrade"

    def promote(self, name: str, slug: str) -> str | None:
        """Why a promotion is turned away, or None when the copy is live and its witness stamped."""
        source, medulla = self.stores[name], self.stores[MEDULLA]
        original = source.live.get(slug)
        if original is None or slug in source.hidden:
            return "unknown_claim"
        if original.text in medulla.buried | source.buried:
            return "rejected_value"
        copy = replace(original.counted, arrived=False, origin=original.origin or name, origin_claim=f"{name}#{slug}")
        if not copy.holds_against(medulla.live.get(slug)):
            return "would_downgrade"
        medulla.put(slug, copy)
        medulla.demoted.discard(slug)
        source.put(slug, original)
        return None

    def forget(self, name: str, slug: str) -> set[str]:
        """Erase a label where it was asked, and elsewhere what came from there; returns the stores that were reached."""
        home = self.stores[name]
        values = {one.text for one in home.versions.pop(slug)}
        home.end(slug)
        home.buried |= values
        reached = {name}
        for other, store in self.stores.items():
            if other == name or slug not in store.versions:
                continue
            kept = [one for one in store.versions[slug] if not self._came_from(one, name, slug)]
            if len(kept) == len(store.versions[slug]):
                continue
            store.buried |= values | {one.text for one in store.versions[slug] if one not in kept}
            if slug in store.live and self._came_from(store.live[slug], name, slug):
                store.end(slug)
            store.versions[slug] = kept
            if not kept:
                del store.versions[slug]
            reached.add(other)
        for _, then in self.past:
            for other, known in then.items():
                if slug in known and (other == name or self._came_from(known[slug], name, slug)):
                    del known[slug]
        return reached

    @staticmethod
    def _came_from(belief: Belief, name: str, slug: str) -> bool:
        return belief.origin == name or belief.origin_claim == f"{name}#{slug}"

    def remember(self, at: int) -> None:
        self.past.append((at, {name: dict(store.live) for name, store in self.stores.items()}))
